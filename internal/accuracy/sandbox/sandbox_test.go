package sandbox_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/accuracy/task"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Child(os.Args[2:]))
	}
	os.Setenv("AIPERF_TEST_SECRET", "x")
	// What whoever starts aiperf leaves open: a folder is a way out.
	if err := leaveOpen("/etc"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func box(t *testing.T) *sandbox.Box {
	t.Helper()
	b, err := sandbox.New(t.Context(), 5*time.Minute)
	if err != nil {
		t.Skipf("this system has no sandbox: %v", err)
	}
	t.Cleanup(b.Close)
	return b
}

// escapes are ways out of the sandbox. Each prints OUT where it gets out.
func escapes(secret string) map[string]string {
	const syscall = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
	try := func(code string) string {
		return "import os, sys\ntry:\n  " + strings.ReplaceAll(code, "\n", "\n  ") + "\n  print('OUT')\nexcept BaseException as e:\n  print(type(e).__name__)\n"
	}
	list := map[string]string{
		"a file of the machine":        try("open('/etc/passwd').read()"),
		"a file by its name":           try("open('" + secret + "').read()"),
		"a file through the parent":    try("open('../../../../../.." + secret + "').read()"),
		"a symbolic link":              try("os.symlink('" + secret + "', '/tmp/l')\nopen('/tmp/l').read()"),
		"other folders":                try("assert [p for p in ('/home', '/var', '/mnt', '/opt', '/srv', '/boot') if os.path.exists(p)]"),
		"processes":                    try("os.listdir('/proc')"),
		"the environment of processes": try("open('/proc/1/environ').read()"),
		"the kernel's settings":        try("os.listdir('/sys')"),
		"the old root":                 try("os.listdir('/old')"),
		"a file of the root":           try("open('/x', 'w').write('x')"),
		"a file of a library":          try("open(os.__file__, 'a').write('x')"),
		"a new mode for a library":     try("os.chmod(os.__file__, 0o777)"),
		"a device":                     try("os.mknod('/tmp/d', 0o60666, os.makedev(8, 0))\nopen('/tmp/d', 'rb').read(1)"),
		"another user":                 try("os.setuid(12345)"),
		"a mount":                      syscall + try("assert libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0) == 0"),
		"the first process":            try("os.kill(os.getppid() or 99999, 0)"),
		"all processes":                try("[os.kill(p, 9) for p in range(2, 3000)]"),
		"a namespace":                  syscall + try("assert libc.unshare(0x10000000) == 0"),
		"chroot":                       try("os.chroot('/tmp')"),
		"tracing":                      syscall + try("assert libc.ptrace(0, 0, 0, 0) == 0"),
		"network":                      try("import socket\nsocket.create_connection(('127.0.0.1', 22), 1)"),
		"a socket":                     try("import socket\nsocket.socket()"),
		"a socket of the machine":      try("import socket\nsocket.socket(socket.AF_UNIX)"),
		"the kernel's socket":          try("import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
		"a new process":                try("assert os.fork() >= 0"),
		"a program":                    try("import subprocess\nsubprocess.run(['/bin/sh', '-c', 'true'], check=True)"),
		"another program":              try("os.execv('/bin/sh', ['sh'])"),
		"a spawned program":            try("os.posix_spawn(sys.executable, ['python3', '-c', ''], {})"),
		"a fork bomb":                  try("while True: os.fork()"),
		"a thread bomb":                try("import threading, time\nfor i in range(5000): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()"),
		"memory":                       try("x = bytearray(3 << 30)"),
		"memory by and by":             try("x = []\nwhile True: x.append(bytearray(1 << 24))"),
		"a large file":                 try("f = open('/tmp/x', 'wb')\nfor i in range(200): f.write(bytes(1 << 20))\nf.flush()"),
		"many files":                   try("for i in range(10000): open('/tmp/%d' % i, 'w').close()"),
		"many open files":              try("x = [open('/dev/null') for i in range(1000)]"),
		"higher limits":                try("import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))"),
		"a descriptor that is open":    try("os.read(3, 1)"),
		"a program in memory":          try("os.memfd_create('x')"),
		"a program in the folder":      try("open('/tmp/p', 'w').write('#!/tmp/p')\nos.chmod('/tmp/p', 0o755)\nos.execv('/tmp/p', ['p'])"),
		"a folder that was left open":  try("fd = [f for f in range(3, 2000) if is_open(f)][0]\nos.open('passwd', os.O_RDONLY, dir_fd=fd)"),
		"a descriptor that was left":   try("assert [f for f in range(3, 2000) if is_open(f)]"),
		"its end with the run":         syscall + try("assert libc.prctl(1, 0, 0, 0, 0) == 0"),
		"another end with the run":     syscall + try("assert libc.prctl(1, 15, 0, 0, 0) == 0"),
		"more threads than it may":     try("import _thread, time\n_thread.stack_size(32768)\nfor i in range(100): _thread.start_new_thread(time.sleep, (3,))"),
		"the first user":               try("os.setresuid(0, 0, 0)\nopen('/new', 'w')"),
		"all capabilities":             syscall + try("assert libc.prctl(24, 21, 0, 0, 0) == 0 and libc.prctl(23, 21, 0, 0, 0) == 1"),
		"new privileges":               syscall + try("assert libc.prctl(39, 0, 0, 0, 0) == 0"),
		"a writable root":              syscall + try("assert libc.mount(None, b'/', None, 4096 | 32, None) == 0"),
		"a hard link to a library":     try("os.link(os.__file__, '/tmp/os.py')\nopen('/tmp/os.py', 'a').write('x')"),
		"a file by its handle":         syscall + try("assert libc.open_by_handle_at(-100, b'x' * 16, 0) >= 0"),
		"the memory of the machine":    try("open('/dev/mem', 'rb').read(1)"),
		"a terminal":                   try("open('/dev/tty', 'w').write('x')"),
		"a pseudo-terminal":            try("os.openpty()"),
		"shared memory":                try("open('/dev/shm/x', 'w').write('x')"),
		"a queue of messages":          syscall + try("assert libc.msgget(0, 0o1600) >= 0"),
		"a priority":                   try("os.nice(-5)"),
		"the clock":                    try("import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)"),
		"the name of the domain":       syscall + try("assert libc.setdomainname(b'x', 1) == 0"),
		"io_uring":                     syscall + try("assert libc.syscall(425, 8, b'\\0' * 120) >= 0"),
		"a signal to all":              try("os.kill(-1, 9)"),
		"the environment":              try("assert 'AIPERF_TEST_SECRET' in os.environ"),
		"the name of the machine":      try("assert os.uname().nodename != 'sandbox'"),
	}
	const isOpen = "def is_open(f):\n  import os\n  try: os.fstat(f)\n  except OSError: return False\n  return True\n"
	for name, program := range list {
		list[name] = isOpen + program
	}
	return list
}

func TestNothingLeavesTheSandbox(t *testing.T) {
	t.Parallel()
	b := box(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, program := range escapes(secret) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := b.Run(t.Context(), program, "")
			if strings.Contains(r.Out, "OUT") {
				t.Errorf("it got out: %q %q", r.Out, r.Errors)
			}
			if r.Out == "" && r.Err == nil {
				t.Errorf("the program did not run: %+v", r)
			}
		})
	}
}

func TestTrapProgramsEndInTime(t *testing.T) {
	t.Parallel()
	b := box(t)
	b.TestTime = time.Second // a program that has not started by then is ended as well
	for name, program := range map[string]string{
		"a loop": "while True: pass", "a wait": "import time\ntime.sleep(100)",
		"no signals":  "import signal, time\n[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 15)]\ntime.sleep(100)",
		"much output": "while True: print('x' * 10000)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := b.Run(t.Context(), program, ""); r.Err == nil {
				t.Errorf("%d bytes", len(r.Out))
			}
		})
	}
}

func TestAFloodIsNoTimeout(t *testing.T) {
	t.Parallel()
	b := box(t)
	b.TestTime = time.Minute
	r := b.Run(t.Context(), "while True: print('x' * 100000)", "")
	if r.Late || r.Err == nil || r.Err.Error() != "it printed too much" {
		t.Errorf("late %v, %v", r.Late, r.Err)
	}
}

func gold(t *testing.T, c task.Code) string {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pickled packs a text as the data set has it.
func pickled(t *testing.T, text string) string {
	t.Helper()
	p := append([]byte{0x80, 4, 0x95, 0, 0, 0, 0, 0, 0, 0, 0, 'X', byte(len(text)), byte(len(text) >> 8), 0, 0}, text...)
	return packed(t, append(p, 0x94, '.'))
}

// packed packs any pickle as the data set has it.
func packed(t *testing.T, pickle []byte) string {
	t.Helper()
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(pickle); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return base64.StdEncoding.EncodeToString(z.Bytes())
}

func TestProgramsAreGraded(t *testing.T) {
	t.Parallel()
	b := box(t)
	io := task.Code{PublicTestCases: `[{"input":"1 2\n","output":"3\n","testtype":"stdin"}]`,
		PrivateTestCases: pickled(t, `[{"input":"10 20","output":" 30 ","testtype":"stdin"}]`), Metadata: "{}"}
	call := task.Code{PublicTestCases: `[{"input":"[1, 2, 3]\n2","output":"[2, 4, 6]","testtype":"functional"}]`,
		StarterCode: "class Solution:\n    def scale(self, list: List[int], by: int) -> List[int]:\n",
		Metadata:    `{"func_name": "scale"}`}
	const add = "a, b = map(int, input().split())\nprint(a + b)\n"
	for _, c := range []struct {
		name, answer      string
		of                task.Code
		correct, unparsed bool
		reason            string
	}{
		{"right", "Here:\n```python\n" + add + "```\n", io, true, false, "all tests passed"},
		{"the last fence counts", "```python\nprint(1)\n```\nNo:\n```python\n" + add + "```", io, true, false, "all"},
		{"no fence", add, io, true, true, "no Python fence"},
		{"an open fence", "```python\n" + add, io, true, false, "all"},
		{"wrong", "```python\nprint(3)\n```", io, false, false, "test 2 of 2 failed: another output"},
		{"an error", "```python\n1 / 0\n```", io, false, false, "ZeroDivisionError"},
		{"not a program", "I do not know.", io, false, true, "test 1 of 2 failed"},
		{"nothing", "", io, false, true, "no program"},
		{"a method", "```python\nclass Solution:\n    def scale(self, list: List[int], by: int) -> List[int]:\n" +
			"        print('noise')\n        return [x * by for x in list]\n```", call, true, false, "all"},
		{"a function", "```python\ndef scale(list, by):\n    return tuple(x * by for x in list)\n```", call, true, false, "all"},
		{"another function", "```python\ndef other(): pass\n```", call, false, false, "KeyError"},
		{"no tests", "```python\n" + add + "```", task.Code{}, false, false, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := b.Grade(c.answer, gold(t, c.of))
			if v.Correct != c.correct || v.Unparsed != c.unparsed || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestPicklesHoldStringsOnly(t *testing.T) {
	if text, err := sandbox.Unpack(pickled(t, "hello")); err != nil || text != "hello" {
		t.Errorf("%q, %v", text, err)
	}
	for name, p := range map[string]string{
		"a call": "cos\nsystem\n(S'true'\ntR.", "a global": "\x80\x04\x8c\x05posix\x8c\x06system\x93.", "empty": "", "no end": "\x80\x04",
		"two strings": "\x8c\x01a\x8c\x01b.", "too short": "\x8c\xffa.", "a number": "\x80\x04K\x01.",
	} {
		text, err := sandbox.Unpack(packed(t, []byte(p)))
		if err == nil || err.Error() != "the pickle holds something else than a string" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestOutputsAreCompared(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1\n2\n", " 1 \n2", true}, {"0.3333333333", "0.33333333334", true}, {"1", "1.0", true}, {"1 2", "1  2", true},
		{"5.0", "inf", false}, {"1e3", "-inf", false}, {"inf", "5.0", false}, {"1e400", "inf", false}, {"inf", "inf", true},
		{"-inf", "inf", false}, {"nan", "1.0", false}, {"1\n2", "1", false}, {"a", "b", false}, {"100000000", "100000001", false}, {"", "", true},
	} {
		if got := sandbox.SameLines(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %v", c.a, c.b, got)
		}
	}
}

func FuzzPickle(f *testing.F) {
	f.Add([]byte("\x80\x04\x8c\x05hello\x94."))
	f.Fuzz(func(t *testing.T, p []byte) { _, _ = sandbox.Unpack(packed(t, p)) })
}

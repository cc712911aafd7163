//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The limits of a program.
const (
	maxMemory  = 1 << 30
	maxFile    = 16 << 20
	maxFiles   = 64
	maxThreads = 64
	maxStack   = 256 << 20
	maxCPU     = 8 // seconds
	tempSize   = "size=64m,nr_inodes=4096,mode=0777"
)

// exitSetUp is the exit code of a sandbox that could not be made.
const exitSetUp = 125

// Child makes the inside of the sandbox and becomes the program. It returns only if that fails.
func Child([]string) int {
	runtime.LockOSThread() // capabilities and filters belong to a thread
	// A collection would start threads, whose stacks do not fit once the memory is limited.
	debug.SetGCPercent(-1)
	fmt.Fprintln(os.Stderr, "the sandbox could not be made:", enter())
	return exitSetUp
}

// enter returns only if it fails.
func enter() error {
	text, err := io.ReadAll(io.LimitReader(os.NewFile(3, "order"), 256<<20))
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	if err := closeOnExec(); err != nil {
		return err
	}
	if err := files(&o); err != nil {
		return err
	}
	_ = unix.Sethostname([]byte("sandbox"))
	if o.Mapped {
		if err := unprivileged(); err != nil {
			return err
		}
	}
	if err := surrender(); err != nil {
		return err
	}
	args := []string{"python3", "-I", "-B", "-X", "utf8", "/tmp/solution.py"}
	env := []string{"PATH=/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8", "PYTHONHASHSEED=0"}
	return become(o.Python.Program, args, env)
}

// closeOnExec leaves the program the three descriptors that it is given. Others may come from whoever started aiperf: a
// lock, a job server, a folder of a terminal; an open folder is a way out.
func closeOnExec() error {
	const first, most = 3, 1 << 20
	err := unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// A kernel before 5.11 has no such call: no descriptor is beyond the limit that it had when it was opened.
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return step("descriptors", err)
	}
	for fd := first; fd < int(min(max(limit.Max, 1<<16), most)); fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}

// step is a part of the set-up with its name.
func step(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// files makes a file system that holds the interpreter with its libraries, which nobody can write, and an empty folder
// for temporary files.
func files(o *order) error {
	const plain = unix.MS_NOSUID | unix.MS_NODEV
	if err := step("mounts", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")); err != nil {
		return err
	}
	if err := step("root", unix.Mount("tmpfs", o.Root, "tmpfs", plain, "size=8m,nr_inodes=1024,mode=0755")); err != nil {
		return err
	}
	for _, place := range places(o) {
		if err := step(place, bind(o.Root, place)); err != nil {
			return err
		}
	}
	temp := filepath.Join(o.Root, "tmp")
	if err := os.Mkdir(temp, 0o777); err != nil {
		return err
	}
	if err := step("tmp", unix.Mount("tmpfs", temp, "tmpfs", plain|unix.MS_NOEXEC, tempSize)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temp, "solution.py"), []byte(o.Program), 0o644); err != nil {
		return err
	}
	old := filepath.Join(o.Root, "old")
	if err := os.Mkdir(old, 0o700); err != nil {
		return err
	}
	if err := step("pivot_root", unix.PivotRoot(o.Root, old)); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := step("old root", unix.Unmount("/old", unix.MNT_DETACH)); err != nil {
		return err
	}
	if err := os.Remove("/old"); err != nil {
		return err
	}
	if err := step("root", unix.Mount("", "/", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|plain, "")); err != nil {
		return err
	}
	return os.Chdir("/tmp")
}

// places are the files and folders that the interpreter needs.
func places(o *order) []string {
	list := []string{"/usr/lib", "/lib", "/lib64", "/lib32", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache",
		"/dev/null", "/dev/zero", "/dev/urandom"}
	within := func(dir string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") })
	}
	if o.Python.Prefix == "/usr" {
		list = append(list, "/usr/local/lib")
	} else if !within(o.Python.Prefix) {
		list = append(list, o.Python.Prefix)
	}
	if !within(o.Python.Program) {
		list = append(list, o.Python.Program)
	}
	return list
}

// bind shows a file or folder of the machine at the same place, for reading only. What the machine lacks is left out.
func bind(root, place string) error {
	info, err := os.Lstat(place)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	target := filepath.Join(root, place)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		to, err := os.Readlink(place)
		if err != nil {
			return err
		}
		return os.Symlink(to, target)
	}
	if info.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else {
		err = os.WriteFile(target, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(place, target, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(target, &stat); err != nil {
		return err
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | unix.MS_NOSUID)
	if info.Mode()&os.ModeDevice == 0 {
		flags |= unix.MS_NODEV
	}
	// What the mount has already may not be taken away.
	for _, f := range [...]struct {
		has  int64
		keep uintptr
	}{{unix.ST_NODEV, unix.MS_NODEV}, {unix.ST_NOEXEC, unix.MS_NOEXEC}, {unix.ST_NOATIME, unix.MS_NOATIME},
		{unix.ST_NODIRATIME, unix.MS_NODIRATIME}, {unix.ST_RELATIME, unix.MS_RELATIME}} {
		if int64(stat.Flags)&f.has != 0 {
			flags |= f.keep
		}
	}
	return unix.Mount("", target, "", flags, "")
}

// programID is the user inside who runs the program where there are two: the limit of tasks binds every user of the
// machine but root.
const programID = 1

// unprivileged becomes that user and keeps the capabilities, of which surrender disposes.
func unprivileged() error {
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return step("user", err)
	}
	for _, call := range [...]uintptr{unix.SYS_SETRESGID, unix.SYS_SETRESUID} {
		if _, _, errno := unix.RawSyscall(call, programID, programID, programID); errno != 0 {
			return step("user", errno)
		}
	}
	// The effective set was emptied, the permitted one was kept.
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return step("user", err)
	}
	for i := range sets {
		sets[i].Effective = sets[i].Permitted
	}
	return step("user", unix.Capset(&header, &sets[0]))
}

// surrender gives up all capabilities for good.
func surrender() error {
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return step("bounding set", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return step("ambient set", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return step("capabilities", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return step("privileges", err)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return step("end with the parent", err)
	}
	return step("filter", filter())
}

// become sets the limits of the process and becomes a program. It returns only if that fails. From the first limit on, this
// program itself no longer fits: a thread that its scheduler starts, as it does when a system call takes long, would end it.
// Raw calls are not seen by the scheduler, and all memory is there before them.
func become(path string, args, env []string) error {
	program, err := unix.BytePtrFromString(path)
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return err
	}
	environment, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return err
	}
	limits := [...]struct {
		resource uintptr
		most     unix.Rlimit
	}{
		{unix.RLIMIT_CORE, unix.Rlimit{}}, {unix.RLIMIT_CPU, unix.Rlimit{Cur: maxCPU, Max: maxCPU}},
		{unix.RLIMIT_FSIZE, unix.Rlimit{Cur: maxFile, Max: maxFile}},
		{unix.RLIMIT_NOFILE, unix.Rlimit{Cur: maxFiles, Max: maxFiles}},
		{unix.RLIMIT_NPROC, unix.Rlimit{Cur: maxThreads, Max: maxThreads}}, {unix.RLIMIT_MEMLOCK, unix.Rlimit{}},
		{unix.RLIMIT_STACK, unix.Rlimit{Cur: maxStack, Max: maxStack}},
		{unix.RLIMIT_AS, unix.Rlimit{Cur: maxMemory, Max: maxMemory}},
	}
	for i := range limits {
		l := &limits[i]
		if _, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, l.resource, uintptr(unsafe.Pointer(&l.most)), 0, 0,
			0); errno != 0 {
			return step("limits", errno)
		}
	}
	_, _, errno := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(program)), uintptr(unsafe.Pointer(&argv[0])),
		uintptr(unsafe.Pointer(&environment[0])))
	return fmt.Errorf("%s: %w", path, errno)
}

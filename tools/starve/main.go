//go:build unix

// Command starve runs tests on a starved machine: many times, at the lowest priority, beside busy loops. A test that
// fails here relies on the speed of the machine, or finds an error that seldom shows.
//
//	go -C tools run ./starve [flags] [packages]
//
// Packages are those of the repository, as for go test; all below ./internal/... that have tests if none is given.
//
//	-n N        run the tests of each package N times (20)
//	-loops N    busy loops beside them, at the same priority (3 for each core: a thread of the tests gets a quarter
//	            of a core, several threads of one process share what the loops leave)
//	-nice N     priority of tests and loops (19, the lowest)
//	-limit D    time limit of a run (15m); a test that hangs is ended with the stacks of its goroutines
//	-tail N     lines to print of the output of a run that failed (60)
//	-run RE     only these tests, -short and -full: their short and their long versions (AIPERF_TEST_FULL)
//
// It prints for each package how many of its runs failed, and of each failed run the tests and the end of the output.
// How starved the tests were: the share of a core that a busy thread got, and for each package the time of the runs over
// the CPU time that they used; tests that wait have a large ratio on an idle machine, too. The exit code is 1 if a run
// failed. Loops and tests end with the command, whatever ends it.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// spin makes a process of this program a busy loop.
const spin = "AIPERF_STARVE_SPIN"

type options struct {
	root     string
	packages []string
	runs     int
	loops    int
	nice     int
	limit    time.Duration
	tail     int
	only     string
	short    bool
	full     bool
}

func main() {
	if limit, err := time.ParseDuration(os.Getenv(spin)); err == nil {
		loop(limit)
		return
	}
	o := options{}
	flag.IntVar(&o.runs, "n", 20, "runs of each package")
	flag.IntVar(&o.loops, "loops", 3*runtime.NumCPU(), "busy loops beside the tests")
	flag.IntVar(&o.nice, "nice", 19, "priority of tests and loops")
	flag.DurationVar(&o.limit, "limit", 15*time.Minute, "time limit of a run")
	flag.IntVar(&o.tail, "tail", 60, "lines to print of a run that failed")
	flag.StringVar(&o.only, "run", "", "only the tests that match")
	flag.BoolVar(&o.short, "short", false, "short versions of tests")
	flag.BoolVar(&o.full, "full", false, "long versions of tests")
	flag.Parse()
	if o.packages = flag.Args(); len(o.packages) == 0 {
		o.packages = []string{"./internal/..."}
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	failed, err := starve(ctx, o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starve:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// loop uses a core until its time is over, or until the process that started it is gone: that closes standard input.
func loop(limit time.Duration) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	runtime.GOMAXPROCS(2)
	for end := time.Now().Add(limit); time.Now().Before(end); {
	}
}

// result is what the runs of a package amount to.
type result struct {
	runs, failures int
	wall, cpu      time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("%3d runs, %d failed, %7.1f s, %7.1f s CPU, ratio %.1f", r.runs, r.failures, r.wall.Seconds(),
		r.cpu.Seconds(), r.wall.Seconds()/max(r.cpu.Seconds(), 0.001))
}

// starve runs the tests and reports whether any failed.
func starve(ctx context.Context, o options, out io.Writer) (failed bool, err error) {
	if o.root == "" {
		if o.root, err = repository(ctx); err != nil {
			return false, err
		}
	}
	list, err := packages(ctx, o)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "starve")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	for i := range list {
		list[i].binary = filepath.Join(dir, strconv.Itoa(i)+".test")
		if _, err := command(ctx, o.root, "go", "test", "-c", "-o", list[i].binary, list[i].path); err != nil {
			return false, err
		}
	}
	share, err := beside(ctx, o, len(list))
	if err != nil {
		return false, err
	}
	var all result
	for _, p := range list {
		r := p.run(ctx, o, out)
		if r.runs == 0 {
			break // interrupted
		}
		fmt.Fprintf(out, "%-44s %s\n", p.path, r)
		all.runs, all.failures = all.runs+r.runs, all.failures+r.failures
		all.wall, all.cpu = all.wall+r.wall, all.cpu+r.cpu
	}
	fmt.Fprintf(out, "%-44s %s\n", "all", all)
	if part := share(); o.loops > 0 {
		fmt.Fprintf(out, "A busy thread of this priority got %.2f of a core.\n", part)
	}
	return all.failures > 0, context.Cause(ctx)
}

// repository is the folder above that of the module of this program.
func repository(ctx context.Context) (string, error) {
	module, err := command(ctx, "", "go", "env", "GOMOD")
	return filepath.Dir(filepath.Dir(strings.TrimSpace(module))), err
}

// tests are those of a package.
type tests struct{ path, dir, binary string }

func packages(ctx context.Context, o options) (list []tests, err error) {
	const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"
	text, err := command(ctx, o.root, "go", append([]string{"list", "-f", format}, o.packages...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		list = append(list, tests{path: path, dir: dir})
	}
	if len(list) == 0 {
		return nil, errors.New("no package has tests")
	}
	return list, nil
}

func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, complaints.Bytes())
	}
	return string(text), nil
}

// beside starts the busy loops. They end when share is called, which returns the part of a core that each got.
func beside(ctx context.Context, o options, packages int) (share func() float64, err error) {
	if o.loops == 0 {
		return func() float64 { return 1 }, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	most := time.Duration(packages*o.runs) * o.limit
	var loops []*exec.Cmd
	var inputs []io.Closer
	for range o.loops {
		cmd := exec.CommandContext(ctx, "nice", "-n", strconv.Itoa(o.nice), self)
		cmd.Env = append(os.Environ(), spin+"="+most.String())
		alive, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return nil, err
		}
		loops, inputs = append(loops, cmd), append(inputs, alive)
	}
	return func() float64 {
		var used time.Duration
		wall := time.Since(begin)
		for i, cmd := range loops {
			inputs[i].Close()
			_ = cmd.Wait()
			used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		return used.Seconds() / wall.Seconds() / float64(len(loops))
	}, nil
}

// run runs the tests of a package so many times, and prints the end of each run that fails.
func (p tests) run(ctx context.Context, o options, out io.Writer) (r result) {
	for n := range o.runs {
		var text bytes.Buffer
		began := time.Now()
		cmd := p.once(ctx, o, &text)
		err := cmd.Run()
		if ctx.Err() != nil {
			return r
		}
		r.runs++
		r.wall += time.Since(began)
		if s := cmd.ProcessState; s != nil {
			r.cpu += s.UserTime() + s.SystemTime()
		}
		if err == nil {
			continue
		}
		r.failures++
		fmt.Fprintf(out, "\n== %s, run %d of %d: %v after %.1f s\n", p.path, n+1, o.runs, err, time.Since(began).Seconds())
		for _, name := range failing(text.String()) {
			fmt.Fprintln(out, name)
		}
		fmt.Fprintf(out, "-- the end of its output\n%s\n", end(text.String(), o.tail))
	}
	return r
}

// once is one run. It is a process group of its own, which ends as a whole: tests start processes.
func (p tests) once(ctx context.Context, o options, text io.Writer) *exec.Cmd {
	args := []string{"-n", strconv.Itoa(o.nice), p.binary, "-test.timeout=" + o.limit.String(), "-test.run=" + o.only}
	if o.short {
		args = append(args, "-test.short")
	}
	const grace = 30 * time.Second // for the stacks of a test that hangs
	ctx, cancel := context.WithTimeout(ctx, o.limit+grace)
	cmd := exec.CommandContext(ctx, "nice", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, text, text
	cmd.Env = os.Environ()
	if o.full {
		cmd.Env = append(cmd.Env, "AIPERF_TEST_FULL=1")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { defer cancel(); return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// failing returns the lines that name tests that failed.
func failing(text string) (names []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "--- FAIL: ") || strings.HasPrefix(line, "panic: test timed out") {
			names = append(names, strings.TrimRight(line, "\n"))
		}
	}
	return names
}

// end returns the last lines of a text.
func end(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

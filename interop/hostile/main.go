//go:build ignore

// Runs the built program against hostile servers and inputs and checks how it ends: with an expected exit code, in
// time, within memory, without a stack dump or an escape sequence on the terminal, and with nothing written outside of
// its folder. Linux only, for the memory of a process.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// attempt is a run of the program.
type attempt struct {
	name  string
	quick bool // part of the quick check
	args  []string
	env   []string
	// prepare makes the inputs in the run's folder.
	prepare func(dir string)
	exits   []int
	says    string // in the output
	absent  string // in no file that the run wrote
	limit   time.Duration
	mb      int64
}

// artifacts is the only entry that a run may add to its folder.
const artifacts = "artifacts"

// faults returns what is wrong with how an attempt ended.
func (a *attempt) faults(program, under string) (faults []string, spent time.Duration, mb int64) {
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	top, err := os.MkdirTemp(under, "run")
	if err != nil {
		return []string{err.Error()}, 0, 0
	}
	defer os.RemoveAll(top)
	dir := filepath.Join(top, "a", "b")
	os.MkdirAll(dir, 0o755)
	if a.prepare != nil {
		a.prepare(dir)
	}
	before := tree(top)
	ctx, cancel := context.WithTimeout(context.Background(), 4*a.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, a.args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "HOME="+top, "XDG_CACHE_HOME="+top+"/cache",
		"NO_PROXY=127.0.0.1"), a.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err = cmd.Run()
	spent = time.Since(start)
	if cmd.ProcessState == nil {
		return []string{err.Error()}, 0, 0
	}
	mb = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	text := out.String()
	if code := cmd.ProcessState.ExitCode(); !slices.Contains(a.exits, code) {
		wrong("exit code %d, not one of %v", code, a.exits)
	}
	for _, dump := range []string{"goroutine ", "panic:", "fatal error", "runtime error"} {
		if strings.Contains(text, dump) {
			wrong("the output has %q", dump)
		}
	}
	if strings.Contains(text, "\x1b") {
		wrong("an escape sequence reaches the terminal")
	}
	if !strings.Contains(text, a.says) {
		wrong("the output does not say %q", a.says)
	}
	if spent > a.limit {
		wrong("%.1f s, and %s are the limit", spent.Seconds(), a.limit)
	}
	if mb > a.mb {
		wrong("%d MB, and %d are the limit", mb, a.mb)
	}
	for _, path := range tree(top) {
		inside := strings.HasPrefix(path, "a/b/"+artifacts) || strings.HasPrefix(path, "cache") ||
			strings.HasPrefix(path, ".cache") || path == ".local" || strings.HasPrefix(path, ".local/")
		if !inside && !slices.Contains(before, path) {
			wrong("it wrote %s", path)
		}
		if a.absent != "" && strings.Contains(path, artifacts) && strings.HasSuffix(path, ".html") {
			if text, _ := os.ReadFile(filepath.Join(top, path)); strings.Contains(string(text), a.absent) {
				wrong("%s has %q", path, a.absent)
			}
		}
	}
	if len(faults) > 0 {
		faults = append(faults, "output: …"+text[max(0, len(text)-600):])
	}
	return faults, spent, mb
}

// tree lists what is below a folder.
func tree(top string) (list []string) {
	filepath.WalkDir(top, func(path string, _ os.DirEntry, _ error) error {
		rel, _ := filepath.Rel(top, path)
		list = append(list, rel)
		return nil
	})
	return list
}

func listen() (net.Listener, string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return l, "http://" + l.Addr().String()
}

func main() {
	program, under, all := os.Args[1], os.Args[2], len(os.Args) > 3 && os.Args[3] == "full"
	// With "record" behind it a recorder is in front of each server that is attacked with, and inputs are left out.
	recorded := len(os.Args) > 4 && os.Args[4] == "record"
	var recorders []*recorder
	via := func(url string, more ...string) string {
		if !recorded {
			return url
		}
		r := before(program, under, url, more...)
		recorders = append(recorders, r)
		return r.url
	}
	l, url := listen()
	go accept(l, serve)
	list := overHTTP(via(url))
	if !recorded {
		list = append(list, inputs(url)...)
	}
	for name, flood := range floods {
		if a := overHTTP2(name, ""); a.quick || all {
			l, url := listen()
			go accept(l, func(conn net.Conn) { serve2(conn, flood) })
			list = append(list, overHTTP2(name, via(url, "--upstream-http2")))
		}
	}
	slices.SortStableFunc(list, func(a, b attempt) int { return strings.Compare(a.name, b.name) })
	failed, n := 0, 0
	for _, a := range list {
		if !all && !a.quick {
			continue
		}
		n++
		faults, spent, mb := a.faults(program, under)
		fmt.Printf("%-34s %5.1f s %5d MB\n", a.name, spent.Seconds(), mb)
		for _, fault := range faults {
			fmt.Printf("    %s\n", strings.ReplaceAll(fault, "\x1b", "ESC"))
		}
		if len(faults) > 0 {
			failed++
		}
	}
	for _, r := range recorders {
		for _, fault := range r.faults() {
			fmt.Printf("    recorder: %s\n", strings.ReplaceAll(fault, "\x1b", "ESC"))
			failed++
		}
	}
	if failed > 0 {
		fmt.Printf("%d of %d attacks did not end as they should\n", failed, n)
		os.Exit(1)
	}
	fmt.Printf("%d attacks ended as they should\n", n)
}

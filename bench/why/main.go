// Command why arranges situations whose cause is known and compares what aiperf profile says of them.
//
//	go run ./bench/why [-aiperf PATH] [-only NAME,…] [-held] [-healthy] [-dynamo DIR] [-vllm DIR] [-keep DIR]
//
// Each situation is a server, or several, with one thing wrong, and a load that meets it: the mock server in the state
// that its options describe, behind a slow network where that is the cause, or NVIDIA Dynamo's mocker. A row of the
// table has the cause that was written down, the first cause that the run's summary names, and whether the advice
// beside it has one of the words that was written down too. Below stand figures of the servers' own pages, read by this
// program, and of the client: they show that the situation is what its name says.
//
// The situations of -held are a set apart: they are not looked at while rules are written. Those of -healthy have no
// cause, and no finding may be a warning. Those of -vllm are on a real engine, which takes minutes to start.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	aiperf, only, dynamo, vllm, keep string
	held, healthy, list              bool
}

func main() {
	var o options
	flag.StringVar(&o.aiperf, "aiperf", "", "the program (default: built from this folder)")
	flag.StringVar(&o.only, "only", "", "names of the situations (default: all of the set)")
	flag.BoolVar(&o.held, "held", false, "the ten that are set apart, and only these")
	flag.BoolVar(&o.healthy, "healthy", false, "the ten without a cause, and only these")
	flag.StringVar(&o.dynamo, "dynamo", "",
		"folder with Dynamo's environment (venv, tiny); without it its situations are left out")
	flag.StringVar(&o.vllm, "vllm", "",
		"folder with vLLM's environment (venv, tiny): the situations on vLLM, and only these")
	flag.StringVar(&o.keep, "keep", "", "folder for the runs' folders (default: one that is removed)")
	flag.BoolVar(&o.list, "list", false, "print the situations and end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "why:", err)
		os.Exit(1)
	}
}

// chosen returns the situations of the flags.
func (o *options) chosen() []situation {
	set := open()
	switch {
	case o.vllm != "":
		set = onVLLM()
	case o.held:
		set = held()
	case o.healthy:
		set = healthy()
	}
	only := strings.Split(o.only, ",")
	return slices.DeleteFunc(set, func(s situation) bool {
		return o.only != "" && !slices.Contains(only, s.name) || s.dynamo != nil && o.dynamo == "" && !o.list
	})
}

func run(ctx context.Context, o options) error {
	set := o.chosen()
	if o.list {
		for _, s := range set {
			fmt.Printf("%-22s %-20s %s\n", s.name, s.expected(), strings.Join(s.advice, " | "))
		}
		return nil
	}
	root, err := os.MkdirTemp("", "why")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if o.aiperf == "" {
		o.aiperf = filepath.Join(root, "aiperf")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.aiperf, "./cmd/aiperf")
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
	}
	runs := root
	if o.keep != "" {
		runs = o.keep
	}
	b := bench{aiperf: o.aiperf, dynamo: o.dynamo, vllm: o.vllm, root: root, runs: runs, first: realTime()}
	if b.aiperf, err = filepath.Abs(b.aiperf); err != nil {
		return err
	}
	return b.all(ctx, set)
}

// all runs the situations and prints a row of each, then the totals.
func (b *bench) all(ctx context.Context, set []situation) error {
	begun, hits, named, failed := time.Now(), 0, 0, 0
	fmt.Printf("%-24s %-20s %-32s %-8s %s\n", "situation", "cause", "named first", "advice", "")
	for i := range set {
		s := &set[i]
		v, shown, err := b.one(ctx, s)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil {
			failed++
			fmt.Printf("%-24s %-20s not run: %v\n", s.name, s.expected(), err)
			continue
		}
		r := s.judge(v)
		if r.named {
			named++
		}
		mark := "miss"
		if r.hit() {
			hits++
			mark = "hit"
		}
		fmt.Printf("%-24s %-20s %-32s %-8s %s\n", s.name, s.expected(), r.first, r.word, mark)
		fmt.Println("    " + shown)
		if mark == "miss" {
			fmt.Println("    " + v.text())
		}
	}
	fmt.Printf("\n%d of %d right", hits, len(set))
	if len(set) > 0 && !set[0].healthy {
		fmt.Printf(", the cause alone in %d", named)
	}
	fmt.Printf("; %d not run; %.0f s\n", failed, time.Since(begun).Seconds())
	return nil
}

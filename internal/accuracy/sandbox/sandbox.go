// Package sandbox grades answers that are programs, by running them where they can do no harm.
//
// Each test of an answer is a process of its own: without network, without the files, the environment and the processes
// of the machine, with limits on its time, memory, output, files and threads. What it prints is judged outside. A
// system that offers no such process is refused; programs of models never run unprotected.
package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"aiperf/internal/accuracy/grade"
	"aiperf/internal/accuracy/task"
)

// Command is the name of the command of this program that calls [Child]. It is not for people.
const Command = "sandbox-child"

const (
	// Parallel is how many programs run at a time.
	Parallel = 8
	// testTime is the time of one test.
	testTime = 6 * time.Second
	// extraTime and caseTime bound the time of all tests of a program.
	extraTime, caseTime = 35 * time.Second, 7 * time.Second
)

// Box runs programs. It is safe for concurrent use.
type Box struct {
	// TestTime is the time of one test. New sets it to 6 s; it must not change while programs run.
	TestTime time.Duration
	python   *python
	maxTime  time.Duration
	ctx      context.Context
	end      context.CancelFunc
	second   bool // programs run as a user of their own
}

// New returns a sandbox that gives one answer so much time at the most, after it has run a first program in it. Its
// error says why this system offers none.
func New(ctx context.Context, maxTime time.Duration) (*Box, error) {
	p, err := findPython(ctx)
	if err != nil {
		return nil, err
	}
	b := &Box{TestTime: testTime, python: p, maxTime: maxTime, second: mayMap()}
	b.ctx, b.end = context.WithCancel(context.Background())
	first := func() Result { return b.Run(ctx, "import sys\nprint(6 * int(sys.stdin.read()))", "7") }
	r := first()
	if r.Err != nil && b.second { // an interpreter that only root can read, or a container that may not change users
		b.second = false
		r = first()
	}
	if r.Err != nil || strings.TrimSpace(r.Out) != "42" {
		b.end()
		return nil, fmt.Errorf("this system offers no sandbox, and programs of models are not run without one: %s",
			r.problem(strings.TrimSpace(r.Out)))
	}
	return b, nil
}

// Close ends all programs that run.
func (b *Box) Close() { b.end() }

// ErrNoPython is the error of a system without a Python interpreter.
var ErrNoPython = errors.New("no python3 was found, which runs the programs")

func findPython(ctx context.Context) (*python, error) {
	path, err := exec.LookPath("python3")
	if err != nil {
		return nil, ErrNoPython
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-I", "-c",
		"import json, os, sys; print(json.dumps([os.path.realpath(sys.executable), sys.base_prefix]))").Output()
	if err != nil {
		return nil, fmt.Errorf("%s does not work: %w", path, err)
	}
	var found [2]string
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("%s does not work: %w", path, err)
	}
	return &python{Program: found[0], Prefix: found[1]}, nil
}

// python is the interpreter, and the folder that it needs.
type python struct{ Program, Prefix string }

// Result is how a program ended.
type Result struct {
	// Out is what it wrote, Errors the end of what it wrote to its standard error.
	Out, Errors string
	// Err is nil for a program that ended by itself and without an error.
	Err error
	// Late reports that the program was ended because its time was over.
	Late bool
}

var errTooMuch = errors.New("it printed too much")

// problem says in a few words what went wrong.
func (r *Result) problem(otherwise string) string {
	last := ""
	for line := range strings.Lines(r.Errors) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
	}
	switch {
	case r.Late:
		return "it took too long"
	case errors.Is(r.Err, errTooMuch):
		return r.Err.Error()
	case r.Err != nil && last != "":
		return last
	case r.Err != nil:
		return r.Err.Error()
	}
	return otherwise
}

var fence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)```(?:python3?|py|Python)[ \t]*\r?\n(.*?)(?:```|$)")
})

// program returns the code of the last Python fence; without one the whole text, which then counts as unparsed.
func program(answer string) (code string, unparsed bool) {
	all := fence().FindAllStringSubmatch(answer, -1)
	if len(all) == 0 {
		return answer, true
	}
	return all[len(all)-1][1], false
}

// Grade runs the program of an answer on all tests of its problem, which gold describes: see [task.Code].
func (b *Box) Grade(answer, gold string) grade.Verdict {
	v := grade.Verdict{}
	v.Extracted, v.Unparsed = program(answer)
	tests, err := parseTests(gold)
	if err != nil {
		v.Reason = "the tests of the problem cannot be read: " + err.Error()
		return v
	}
	v.Gold = fmt.Sprintf("%d tests passed", len(tests.cases))
	if strings.TrimSpace(v.Extracted) == "" {
		v.Reason = "no program was found"
		return v
	}
	limit := min(b.maxTime, caseTime*time.Duration(len(tests.cases))+extraTime)
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	for i := range tests.cases {
		c := &tests.cases[i]
		r := b.Run(ctx, tests.program(v.Extracted), c.Input)
		if r.Err == nil && tests.right(r.Out, c.Output) {
			continue
		}
		v.Reason = fmt.Sprintf("test %d of %d failed: %s", i+1, len(tests.cases), r.problem("another output"))
		if ctx.Err() != nil {
			v.Reason += fmt.Sprintf("; all tests together may take %s", limit)
		}
		return v
	}
	v.Correct, v.Reason = true, "all tests passed"
	if v.Unparsed {
		v.Reason += "; there was no Python fence"
	}
	return v
}

// cases are the tests of a problem.
type cases struct {
	// function is the name of the function that is called; "" for a program that reads and writes.
	function string
	cases    []testCase
}

type testCase struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

// parseTests reads the test cases of a problem, public ones first. Hidden ones are JSON, or packed, see
// [Unpack]. The metadata names the function, or none for programs that read
// their input.
func parseTests(gold string) (*cases, error) {
	var c task.Code
	if err := json.Unmarshal([]byte(gold), &c); err != nil {
		return nil, err
	}
	var t cases
	for _, text := range []struct {
		list   string
		hidden bool
	}{{c.PublicTestCases, false}, {c.PrivateTestCases, true}} {
		list := text.list
		if list == "" {
			continue
		}
		if text.hidden && !json.Valid([]byte(list)) {
			var err error
			if list, err = Unpack(list); err != nil {
				return nil, err
			}
		}
		var some []testCase
		if err := json.Unmarshal([]byte(list), &some); err != nil {
			return nil, err
		}
		t.cases = append(t.cases, some...)
	}
	if len(t.cases) == 0 {
		return nil, errors.New("there is none")
	}
	var about struct {
		Function string `json:"func_name"`
	}
	if c.Metadata != "" {
		if err := json.Unmarshal([]byte(c.Metadata), &about); err != nil {
			return nil, err
		}
	}
	t.function = about.Function
	return &t, nil
}

// prelude are the names that programs of contests expect.
const prelude = `import bisect, collections, copy, functools, heapq, itertools, math, operator, random, re, string, sys
from bisect import *
from collections import *
from functools import *
from heapq import *
from itertools import *
from math import *
from typing import *
sys.setrecursionlimit(50000)
`

// caller calls the function of a program with one argument a line, and prints what it returns. What the program prints
// itself does not count.
const caller = `
def _call(name):
    import json, os
    out, sys.stdout = sys.stdout, open(os.devnull, "w")
    arguments = [json.loads(line) for line in sys.stdin.read().split("\n") if line.strip()]
    known = globals()
    owner = known["Solution"]() if "Solution" in known else None
    function = getattr(owner, name) if owner is not None and hasattr(owner, name) else known[name]
    value = function(*arguments)
    out.write(json.dumps(value))
    out.flush()


_call(%s)
`

// program returns what runs for a test.
func (t *cases) program(code string) string {
	if t.function == "" {
		return code
	}
	name, _ := json.Marshal(t.function) // a string
	return prelude + code + fmt.Sprintf(caller, name)
}

// right compares an output with the one that is expected.
func (t *cases) right(out, want string) bool {
	if t.function == "" {
		return SameLines(out, want)
	}
	var a, b any
	if json.Unmarshal([]byte(out), &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return strings.TrimSpace(out) == strings.TrimSpace(want)
	}
	return sameJSON(a, b)
}

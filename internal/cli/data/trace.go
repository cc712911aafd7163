package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/trace"
)

// whole is a whole number of at least least.
func whole(to *int, least int) func(string) error {
	return func(v string) error {
		n, err := scalar.Count(v)
		if err != nil || n < int64(least) || n > math.MaxInt {
			return fmt.Errorf("want a whole number of at least %d, got %q", least, v)
		}
		*to = int(n)
		return nil
	}
}

// traceTable is the table of a command of traces; words stand for the flags in places.
func traceTable(command, usage, about string, list []flags.Flag, places ...string) *flags.Table {
	return &flags.Table{Command: command, About: "Usage: aiperf " + usage + "\n\n" + about + "\n\nOptions:\n",
		Flags: list, Places: append([]string{}, places...), Once: true, Page: "traces",
		Examples: traceExamples(command)}
}

// traceExamples are those of a command of traces.
func traceExamples(command string) []flags.Example {
	return map[string][]flags.Example{
		"analyze-trace": {
			{For: "lengths and shared prefixes", Command: "aiperf analyze-trace trace.jsonl"},
			{For: "as JSON, too", Command: "aiperf analyze-trace trace.jsonl --output-file trace.json"},
		},
		"validate mooncake-trace": {
			{For: "the first ten faults", Command: "aiperf validate mooncake-trace --input trace.jsonl"},
		},
		"synthesize agentic-code": {
			{For: "a hundred sessions", Command: "aiperf synthesize agentic-code --num-sessions 100 --output sessions"},
		},
	}[command]
}

type analyzeTraceOptions struct {
	input, output string
	blockSize     int
}

func (o *analyzeTraceOptions) table() *flags.Table {
	return traceTable("analyze-trace", "analyze-trace FILE [options]",
		"Describes a mooncake trace: the lengths of inputs and outputs, how much of them other requests share,\n"+
			"and how many blocks an unlimited prefix cache would have found.", []flags.Flag{
			flags.Value("input-file", "FILE", "mooncake trace to read; the flag itself may be omitted",
				flags.Text(&o.input)),
			flags.Value("block-size", "N", "tokens of a hash id (512)", whole(&o.blockSize, 1)),
			flags.Value("output-file", "FILE", "write the report as JSON", flags.Text(&o.output)),
		}, "input-file")
}

type validateOptions struct{ input string }

func (o *validateOptions) table() *flags.Table {
	return traceTable("validate mooncake-trace", "validate [--target] mooncake-trace --input FILE",
		"Validates every row of a file against the format mooncake_trace and lists the first ten errors.", []flags.Flag{
			flags.Value("input", "FILE", "trace to check; the flag itself may be omitted", flags.Text(&o.input)),
		}, "input")
}

type synthesizeOptions struct{ trace.SynthesizeOptions }

func (o *synthesizeOptions) table() *flags.Table {
	return traceTable("synthesize agentic-code", "synthesize [--target] agentic-code [options]",
		"Generates a mooncake trace of coding sessions: contexts with shared beginnings that grow from turn to turn, "+
			"pauses of tools\n"+
			"and of people, sessions that end when their context is full.", []flags.Flag{
			flags.Value("num-sessions", "N", "sessions to make (1000)", whole(&o.Sessions, 1)),
			flags.Value("output", "DIR", "where the folder of the data set goes (.)", flags.Text(&o.Output)),
			flags.Value("config", "NAME|FILE", "default, a JSON file, or the manifest.json of an earlier data set",
				flags.Text(&o.Config)),
			flags.Value("seed", "N", "the same seed makes the same sessions (42)", whole(&o.Seed, 0)),
			flags.Value("max-isl", "N", "limit of the context in tokens", whole(&o.MaxISL, 1)),
			flags.Value("max-osl", "N", "limit of an answer in tokens", whole(&o.MaxOSL, 1)),
		})
}

// runAnalyzeTrace reports what a trace is like.
func runAnalyzeTrace(e *command.Env, args []string) error {
	o := analyzeTraceOptions{blockSize: trace.DefaultBlockSize}
	_, err := e.Parse(o.table(), args)
	switch {
	case err != nil:
		return err
	case o.input == "":
		return errors.New("no trace given: aiperf analyze-trace FILE")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := trace.Analyze(ctx, o.input, o.blockSize)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(e.Terminal.Err, "Error: Input file not found: %s\n", o.input)
		return command.Exit(command.ExitFailure)
	}
	if err != nil {
		return err
	}
	report.Print(e.Terminal.Out)
	if o.output != "" {
		if err := report.WriteJSON(o.output); err != nil {
			return err
		}
		fmt.Fprintf(e.Terminal.Out, "Analysis report saved to %s\n", o.output)
	}
	return nil
}

// withTarget takes the target of a command from its arguments: the first word, or the value of --target anywhere.
func withTarget(args []string, target string) (rest []string, named bool) {
	for i, arg := range args {
		switch {
		case i == 0 && arg == target, arg == "--target="+target:
			return slices.Delete(slices.Clone(args), i, i+1), true
		case arg == "--target" && i+1 < len(args) && args[i+1] == target:
			return slices.Delete(slices.Clone(args), i, i+2), true
		}
	}
	return args, false
}

// runValidate checks a file against a format.
func runValidate(e *command.Env, args []string) error {
	args, named := withTarget(args, "mooncake-trace")
	if !named && !flags.WantsHelp(args) {
		return errors.New("no format given: aiperf validate mooncake-trace --input FILE")
	}
	var o validateOptions
	_, err := e.Parse(o.table(), args)
	switch {
	case err != nil:
		return err
	case o.input == "":
		return errors.New("no trace given: aiperf validate mooncake-trace --input FILE")
	}
	path := o.input
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		fmt.Fprintf(e.Terminal.Err, "Validation failed: %s is not a file.\n", path)
		return command.Exit(command.ExitFailure)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rows, first, faults, err := loader.CheckMooncake(ctx, path)
	switch {
	case err != nil:
		return err
	case faults > 0:
		fmt.Fprintf(e.Terminal.Err, "Validation failed with %d error(s):\n", faults)
		for _, f := range first {
			fmt.Fprintf(e.Terminal.Err, "Line %d: %s\n", f.Line, f.Text)
		}
		if more := faults - len(first); more > 0 {
			fmt.Fprintf(e.Terminal.Err, "and %d more\n", more)
		}
		return command.Exit(command.ExitFailure)
	}
	fmt.Fprintf(e.Terminal.Out, "Validation passed: %d rows are Mooncake-compatible.\n", rows)
	return nil
}

// runSynthesize generates a trace.
func runSynthesize(e *command.Env, args []string) error {
	args, named := withTarget(args, "agentic-code")
	if !named && !flags.WantsHelp(args) {
		return errors.New("no kind of trace given: aiperf synthesize agentic-code")
	}
	o := synthesizeOptions{trace.SynthesizeOptions{Sessions: 1000, Output: ".", Seed: 42, Now: time.Now()}}
	if _, err := e.Parse(o.table(), args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, files, err := trace.Synthesize(ctx, o.SynthesizeOptions)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Terminal.Out, "Sessions written to %s\n", dir)
	command.WriteLines(e.Terminal.Out, files)
	return nil
}

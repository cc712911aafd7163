package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/trace"
)

// analyzeTrace tells what a trace is like.
func (a *app) analyzeTrace(args []string) int {
	if wantsHelp(args) {
		fmt.Fprint(a.terminal.out, trace.AnalyzeHelp())
		return ExitOK
	}
	o, err := trace.ParseAnalyze(args)
	if err != nil {
		return a.fail(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := trace.Analyze(ctx, o.Input, o.BlockSize)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(a.terminal.err, "Error: Input file not found: %s\n", o.Input)
		return ExitFailure
	}
	if err != nil {
		return a.fail(err)
	}
	report.Print(a.terminal.out)
	if o.Output != "" {
		if err := report.WriteJSON(o.Output); err != nil {
			return a.fail(err)
		}
		fmt.Fprintf(a.terminal.out, "Analysis report saved to %s\n", o.Output)
	}
	return ExitOK
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

// validate holds a file against a format.
func (a *app) validate(args []string) int {
	args, named := withTarget(args, "mooncake-trace")
	if !named && !wantsHelp(args) {
		return a.fail(errors.New("what is to be validated? aiperf validate mooncake-trace --input FILE"))
	}
	if wantsHelp(args) {
		fmt.Fprint(a.terminal.out, trace.ValidateHelp())
		return ExitOK
	}
	path, err := trace.ParseValidate(args)
	if err != nil {
		return a.fail(err)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		fmt.Fprintf(a.terminal.err, "Validation failed: %s is not a file.\n", path)
		return ExitFailure
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rows, first, faults, err := loader.CheckMooncake(ctx, path)
	switch {
	case err != nil:
		return a.fail(err)
	case faults > 0:
		fmt.Fprintf(a.terminal.err, "Validation failed with %d error(s):\n", faults)
		for _, f := range first {
			fmt.Fprintf(a.terminal.err, "Line %d: %s\n", f.Line, f.Text)
		}
		if more := faults - len(first); more > 0 {
			fmt.Fprintf(a.terminal.err, "and %d more\n", more)
		}
		return ExitFailure
	}
	fmt.Fprintf(a.terminal.out, "Validation passed: %d rows are Mooncake-compatible.\n", rows)
	return ExitOK
}

// synthesize makes up a trace.
func (a *app) synthesize(args []string) int {
	args, named := withTarget(args, "agentic-code")
	if !named && !wantsHelp(args) {
		return a.fail(errors.New("what is to be made? aiperf synthesize agentic-code"))
	}
	if wantsHelp(args) {
		fmt.Fprint(a.terminal.out, trace.SynthesizeHelp())
		return ExitOK
	}
	o, err := trace.ParseSynthesize(args)
	if err != nil {
		return a.fail(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, files, err := trace.Synthesize(ctx, o)
	if err != nil {
		return a.fail(err)
	}
	fmt.Fprintf(a.terminal.out, "Sessions written to %s\n", dir)
	writeLines(a.terminal.out, files)
	return ExitOK
}

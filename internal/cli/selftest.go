package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
	"aiperf/internal/selftest"
	"aiperf/internal/watch/capacity"
)

const selftestHelp = `Usage: aiperf selftest [--quick] [--streams N] [--json FILE]

Holds this program against known truth, in about a minute: it starts the embedded mock server as a
process of its own on a free loopback port, runs benchmarks against it, and compares what they
report with what the server recorded. Then it measures what this machine carries.

  Token counts    each request's tokens against the server's: no tolerance
  Arithmetic      records and statistics, computed again from the raw stamps
  Time stamps     stamp of each event less the server's own stamp right before its write
  Arrivals        100, 1,000 and 10,000 requests/s: rate, lateness of sends, gaps at the server
  Capacity        short requests per second; streams of 50 tokens/s at a time, observed truthfully

Token counts, events, requests and arithmetic pass or fail. Timing and capacity are graded good or
limited: they depend on the machine and on what else runs on it, and never fail the test. End what
else runs here first. The capacity is remembered in the user's cache directory, and aiperf profile
warns when it is asked for more. docs/selftest.md explains each figure.

  --quick
        Short steps and no search for the number of streams: about 10 seconds. Nothing is
        remembered.
  --streams N
        Streams whose time stamps are compared, 1 to 10,000 (default 32).
  --json FILE
        Write the report as JSON too.
  -h, --help
        Show this text.

Exit codes: 0 all lines of correctness passed; 3 one of them failed; 1 usage error, the test could
not run or was interrupted; 130 second Ctrl-C; 143 SIGTERM.
`

// selftestFlags are the flags of selftest as completion offers them.
var selftestFlags = []struct {
	name, help string
	takesValue bool
}{
	{"quick", "Short steps and no search for the number of streams", false},
	{"streams", "Streams whose time stamps are compared", true},
	{"json", "Write the report as JSON too", true},
}

// selftest tests the program on this machine.
func (a *app) selftest(args []string) int {
	if wantsHelp(args) {
		fmt.Fprint(a.terminal.out, selftestHelp)
		return ExitOK
	}
	o, path, err := selftestArgs(args)
	if err != nil {
		return a.fail(err)
	}
	if path != "" {
		probe, err := artifact.CreateAtomic(path)
		if err != nil {
			return a.fail(fmt.Errorf("--json: %w", err))
		}
		probe.Abort()
	}
	t := a.terminal
	interrupts := watchInterrupts(t, t.styledErr)
	defer interrupts.close()
	o.Version, o.Stop = Version, interrupts.Stop
	o.Progress = func(step string) { fmt.Fprintf(t.err, "Self-test: %s\n", step) }
	report, err := selftest.Run(context.Background(), o)
	if err != nil {
		return a.fail(fmt.Errorf("the self-test could not run: %w", err))
	}
	return interrupts.exit(a.finishSelftest(report, path))
}

// finishSelftest prints and writes the report, and remembers the capacity.
func (a *app) finishSelftest(report *selftest.Report, path string) int {
	// A closed pipe must not cost the file.
	_ = report.Render(a.terminal.out)
	code := map[string]int{"pass": ExitOK, "fail": ExitThreshold, "interrupted": ExitFailure}[report.Result()]
	if path != "" {
		if err := artifact.WriteObject(path, report.JSON()); err != nil {
			a.fail(fmt.Errorf("--json: %w", err))
			code = max(code, ExitFailure)
		}
	}
	if report.Capacity != nil {
		kept, err := capacity.Path()
		if err == nil {
			err = capacity.Save(kept, report.Capacity)
		}
		if err != nil {
			fmt.Fprintf(a.terminal.err, "The capacity is not remembered: %v\n", err)
		} else {
			fmt.Fprintf(a.terminal.out, "The capacity is remembered in %s.\n", kept)
		}
	}
	return code
}

func selftestArgs(args []string) (o selftest.Options, path string, err error) {
	fail := func(format string, args ...any) (selftest.Options, string, error) {
		return selftest.Options{}, "", fmt.Errorf(format, args...)
	}
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		if name == "--json" || name == "--streams" {
			if !inline && i+1 == len(args) {
				return fail("%s needs a value", name)
			}
			if !inline {
				i++
				value = args[i]
			}
		}
		switch name {
		case "--quick":
			if inline {
				return fail("--quick takes no value")
			}
			o.Quick = true
		case "--streams":
			n, err := scalar.Count(value)
			if o.Streams = int(n); err != nil || n < 1 || n > selftest.MostStreams {
				return fail("--streams %s: a number from 1 to %d is needed", value, selftest.MostStreams)
			}
		case "--json":
			if value == "" || path != "" {
				return fail("--json needs one FILE, once")
			}
			path = value
		default:
			return fail("selftest takes --quick, --streams N and --json FILE, not %s%s", args[i], nearestSelftest(name))
		}
	}
	return o, path, nil
}

func nearestSelftest(name string) string {
	var names []string
	for _, f := range selftestFlags {
		names = append(names, "--"+f.name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// measuredCapacity is what the self-test found on this machine; nil if there is nothing that holds here.
func measuredCapacity(log *slog.Logger) *capacity.Capacity {
	path, err := capacity.Path()
	if err != nil {
		log.Debug("No measured capacity", "reason", err)
		return nil
	}
	c, err := capacity.Load(path, func() capacity.Machine { return capacity.ThisMachine(Version) })
	if err != nil {
		log.Debug("The measured capacity is not used", "reason", err)
	}
	return c
}

package benchmark

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/selftest"
	"aiperf/internal/watch/trust"
)

const selftestHelp = `Usage: aiperf selftest [--quick] [--streams N] [--json FILE]

Checks this program on this machine, in about a minute: it starts the embedded mock server as a
process of its own on a free loopback port, runs benchmarks against it, and compares their reports
with the server's record. Then it measures the capacity of this machine.

  Token counts    each request's tokens against the server's: no tolerance
  Arithmetic      records and statistics, recomputed from the raw time stamps
  Time stamps     time stamp of each event minus the server's own, taken right before the write
  Arrivals        100, 1,000 and 10,000 requests/s: rate, delay of sends, gaps at the server
  Capacity        short requests per second; concurrent streams of 50 tokens/s, measured accurately

Token counts, events, requests and arithmetic pass or fail. Timing and capacity are graded good or
limited: they depend on the machine and its other load, and never fail the test. Stop other programs
first. The capacity is stored in the user's cache directory, and aiperf profile warns when it is
asked for more.

`

const selftestFooter = `Exit codes: 0 all correctness checks passed; 3 one of them failed; 1 usage error, the test could
not run or was interrupted; 130 second Ctrl-C; 143 SIGTERM.
`

type selftestOptions struct {
	selftest.Options
	streams string
	json    []string
}

func (o *selftestOptions) table() *flags.Table {
	return &flags.Table{Command: "selftest", Page: "selftest", Examples: []flags.Example{
		{For: "about a minute", Command: "aiperf selftest"},
		{For: "ten seconds, as JSON too", Command: "aiperf selftest --quick --json selftest.json"},
	},
		About: selftestHelp, Footer: selftestFooter, Flags: []flags.Flag{
			flags.Switch("quick", "Short steps and no search for the number of streams: about 10 seconds. Nothing is "+
				"saved.", &o.Quick),
			flags.Value("streams", "N", "Streams whose time stamps are compared, 1 to 10,000 (default 32).",
				flags.Text(&o.streams)),
			flags.Value("json", "FILE", "Write the report as JSON too.", flags.Texts(&o.json)),
		}}
}

// complete reads the values; path is the file of the report.
func (o *selftestOptions) complete(words []string) (path string, err error) {
	if len(words) > 0 {
		return "", fmt.Errorf("selftest takes --quick, --streams N and --json FILE, not %s", words[0])
	}
	if o.streams != "" {
		n, err := scalar.Count(o.streams)
		if o.Streams = int(n); err != nil || n < 1 || n > selftest.MostStreams {
			return "", fmt.Errorf("--streams %s: a number from 1 to %d is needed", o.streams, selftest.MostStreams)
		}
	}
	if len(o.json) > 1 || len(o.json) == 1 && o.json[0] == "" {
		return "", errors.New("--json needs one FILE, once")
	}
	return strings.Join(o.json, ""), nil
}

// runSelftest tests the program on this machine.
func runSelftest(e *command.Env, args []string) error {
	var o selftestOptions
	words, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	path, err := o.complete(words)
	if err != nil {
		return err
	}
	if path != "" {
		probe, err := artifact.CreateAtomic(path)
		if err != nil {
			return fmt.Errorf("--json: %w", err)
		}
		probe.Abort()
	}
	t := e.Terminal
	interrupts := watchInterrupts(t, t.StyledErr, func() {})
	defer interrupts.close()
	o.Version, o.Stop = command.Version, interrupts.Stop
	o.Progress = func(step string) { fmt.Fprintf(t.Err, "Self-test: %s\n", step) }
	report, err := selftest.Run(context.Background(), o.Options)
	if err != nil {
		return fmt.Errorf("the self-test could not run: %w", err)
	}
	return command.Exit(interrupts.exit(finishSelftest(e, report, path)))
}

// finishSelftest prints and writes the report, and remembers the capacity.
func finishSelftest(e *command.Env, report *selftest.Report, path string) int {
	// A closed pipe must not cost the file.
	_ = report.Render(e.Terminal.Out)
	code := map[string]int{"pass": command.ExitOK, "fail": command.ExitThreshold,
		"interrupted": command.ExitFailure}[report.Result()]
	if path != "" {
		if err := artifact.WriteObject(path, report.JSON()); err != nil {
			e.Show(fmt.Errorf("--json: %w", err))
			code = max(code, command.ExitFailure)
		}
	}
	if report.Capacity != nil {
		kept, err := trust.CapacityPath()
		if err == nil {
			err = trust.SaveCapacity(kept, report.Capacity)
		}
		if err != nil {
			fmt.Fprintf(e.Terminal.Err, "The capacity could not be saved: %v\n", err)
		} else {
			fmt.Fprintf(e.Terminal.Out, "The capacity was saved to %s.\n", kept)
		}
	}
	return code
}

// measuredCapacity is what the self-test found on this machine; nil if there is nothing that holds here.
func measuredCapacity(log *slog.Logger) *trust.Capacity {
	path, err := trust.CapacityPath()
	if err != nil {
		log.Debug("No measured capacity", "reason", err)
		return nil
	}
	c, err := trust.LoadCapacity(path, func() trust.Machine { return trust.ThisMachine(command.Version) })
	if err != nil {
		log.Debug("The measured capacity is not used", "reason", err)
	}
	return c
}

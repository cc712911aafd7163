package look

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/env"
	"aiperf/internal/config/flags"
	"aiperf/internal/result/recompute"
)

const serverMetricsHelp = `Usage: aiperf server-metrics RECORDING.jsonl [RECORDING.jsonl …] [options]

Recomputes the server metrics of a run from its recordings (server_metrics_export.jsonl, written with
--server-metrics-formats jsonl), without a server: for another window, with other timeslices, in other formats.
Several recordings are merged.

The file server_metrics_recording.json next to it completes a recording. With it and without any
option the files are those of the run, byte by byte. Without it, buckets mean a histogram, other types follow
from well-known names and endings such as _total, and all samples count unless a window is given.

Options:
`

// ReplayOptions are the flags of aiperf server-metrics.
type ReplayOptions struct{ recompute.Options }

// Table returns the flags of the command.
func (o *ReplayOptions) Table() *flags.Table {
	formats := flags.Value("formats", "LIST",
		"files to write: json, csv, parquet, jsonl (the recordings merged); default: json,csv,parquet", o.AddFormats)
	formats.Values = recompute.Formats()
	formats.More = func(arg string) bool { return slices.Contains(formats.Values, strings.ToLower(arg)) }
	return &flags.Table{Command: "server-metrics", Page: "server-metrics", Examples: []flags.Example{
		{For: "the files of the run again", Command: "aiperf server-metrics artifacts/RUN/server_metrics_export.jsonl"},
		{For: "in slices of ten seconds",
			Command: "aiperf server-metrics artifacts/RUN/server_metrics_export.jsonl --slice-duration 10"},
	}, About: serverMetricsHelp, Flags: []flags.Flag{
		flags.Value("from", "NS", "start of the measurement window, in nanoseconds since 1970; default: that of the "+
			"recorded "+
			"run, else the first scrape", nanoseconds(&o.FromNS)),
		flags.Value("to", "NS", "end of the measurement window; the first scrape of an endpoint after it is its "+
			"final one, "+
			"later ones are left out", nanoseconds(&o.ToNS)),
		flags.Value("slice-duration", "S", "length of timeslices in seconds; default: that of the recorded run; 0 "+
			"for none",
			o.setSlices),
		formats,
		flags.Value("output-dir", "DIR", "where the files go; default: server_metrics_replay beside the first "+
			"recording",
			flags.Text(&o.OutputDir)),
		flags.Value("type", "NAME=TYPE", "type of a family: gauge, counter or unknown; may be repeated. Recordings "+
			"of this program contain their types", o.AddTypes),
		flags.Switch("percentile-bounds", "add p*_lower and p*_upper, between which the true percentiles of "+
			"histograms lie",
			&o.Bounds),
	}}
}

func nanoseconds(to **int64) func(string) error {
	return func(v string) error {
		ns, err := scalar.Count(v)
		if err != nil || ns < 0 {
			return fmt.Errorf("%q is not a number of nanoseconds since 1970", v)
		}
		*to = &ns
		return nil
	}
}

func (o *ReplayOptions) setSlices(v string) error {
	s, err := scalar.In(time.Second, v)
	if err != nil || !(s >= 0) || s > math.MaxInt64/1e9 {
		return fmt.Errorf("%q is not a number of seconds", v)
	}
	if s > 0 && s < 1e-9 {
		return fmt.Errorf("%q is less than a nanosecond", v)
	}
	o.SliceSeconds = &s
	return nil
}

// runServerMetrics recomputes the server metrics of a run from its recordings.
func runServerMetrics(e *command.Env, args []string) error {
	var o ReplayOptions
	recordings, err := e.Parse(o.Table(), args)
	if err != nil {
		return err
	}
	env, _, err := env.Read(e.LookupEnv)
	if err != nil {
		return err
	}
	options := o.Options
	options.Recordings, options.Version = recordings, command.Version
	options.CSVComments, options.LegacyJSON = env.ServerMetrics.CSVComments, env.ServerMetrics.LegacyJSON
	options.Bounds = options.Bounds || env.ServerMetrics.Bounds
	options.Written = func(name, path string) { fmt.Fprintf(e.Terminal.Out, "%s: %s\n", name, path) }
	options.Warn = func(message string) { fmt.Fprintln(e.Terminal.Err, "warning:", message) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return recompute.ServerMetrics(ctx, options)
}

package recompute

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics/export"
)

// Options say what to compute from which recordings.
type Options struct {
	Recordings []string
	// FromNS and ToNS are the measurement window; nil means that of the recordings.
	FromNS, ToNS *int64
	// SliceSeconds is the length of timeslices, 0 for none; nil means that of the recordings.
	SliceSeconds *float64
	// Formats are the files to write, of json, csv, jsonl and parquet; none means all but jsonl.
	Formats []string
	// OutputDir is where they go; "" means server_metrics_replay beside the first recording.
	OutputDir string
	// Types are those of families whose type the recording does not tell, or tells wrongly.
	Types map[string]prom.Type
	// Bounds adds to each estimated percentile between which bounds the true one lies.
	Bounds bool

	// CSVComments and LegacyJSON are what the environment asks for.
	CSVComments, LegacyJSON bool
	// Version is that of this program, for recordings that do not say which one wrote them.
	Version string
	// Written hears of each file, Warn of what the user should know; nil means nobody.
	Written func(name, path string)
	Warn    func(message string)
}

var formats = [...]string{"json", "csv", "jsonl", "parquet"}

// flag is an option of the command.
type flag struct {
	name, value, help string
	set               func(o *Options, value string) error
}

func flags() []flag {
	return []flag{
		{"from", "NS", "start of the measurement window, in nanoseconds since 1970; default: that of the recorded run, else the first scrape",
			func(o *Options, v string) (err error) { o.FromNS, err = nanoseconds(v); return err }},
		{"to", "NS", "end of the measurement window; the first scrape of an endpoint after it is its final one, later ones are left out",
			func(o *Options, v string) (err error) { o.ToNS, err = nanoseconds(v); return err }},
		{"slice-duration", "S", "length of timeslices in seconds; default: that of the recorded run; 0 for none", setSlices},
		{"formats", "LIST", "files to write: json, csv, parquet, jsonl (the recordings merged); default: json,csv,parquet", addFormats},
		{"output-dir", "DIR", "where the files go; default: server_metrics_replay beside the first recording",
			func(o *Options, v string) error { o.OutputDir = v; return nil }},
		{"type", "NAME=TYPE", "type of a family: gauge, counter or unknown; may be repeated. A recording of this program tells its types", addTypes},
		{"percentile-bounds", "", "add p*_lower and p*_upper, between which the true percentiles of histograms lie",
			func(o *Options, _ string) error { o.Bounds = true; return nil }},
	}
}

func nanoseconds(v string) (*int64, error) {
	ns, err := scalar.Count(v)
	if err != nil || ns < 0 {
		return nil, fmt.Errorf("%q is not a number of nanoseconds since 1970", v)
	}
	return &ns, nil
}

func setSlices(o *Options, v string) error {
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

func addFormats(o *Options, v string) error {
	for _, name := range words(v) {
		name = strings.ToLower(name)
		if !slices.Contains(formats[:], name) {
			return fmt.Errorf("unknown format %q: choose from %s", name, strings.Join(formats[:], ", "))
		}
		if !slices.Contains(o.Formats, name) {
			o.Formats = append(o.Formats, name)
		}
	}
	return nil
}

func words(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}

func addTypes(o *Options, v string) error {
	for _, pair := range words(v) {
		at := strings.LastIndexByte(pair, '=')
		if at <= 0 {
			return fmt.Errorf("%q is not NAME=TYPE", pair)
		}
		t, ok := export.ParseType(strings.ToLower(pair[at+1:]))
		if !ok || t == prom.Histogram {
			return fmt.Errorf("unknown type %q of %s: choose gauge, counter or unknown; histograms show by their buckets", pair[at+1:], pair[:at])
		}
		if o.Types == nil {
			o.Types = map[string]prom.Type{}
		}
		o.Types[pair[:at]] = t
	}
	return nil
}

// ParseArgs reads the arguments of the command. Options and recordings may stand in any order; after -- all are
// recordings.
func ParseArgs(args []string) (Options, error) {
	var o Options
	table := flags()
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			o.Recordings = append(o.Recordings, args...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			o.Recordings = append(o.Recordings, arg)
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		i := slices.IndexFunc(table, func(f flag) bool { return f.name == name })
		if i < 0 || !strings.HasPrefix(arg, "--") {
			return o, fmt.Errorf("unknown option %s; see aiperf server-metrics --help", arg)
		}
		f := table[i]
		switch {
		case f.value == "" && given:
			return o, fmt.Errorf("option --%s takes no value", name)
		case f.value != "" && !given && len(args) == 0:
			return o, fmt.Errorf("option --%s needs a value: %s", name, f.value)
		case f.value != "" && !given:
			value, args = args[0], args[1:]
		}
		if err := f.set(&o, value); err != nil {
			return o, fmt.Errorf("option --%s: %w", name, err)
		}
		if name == "formats" {
			args = moreFormats(&o, args)
		}
	}
	return o, o.check()
}

// moreFormats takes the formats that follow as arguments of their own: "--formats json csv".
func moreFormats(o *Options, args []string) []string {
	for len(args) > 0 && slices.Contains(formats[:], strings.ToLower(args[0])) {
		_ = addFormats(o, args[0]) // it is one
		args = args[1:]
	}
	return args
}

func (o *Options) check() error {
	if len(o.Recordings) == 0 {
		return fmt.Errorf("no recording given: aiperf server-metrics RECORDING.jsonl …")
	}
	if o.FromNS != nil && o.ToNS != nil && *o.FromNS > *o.ToNS {
		return fmt.Errorf("the window is empty: --from %d is after --to %d", *o.FromNS, *o.ToNS)
	}
	return nil
}

// Help is the text of the command's --help.
func Help() string {
	var b strings.Builder
	b.WriteString(`Usage: aiperf server-metrics RECORDING.jsonl [RECORDING.jsonl …] [options]

Computes the server metrics of a run anew from its recordings (server_metrics_export.jsonl, written with
--server-metrics-formats jsonl), without a server: for another window, with other timeslices, in other formats.
Several recordings are merged.

What the lines of a recording lack stands in server_metrics_recording.json beside it. With it and without any
option the files are those of the run, byte by byte. Without it, buckets mean a histogram, other types follow
from well-known names and endings such as _total, and all samples count unless a window is given.

Options:
`)
	for _, f := range flags() {
		fmt.Fprintf(&b, "  --%s\n", strings.TrimRight(f.name+" "+f.value, " "))
		for _, line := range wrap(f.help, 100) {
			b.WriteString("        " + line + "\n")
		}
	}
	return b.String()
}

// wrap breaks a text into lines of at most width bytes.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

package recompute

import (
	"fmt"
	"slices"
	"strings"

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
	// OutputDir is where they go; "" means server_metrics_replay in the folder of the first recording.
	OutputDir string
	// Types are the types of families for which the recording has none, or a wrong one.
	Types map[string]prom.Type
	// Bounds adds to each estimated percentile between which bounds the true one lies.
	Bounds bool

	// CSVComments and LegacyJSON are what the environment asks for.
	CSVComments, LegacyJSON bool
	// Version is that of this program, for recordings that do not say which one wrote them.
	Version string
	// Written is called for each file, Warn with each warning; they may be nil.
	Written func(name, path string)
	Warn    func(message string)
}

// Formats lists the names that AddFormats knows.
func Formats() []string { return []string{"json", "csv", "jsonl", "parquet"} }

// AddFormats adds the names of a list to the formats.
func (o *Options) AddFormats(v string) error {
	for _, name := range words(v) {
		name = strings.ToLower(name)
		if !slices.Contains(Formats(), name) {
			return fmt.Errorf("unknown format %q: choose from %s", name, strings.Join(Formats(), ", "))
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

// AddTypes adds the pairs NAME=TYPE of a list to the types.
func (o *Options) AddTypes(v string) error {
	for _, pair := range words(v) {
		at := strings.LastIndexByte(pair, '=')
		if at <= 0 {
			return fmt.Errorf("%q is not NAME=TYPE", pair)
		}
		t, ok := export.ParseType(strings.ToLower(pair[at+1:]))
		if !ok || t == prom.Histogram {
			return fmt.Errorf("unknown type %q of %s: choose gauge, counter or unknown; histograms are recognized by "+
				"their buckets", pair[at+1:], pair[:at])
		}
		if o.Types == nil {
			o.Types = map[string]prom.Type{}
		}
		o.Types[pair[:at]] = t
	}
	return nil
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

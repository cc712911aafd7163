package cli

import (
	"strings"
	"testing"

	"aiperf/internal/cli/look"
	"aiperf/internal/watch/prom"
)

func TestServerMetricsFlags(t *testing.T) {
	var o look.ReplayOptions
	recordings, err := o.Table().Parse([]string{
		"a.jsonl", "--from", "5", "--to=7", "--slice-duration", "0.5", "--formats", "JSON", "csv", "b.jsonl",
		"--formats=parquet,json", "--output-dir", "out", "--type", "a=b=gauge", "--percentile-bounds", "--", "--c",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(recordings, " "); got != "a.jsonl b.jsonl --c" {
		t.Errorf("recordings %s", got)
	}
	if got := strings.Join(o.Formats, " "); got != "json csv parquet" {
		t.Errorf("formats %s", got)
	}
	if *o.FromNS != 5 || *o.ToNS != 7 || *o.SliceSeconds != 0.5 || o.OutputDir != "out" ||
		o.Types["a=b"] != prom.Gauge || !o.Bounds {
		t.Errorf("options %+v", o)
	}
}

func TestServerMetricsMistakes(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"a --from", "--from needs a value"},
		{"a --from x", "not a number of nanoseconds"},
		{"a --from -1", "not a number of nanoseconds"},
		{"a --slice-duration -1", "not a number of seconds"},
		{"a --slice-duration nan", "not a number of seconds"},
		{"a --formats xml", "json, csv, jsonl, parquet"},
		{"a --type x", "NAME=TYPE"},
		{"a --type x=histogram", "gauge, counter or unknown"},
		{"a --percentile-bounds=1", "takes no value"},
		{"a --unknown 1", "unknown option --unknown"},
		{"a -from 1", "unknown option -from"},
	} {
		var o look.ReplayOptions
		if _, err := o.Table().Parse(strings.Fields(c.args)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %s", c.args, err, c.want)
		}
	}
}

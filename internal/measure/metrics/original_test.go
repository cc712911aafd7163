package metrics

import (
	"os"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// The metrics that runs of AIPerf 0.13 were seen to have are ours too, with the same tags and units.
func TestMetricsOfTheOriginal(t *testing.T) {
	text, err := os.ReadFile("testdata/metrics-0.13.tsv")
	if err != nil {
		t.Fatal(err)
	}
	// Whole bytes here; docs/compatibility.md says so.
	other := map[string]Unit{"http_req_data_sent": Bytes, "http_req_data_received": Bytes}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	for _, line := range lines {
		tag, name, _ := strings.Cut(line, "\t")
		d, known := Lookup(tag)
		want := Unit(name)
		if u, differs := other[tag]; differs {
			want = u
		}
		if !known || d.Display != want {
			t.Errorf("%s: %q there, %q here", tag, want, d.Display)
		}
	}
	if len(lines) < 80 {
		t.Errorf("%d metrics", len(lines))
	}
}

// Values have the unit that they are written in: a size in KB is one in bytes here.
func TestRestoreFromMetricsConvertsUnits(t *testing.T) {
	r := &record.Record{Facts: record.NewFacts()}
	r.Facts[record.StartWall] = t0
	err := RestoreFromMetrics(r, t0+5*ms, map[string]LineMetric{
		"http_req_data_sent":  {[]byte("0.224609375"), Kilobytes},
		"request_latency":     {[]byte("4.25"), Milliseconds},
		"time_to_first_token": {[]byte("0.001"), Seconds},
	})
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[record.Field]int64{
		record.BytesSent: 230, record.LastContent: 4_250_000, record.FirstContent: ms, record.LastResponse: 5 * ms,
		record.Contents: 1,
		record.End:      record.Absent, record.Ack: record.Absent,
	} {
		if r.Facts[field] != want {
			t.Errorf("%s = %d, want %d", field, r.Facts[field], want)
		}
	}
}

package recompute_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/recompute"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

const second = int64(time.Second)

// start is the start of the profiling phase of live.
const start = 1765386433596361000

// live imitates a run that collects: pages go through the parser into the store and the recording.
type live struct {
	t        *testing.T
	dir      string
	store    *servermetrics.Store
	recorder *export.Recorder
	parsers  map[string]*prom.Parser
	bodies   map[string]string
	info     export.Info
}

func newLive(t *testing.T, name string) *live {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	concurrency, rate := 8, 2.5
	l := &live{
		t: t, dir: dir, store: servermetrics.NewStore(servermetrics.Options{}),
		parsers: map[string]*prom.Parser{}, bodies: map[string]string{},
		info: export.Info{
			AIPerfVersion: "1.0.0", BenchmarkID: "5f0c2f2e-7d1c-4a64-8a53-0d5c7f6d9b11",
			Configured: []string{urlB, urlA, "http://gone:1/metrics"}, Successful: []string{urlB, urlA},
			Window: servermetrics.Window{StartNS: start, EndNS: start + 20*second},
			Warmup: servermetrics.Window{StartNS: start - 6*second, EndNS: start - second},
			InputConfig: artifact.Object{
				{Key: "models", Value: []string{"m<&>ü"}},
				{Key: "phases", Value: []any{artifact.Object{{Key: "rate", Value: 1e-7}, {Key: "none", Value: nil},
					{Key: "empty", Value: artifact.Object{}}}}},
			},
			Models: []string{"m"}, Concurrency: &concurrency, RequestRate: &rate,
			ExportTime: time.Unix(0, start+25*second+123456789), Hostname: "host",
			SliceNS: 3 * second, Location: time.FixedZone("", 3600), EndLocation: time.FixedZone("", 7200),
		},
	}
	l.store.Endpoint(urlB)
	l.store.Endpoint(urlA)
	var err error
	if l.recorder, err = export.NewRecorder(path, export.SidecarPath(path), l.info,
		export.RecorderOptions{}); err != nil {
		t.Fatal(err)
	}
	return l
}

const (
	urlA = "http://a:8000/metrics"
	urlB = "https://b/v1/metrics"
)

// scrape is a page of an endpoint at an instant.
func (l *live) scrape(url, body string, ns int64) {
	l.t.Helper()
	p := l.parsers[url]
	if p == nil {
		p = prom.NewParser(prom.Options{})
		l.parsers[url] = p
	}
	samples, err := p.Parse([]byte(body), false)
	if err != nil {
		l.t.Fatalf("%v in\n%s", err, body)
	}
	s := servermetrics.Scrape{
		TimestampNS: ns, LatencyNS: ns % 1000 * 1000, RequestSentNS: ns - 5000, FirstByteNS: ns,
		Duplicate: l.bodies[url] == body, Samples: samples, Phase: phaseAt(ns),
	}
	l.bodies[url] = body
	l.store.Endpoint(url).Add(s)
	l.recorder.Scraped(url, s)
}

// phaseAt is the phase of a scrape of live.
func phaseAt(ns int64) *servermetrics.PhaseID {
	switch {
	case ns < start-6*second:
		return nil
	case ns < start:
		return &servermetrics.PhaseID{Profiling: -1, Name: "warmup", Kind: "warmup"}
	}
	return &servermetrics.PhaseID{Index: 1, Name: "profiling", Kind: "profiling"}
}

// exports writes all files of the run.
func (l *live) exports() {
	l.t.Helper()
	if err := l.recorder.Finish(l.info, l.store); err != nil {
		l.t.Fatal(err)
	}
	run := export.NewRun(l.store, l.info)
	base := filepath.Join(l.dir, "server_metrics_export")
	err := export.All(context.Background(), []export.Exporter{
		export.JSON{Path: base + ".json", Run: run}, export.CSV{Path: base + ".csv", Run: run},
		export.Parquet{Path: base + ".parquet", Run: run}, export.LegacyJSON{Path: base + "_legacy.json", Run: run},
	}, func(export.Exporter) {}, func(m string) { l.t.Error(m) })
	if err != nil {
		l.t.Fatal(err)
	}
}

// page is a page with everything that is hard to record: families in two blocks, info series between others,
// series that come and go, a help text that changes alone, buckets that change.
func page(r *rand.Rand, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# HELP z_seconds help %d\n# TYPE z_seconds histogram\n", n/7)
	count := n * 3
	for k, le := range []string{"0.1", "1.0", "1e+1"} {
		fmt.Fprintf(&b, "z_seconds_bucket{le=%q,x=\"%d\"} %d\n", le, n%2, count*(k+1)/4)
	}
	fmt.Fprintf(&b, "z_seconds_bucket{le=\"+Inf\",x=\"%d\"} %d\nz_seconds_sum{x=\"%d\"} "+
		"%v\nz_seconds_count{x=\"%d\"} %d\n",
		n%2, count, n%2, float64(count)*0.4, n%2, count)
	b.WriteString("# TYPE m gauge\nm{i=\"1\"} 1\n# TYPE build_info gauge\n")
	if n%5 != 4 {
		fmt.Fprintf(&b, "build_info{version=\"%d\"} %d\n", n/10, 1+n/12)
	}
	fmt.Fprintf(&b, "# TYPE a_tokens_total counter\na_tokens_total{q=\"quote \\\" back \\\\ line \\n ü\"} %d\n",
		n*n%500)
	fmt.Fprintf(&b, "m{i=\"2\"} %v\nm{i=\"3\"} %v\n", r.Float64()*1e-9, -float64(n%3))
	fmt.Fprintf(&b, "plain_total %d\n# TYPE target info\ntarget_info{a=\"b\"} 1\nlate_%d{e=\"\"} 1e300\nm 5\n", n, n/9)
	return b.String()
}

// recorded is a run of two endpoints with warm-up, final scrapes, duplicates and late arrivals.
func recorded(t *testing.T, name string) *live {
	l := newLive(t, name)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		at := start + int64(n-10)*second*7/10
		l.scrape(urlA, page(r, n-n%3), at)
		if n%2 == 0 {
			l.scrape(urlB, page(r, n), at+int64(n%4)*second)
		}
	}
	// The server was restarted with other buckets and another type.
	l.parsers[urlA] = nil
	l.scrape(urlA, "# TYPE z_seconds histogram\nz_seconds_bucket{le=\"1.0\",x=\"1\"} "+
		"200\nz_seconds_bucket{le=\"5\",x=\"1\"} 200\nz_seconds_sum{x=\"1\"} 60\nz_seconds_count{x=\"1\"} 200\n# "+
		"TYPE plain_total histogram\nplain_total_sum 1\n", start+21*second)
	l.exports()
	return l
}

// replay runs the command on a recording and returns the directory with its files.
func replayed(t *testing.T, o recompute.Options) string {
	t.Helper()
	o.OutputDir = filepath.Join(t.TempDir(), "again")
	o.LegacyJSON = true
	if err := recompute.ServerMetrics(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	return o.OutputDir
}

func sameFiles(t *testing.T, a, b string, names ...string) {
	t.Helper()
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, want) {
			at := 0
			for at < len(got) && at < len(want) && got[at] == want[at] {
				at++
			}
			t.Errorf("%s differs at byte %d:\n got %q\nwant %q", name, at, got[max(at-200, 0):min(at+100, len(got))],
				want[max(at-200, 0):min(at+100, len(want))])
		}
	}
}

var allFiles = []string{
	"server_metrics_export.json", "server_metrics_export.csv", "server_metrics_export.parquet",
	"server_metrics_export_legacy.json",
}

func TestRecordingGivesTheFilesOfTheRunAgain(t *testing.T) {
	l := recorded(t, "server_metrics_export.jsonl")
	again := replayed(t, recompute.Options{Recordings: []string{filepath.Join(l.dir, "server_metrics_export.jsonl")}})
	sameFiles(t, l.dir, again, allFiles...)
}

func TestMergedRecordingIsItsOwnRecording(t *testing.T) {
	l := recorded(t, "server_metrics_export.jsonl")
	again := replayed(t, recompute.Options{
		Recordings: []string{filepath.Join(l.dir, "server_metrics_export.jsonl")},
		Formats:    []string{"jsonl", "json", "csv", "parquet"},
	})
	sameFiles(t, l.dir, again, append(allFiles, "server_metrics_export.jsonl", "server_metrics_recording.json")...)
}

func TestWindowThatWasAskedForHasNoWarmup(t *testing.T) {
	l := recorded(t, "server_metrics_export.jsonl")
	again := replayed(t, recompute.Options{Recordings: []string{filepath.Join(l.dir, "server_metrics_export.jsonl")},
		FromNS: new(start + second)})
	for dir, want := range map[string]bool{l.dir: true, again: false} {
		text, err := os.ReadFile(filepath.Join(dir, "server_metrics_export.json"))
		if err != nil || !bytes.Contains(text, []byte(`"metrics_phase": "profiling"`)) {
			t.Fatalf("%s, %v", text, err)
		}
		if bytes.Contains(text, []byte(`"warmup_metrics"`)) != want ||
			bytes.Contains(text, []byte(`"warmup": {`)) != want {
			t.Errorf("%s: warm-up %v, want %v", dir, !want, want)
		}
	}
}

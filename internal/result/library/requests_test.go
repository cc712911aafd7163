package library_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/result/library"
)

// line is a line of the per-request file; latency 0 is a failure.
func line(i int, latency float64, failure string) string {
	body := fmt.Sprintf(`"metrics":{"request_latency":{"value":%g,"unit":"ms"},`+
		`"inter_chunk_latency":{"value":[1,2],"unit":"ms"}}`, latency)
	if failure != "" {
		body = fmt.Sprintf(`"metrics":{},"error":{"code":503,"type":"Unavailable","message":%q}`, failure)
	}
	return fmt.Sprintf(`{"metadata":{"session_num":%d,"x_request_id":"r-%[1]d","x_correlation_id":"c-%d",`+
		`"conversation_id":"s-%d","turn_index":0,"request_start_ns":%d,"request_end_ns":%d,"worker_id":"w",`+
		`"record_processor_id":"p","benchmark_phase":"profiling"},%s}`+"\n", i, i/2, i/4, 1000+i, 2000+i, body)
}

// recorded are 1,000 requests: each tenth fails with one of two errors, the latency of request i is i*7%1000.
func recorded() string {
	var b strings.Builder
	for i := range 1000 {
		failure := ""
		if i%10 == 0 {
			failure = fmt.Sprintf("Overloaded %d", i/10%2)
		}
		b.WriteString(line(i, float64(i*7%1000)+0.5, failure))
	}
	return b.String()
}

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile_export.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func index(t testing.TB, path string, o library.IndexOptions) *library.RequestIndex {
	t.Helper()
	x, err := library.BuildIndex(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ids(t *testing.T, x *library.RequestIndex, q library.Query) (total int, list []string) {
	t.Helper()
	a, err := x.Find(q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	for _, m := range a.Matches {
		list = append(list, m.RequestID)
	}
	return a.Total, list
}

func latencies(low, high float64) []library.Range {
	return []library.Range{{Tag: "request_latency", Low: low, High: high}}
}

func times(kind library.TimeKind, from, to int64) []library.TimeRange {
	return []library.TimeRange{{Kind: kind, FromNS: from, ToNS: to}}
}

func TestQueries(t *testing.T) {
	path := write(t, recorded())
	built := index(t, path, library.IndexOptions{})
	saved := filepath.Join(t.TempDir(), "index")
	if err := built.Save(saved); err != nil {
		t.Fatal(err)
	}
	loaded, err := library.LoadIndex(saved, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*library.RequestIndex{built, loaded} {
		for _, c := range []struct {
			q     library.Query
			total int
			first string // the first ones
		}{
			{library.Query{Limit: 2}, 1000, "r-0 r-1"},
			{library.Query{From: 998, Limit: 9}, 1000, "r-998 r-999"},
			{library.Query{Down: true, Limit: 2}, 1000, "r-999 r-998"},
			{library.Query{Text: "18", Limit: 9}, 1, "r-17"},
			{library.Query{Text: "#1,000", Limit: 9}, 1, "r-999"},
			{library.Query{Text: " r-17 ", Limit: 9}, 1, "r-17"},
			{library.Query{Text: "c-4", Limit: 9}, 2, "r-8 r-9"},
			{library.Query{Text: "s-4", Limit: 9}, 4, "r-16 r-17 r-18 r-19"},
			{library.Query{Text: "nobody", Limit: 9}, 0, ""},
			{library.Query{Failed: true, Limit: 2}, 100, "r-0 r-10"},
			{library.Query{Failed: true, From: 99, Limit: 2}, 100, "r-990"},
			{library.Query{Error: "OVERLOADED 1", Limit: 2}, 50, "r-10 r-30"},
			{library.Query{Error: "unavail", Limit: 1}, 100, "r-0"},
			{library.Query{Error: "no such", Limit: 1}, 0, ""},
			{library.Query{Sort: "request_latency", Down: true, Limit: 3}, 900, "r-857 r-714 r-571"},
			{library.Query{Sort: "request_latency", Limit: 2}, 900, "r-143 r-286"},
			{library.Query{Sort: "request_latency", Down: true, From: 899, Limit: 3}, 900, "r-143"},
			{library.Query{Sort: "start", Down: true, Failed: true, Limit: 1}, 100, "r-990"},
			{library.Query{Sort: "time_to_first_token", Limit: 1}, 0, ""},
			{library.Query{Text: "s-4", Sort: "request_latency", Down: true, Limit: 2}, 4, "r-19 r-18"},
			{library.Query{Ranges: latencies(7, 8.6), Limit: 9}, 2, "r-1 r-144"},
			{library.Query{Ranges: latencies(7.5, 7.51), Limit: 9}, 1, "r-1"},
			{library.Query{Ranges: latencies(990, math.Inf(1)), Sort: "request_latency", Limit: 2}, 9, "r-713 r-856"},
			{library.Query{Ranges: append(latencies(0, 500), latencies(498, 900)...), Limit: 9}, 2, "r-214 r-357"},
			{library.Query{Ranges: []library.Range{{Tag: "time_to_first_token", High: 9}}, Limit: 9}, 0, ""},
			{library.Query{Times: times(library.Sent, 1010, 1013), Limit: 9}, 3, "r-10 r-11 r-12"},
			{library.Query{Times: times(library.Sent, 1010, 1013), Failed: true, Limit: 9}, 1, "r-10"},
			{library.Query{Times: times(library.Ended, 7_501_001, 7_501_002), Limit: 9}, 1, "r-1"},
			{library.Query{Times: times(library.InFlight, 0, 1004), Limit: 9}, 4, "r-0 r-1 r-2 r-3"},
			{library.Query{Times: times(library.InFlight, 998_000_000, 999_000_000), Limit: 9}, 2, "r-714 r-857"},
		} {
			if total, list := ids(t, x, c.q); total != c.total || strings.Join(list, " ") != c.first {
				t.Errorf("%+v: %d %v, want %d %s", c.q, total, list, c.total, c.first)
			}
		}
		if x.Has("time_to_first_token") || !x.Has("request_latency") {
			t.Error("the wrong columns")
		}
	}
	for _, q := range []library.Query{{Ranges: []library.Range{{Tag: "nothing"}}}, {Times: times("nothing", 0, 1)}} {
		if _, err := built.Find(q); err == nil {
			t.Errorf("%+v was answered", q)
		}
	}
	if got := built.FirstNS(); got != 1000 {
		t.Errorf("the first request was sent at %d", got)
	}
	if _, err := built.Find(library.Query{Sort: "nothing"}); err == nil {
		t.Error("sorted by nothing")
	}
	if _, err := built.Find(library.Query{Sort: "start", From: library.MaxSorted, Limit: 1}); err == nil {
		t.Error("a sorted list without an end")
	}
}

func TestDamagedLinesAreCounted(t *testing.T) {
	text := line(0, 1, "") + "not a line\n" + line(1, 2, "") + `{"metadata":7}` + "\n\n" + line(2, 3, "") +
		`{"metadata":{"x_request_id":"cut`
	x := index(t, write(t, text), library.IndexOptions{})
	if x.Len() != 3 || x.Damaged != 2 || x.FirstDamaged != 2 {
		t.Errorf("%d requests, %d damaged, the first is %d", x.Len(), x.Damaged, x.FirstDamaged)
	}
	if _, list := ids(t, x, library.Query{Limit: 5}); strings.Join(list, " ") != "r-0 r-1 r-2" {
		t.Error(list)
	}
}

func TestChangedFilesAreNotRead(t *testing.T) {
	path := write(t, recorded())
	x := index(t, path, library.IndexOptions{})
	saved := filepath.Join(t.TempDir(), "index")
	if err := x.Save(saved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(line(0, 1, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Find(library.Query{Limit: 1}); err == nil {
		t.Error("the index of another file answers")
	}
	if _, err := library.LoadIndex(saved, path); !errors.Is(err, library.ErrStale) {
		t.Errorf("the index of another file is loaded: %v", err)
	}
}

func TestDamagedIndexesAreRefused(t *testing.T) {
	path := write(t, recorded())
	saved := filepath.Join(t.TempDir(), "index")
	if err := index(t, path, library.IndexOptions{}).Save(saved); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	format := string(whole[:bytes.IndexByte(whole, '\n')+1]) // the first line
	for _, text := range []string{"", "x", string(whole[:len(whole)/2]), format, format + "{}\n",
		format + `{"Rows":99999999999}` + "\n"} {
		if err := os.WriteFile(saved, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := library.LoadIndex(saved, path); err == nil {
			t.Errorf("%.40q was loaded", text)
		}
	}
}

func TestNamesOfTheRawExport(t *testing.T) {
	text := `{"metadata":{"x_request_id":"a"},"payload":{"x":1},"responses":[{"text":"hi"}]}` + "\n" +
		`{"metadata":{"x_request_id":"b"},"payload":{}}` + "\n"
	x := index(t, write(t, text), library.IndexOptions{Names: true})
	i := x.Named("b")
	if i != 1 || x.Named("c") != -1 || x.Named("") != -1 {
		t.Fatalf("b is at %d", i)
	}
	if line, err := x.Line(i); err != nil || !strings.Contains(string(line), `"b"`) {
		t.Errorf("%s %v", line, err)
	}
}

func TestBuildEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err := library.BuildIndex(ctx, write(t, recorded()), library.IndexOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// big is an index of a million requests, of a file of lines that say no more than it has.
func big(b *testing.B) *library.RequestIndex {
	path := filepath.Join(b.TempDir(), "profile_export.jsonl")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	for i := range 1_000_000 {
		failure := ""
		if i%50 == 49 {
			failure = `,"error":{"type":"T","message":"overloaded"}`
		}
		fmt.Fprintf(w, `{"metadata":{"x_request_id":"r%d","request_start_ns":%[1]d},"metrics":{"request_latency":`+
			`{"value":%g}}%s}`+"\n", i, float64(uint32(i)*2654435761>>8)/1000, failure)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return index(b, path, library.IndexOptions{})
}

// BenchmarkFind searches among 1,000,000 requests, without reading the lines: the page behind From is empty.
func BenchmarkFind(b *testing.B) {
	x := big(b)
	for name, q := range map[string]library.Query{
		"id":          {Text: "r777777", From: 100},
		"slowest":     {Sort: "request_latency", Down: true, From: 100},
		"errors":      {Error: "overl", From: 100},
		"sorted-deep": {Sort: "request_latency", From: library.MaxSorted},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if a, err := x.Find(q); err != nil || a.Total == 0 || len(a.Matches) > 0 {
					b.Fatalf("%+v, %v", a, err)
				}
			}
		})
	}
}

// BenchmarkBuild reads the file that REQUESTS names, or one of some megabytes.
func BenchmarkBuild(b *testing.B) {
	path := os.Getenv("REQUESTS")
	if path == "" {
		path = write(b, strings.Repeat(recorded(), 20))
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		begin := time.Now()
		x := index(b, path, library.IndexOptions{})
		b.ReportMetric(float64(x.Len())/time.Since(begin).Seconds(), "requests/s")
	}
}

// A compressed file has the index of the plain one, and its lines are read from any place of it, also with a saved
// index.
func TestCompressedRecords(t *testing.T) {
	text := recorded()
	plain := index(t, write(t, text), library.IndexOptions{})
	path := filepath.Join(t.TempDir(), "profile_export.jsonl")
	lines, err := artifact.CreateLines(path+bounded.CompressedSuffix, artifact.LinesOptions{Compress: true})
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if err := lines.Add([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if n%100 == 0 {
			lines.Flush() // a frame
		}
	}
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
	built := index(t, path, library.IndexOptions{})
	saved := filepath.Join(t.TempDir(), "index")
	if err := built.Save(saved); err != nil {
		t.Fatal(err)
	}
	loaded, err := library.LoadIndex(saved, path)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*library.RequestIndex{"built": built, "loaded": loaded} {
		if x.Len() != plain.Len() {
			t.Fatalf("%s: %d requests of %d", name, x.Len(), plain.Len())
		}
		for i := range x.Len() {
			want, _ := plain.Line(i)
			if got, err := x.Line(i); err != nil || string(got) != string(want) {
				t.Fatalf("%s, request %d: %s, %v; want %s", name, i, got, err, want)
			}
		}
	}
}

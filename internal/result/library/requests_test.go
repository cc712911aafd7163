package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
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

func index(t testing.TB, path string, o IndexOptions) *RequestIndex {
	t.Helper()
	x, err := BuildIndex(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ids(t *testing.T, x *RequestIndex, q Query) (total int, list []string) {
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

func TestQueries(t *testing.T) {
	path := write(t, recorded())
	built := index(t, path, IndexOptions{})
	saved := filepath.Join(t.TempDir(), "index")
	if err := built.Save(saved); err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadIndex(saved, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*RequestIndex{built, loaded} {
		for _, c := range []struct {
			q     Query
			total int
			first string // the first ones
		}{
			{Query{Limit: 2}, 1000, "r-0 r-1"},
			{Query{From: 998, Limit: 9}, 1000, "r-998 r-999"},
			{Query{Down: true, Limit: 2}, 1000, "r-999 r-998"},
			{Query{Text: "18", Limit: 9}, 1, "r-17"},
			{Query{Text: "#1,000", Limit: 9}, 1, "r-999"},
			{Query{Text: " r-17 ", Limit: 9}, 1, "r-17"},
			{Query{Text: "c-4", Limit: 9}, 2, "r-8 r-9"},
			{Query{Text: "s-4", Limit: 9}, 4, "r-16 r-17 r-18 r-19"},
			{Query{Text: "nobody", Limit: 9}, 0, ""},
			{Query{Failed: true, Limit: 2}, 100, "r-0 r-10"},
			{Query{Failed: true, From: 99, Limit: 2}, 100, "r-990"},
			{Query{Error: "OVERLOADED 1", Limit: 2}, 50, "r-10 r-30"},
			{Query{Error: "unavail", Limit: 1}, 100, "r-0"},
			{Query{Error: "no such", Limit: 1}, 0, ""},
			{Query{Sort: "request_latency", Down: true, Limit: 3}, 900, "r-857 r-714 r-571"},
			{Query{Sort: "request_latency", Limit: 2}, 900, "r-143 r-286"},
			{Query{Sort: "request_latency", Down: true, From: 899, Limit: 3}, 900, "r-143"},
			{Query{Sort: "start", Down: true, Failed: true, Limit: 1}, 100, "r-990"},
			{Query{Sort: "time_to_first_token", Limit: 1}, 0, ""},
			{Query{Text: "s-4", Sort: "request_latency", Down: true, Limit: 2}, 4, "r-19 r-18"},
		} {
			if total, list := ids(t, x, c.q); total != c.total || strings.Join(list, " ") != c.first {
				t.Errorf("%+v: %d %v, want %d %s", c.q, total, list, c.total, c.first)
			}
		}
		if x.Has("time_to_first_token") || !x.Has("request_latency") {
			t.Error("the wrong columns")
		}
	}
	if _, err := built.Find(Query{Sort: "nothing"}); err == nil {
		t.Error("sorted by nothing")
	}
	if _, err := built.Find(Query{Sort: "start", From: MaxSorted, Limit: 1}); err == nil {
		t.Error("a sorted list without an end")
	}
}

func TestDamagedLinesAreCounted(t *testing.T) {
	text := line(0, 1, "") + "not a line\n" + line(1, 2, "") + `{"metadata":7}` + "\n\n" + line(2, 3, "") +
		`{"metadata":{"x_request_id":"cut`
	x := index(t, write(t, text), IndexOptions{})
	if x.Len() != 3 || x.Damaged != 2 || x.FirstDamaged != 2 {
		t.Errorf("%d requests, %d damaged, the first is %d", x.Len(), x.Damaged, x.FirstDamaged)
	}
	if _, list := ids(t, x, Query{Limit: 5}); strings.Join(list, " ") != "r-0 r-1 r-2" {
		t.Error(list)
	}
}

func TestChangedFilesAreNotRead(t *testing.T) {
	path := write(t, recorded())
	x := index(t, path, IndexOptions{})
	saved := filepath.Join(t.TempDir(), "index")
	if err := x.Save(saved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(line(0, 1, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Find(Query{Limit: 1}); err == nil {
		t.Error("the index of another file answers")
	}
	if _, err := LoadIndex(saved, path); !errors.Is(err, ErrStale) {
		t.Errorf("the index of another file is loaded: %v", err)
	}
}

func TestDamagedIndexesAreRefused(t *testing.T) {
	path := write(t, recorded())
	saved := filepath.Join(t.TempDir(), "index")
	if err := index(t, path, IndexOptions{}).Save(saved); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "x", string(whole[:len(whole)/2]), format, format + "{}\n",
		format + `{"Rows":99999999999}` + "\n"} {
		if err := os.WriteFile(saved, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadIndex(saved, path); err == nil {
			t.Errorf("%.40q was loaded", text)
		}
	}
}

func TestNamesOfTheRawExport(t *testing.T) {
	text := `{"metadata":{"x_request_id":"a"},"payload":{"x":1},"responses":[{"text":"hi"}]}` + "\n" +
		`{"metadata":{"x_request_id":"b"},"payload":{}}` + "\n"
	x := index(t, write(t, text), IndexOptions{Names: true})
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
	if _, err := BuildIndex(ctx, write(t, recorded()), IndexOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// big is an index of a million requests, without a file.
func big() *RequestIndex {
	const n = 1_000_000
	x := &RequestIndex{values: make([][]float32, len(Tags)), Kinds: []RequestKind{{Type: "T", Message: "overloaded"}}}
	column := make([]float32, n)
	for i := range n {
		x.offsets, x.starts = append(x.offsets, int64(i)*3000), append(x.starts, int64(i))
		x.flags, x.kinds = append(x.flags, uint8(i%50/49)), append(x.kinds, uint16(i%50/49))
		x.ids = append(x.ids, HashName(fmt.Sprint("r", i)))
		column[i] = float32(uint32(i)*2654435761>>8) / 1000
	}
	x.sessions, x.conversations = x.ids, x.ids
	x.values[0] = column
	return x
}

// BenchmarkFind searches among 1,000,000 requests, without reading the lines.
func BenchmarkFind(b *testing.B) {
	x := big()
	for name, q := range map[string]Query{"id": {Text: "r777777", Limit: 100}, "slowest": {Sort: "request_latency",
		Down: true, Limit: 100}, "errors": {Error: "overl", Limit: 100}, "sorted-deep": {Sort: "request_latency",
		From: 9_900, Limit: 100}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				fits, err := x.filter(&q)
				if err != nil {
					b.Fatal(err)
				}
				if q.Sort == "" {
					x.page(&q, fits)
				} else if _, _, err := x.sorted(&q, fits); err != nil {
					b.Fatal(err)
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
		x := index(b, path, IndexOptions{})
		b.ReportMetric(float64(x.Len())/time.Since(begin).Seconds(), "requests/s")
	}
}

// A compressed file has the index of the plain one, and its lines are read from any place of it, also with a saved
// index.
func TestCompressedRecords(t *testing.T) {
	text := recorded()
	plain := index(t, write(t, text), IndexOptions{})
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
	built := index(t, path, IndexOptions{})
	saved := filepath.Join(t.TempDir(), "index")
	if err := built.Save(saved); err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadIndex(saved, path)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*RequestIndex{"built": built, "loaded": loaded} {
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

package prom

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"aiperf/internal/watch/prom"
)

// engines makes the vLLM page about 300 KB large.
const engines = 7

func read(t *testing.T, who string, f flat, err error, body []byte) flat {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v in\n%.3000s", who, err, body)
	}
	return f
}

func compare(t *testing.T, body []byte, openMetrics bool) {
	t.Helper()
	f, err := ours(body, openMetrics)
	got := read(t, "ours", f, err, body)
	if len(got) == 0 && bytes.Contains(body, []byte(" gauge\n")) && !bytes.ContainsAny(body, "NI") {
		t.Fatalf("nothing read of\n%s", body)
	}
	f, err = textparsed(body, openMetrics)
	same(t, body, "textparse", read(t, "textparse", f, err, body), got)
	if !openMetrics {
		f, err = expfmted(body)
		same(t, body, "expfmt", read(t, "expfmt", f, err, body), got)
	}
}

func TestVLLMPage(t *testing.T) {
	body := vllmPage(t, engines)
	if len(body) < 250_000 {
		t.Fatalf("the page has %d bytes", len(body))
	}
	compare(t, body, false)
}

func TestRandomClassicPages(t *testing.T) {
	for seed := range uint64(2000) {
		compare(t, randomPage(seed, false), false)
	}
}

func TestRandomOpenMetricsPages(t *testing.T) {
	for seed := range uint64(2000) {
		compare(t, randomPage(seed, true), true)
	}
}

// odd are lines that both parsers of Prometheus accept and ours does not: a name with a number right
// after it.
var odd = regexp.MustCompile(`(?m)^[ \t]*[a-zA-Z_:][a-zA-Z0-9_:]*[-+.]`)

// FuzzTolerance: what both parsers of Prometheus accept, ours accepts.
func FuzzTolerance(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(string(randomPage(seed, false)))
	}
	f.Add("{\"my.metric\",a=\"1\"} 3\n# TYPE \"my.metric\" gauge\n")
	f.Fuzz(func(t *testing.T, body string) {
		if _, err := textparsed([]byte(body), false); err != nil || odd.MatchString(body) {
			return
		}
		if _, err := expfmted([]byte(body)); err != nil {
			return
		}
		if _, err := ours([]byte(body), false); err != nil {
			t.Fatalf("ours alone rejects %q: %v", body, err)
		}
	})
}

func BenchmarkOurs(b *testing.B) {
	body := vllmPage(b, engines)
	p := prom.NewParser(prom.Options{})
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Parse(body, false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTextparse reads the series and the labels of each, as a scrape without a cache would.
func BenchmarkTextparse(b *testing.B) { benchmarkTextparse(b, true) }

// BenchmarkTextparseWithoutLabels reads the bytes of each series only, as Prometheus does for series
// that its cache knows.
func BenchmarkTextparseWithoutLabels(b *testing.B) { benchmarkTextparse(b, false) }

func benchmarkTextparse(b *testing.B, withLabels bool) {
	body := vllmPage(b, engines)
	table := labels.NewSymbolTable()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		p := textparse.NewPromParser(body, table, false)
		for {
			entry, err := p.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			if entry == textparse.EntrySeries {
				_, _, _ = p.Series()
				if withLabels {
					var l labels.Labels
					p.Labels(&l)
				}
			}
		}
	}
}

func BenchmarkExpfmt(b *testing.B) {
	body := vllmPage(b, engines)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		p := expfmt.NewTextParser(model.UTF8Validation)
		if _, err := p.TextToMetricFamilies(bytes.NewReader(body)); err != nil {
			b.Fatal(err)
		}
	}
}

package prom_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"aiperf/internal/watch/prom"
)

// largePage returns the vLLM page of testdata with the samples of so many engines.
func largePage(tb testing.TB, engines int) string {
	tb.Helper()
	data, err := os.ReadFile("testdata/vllm.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	var block []string
	flush := func() {
		for e := range engines {
			for _, l := range block {
				b.WriteString(strings.Replace(l, `engine="0"`, fmt.Sprintf(`engine="%d"`, e), 1))
			}
		}
		block = nil
	}
	for l := range strings.Lines(string(data)) {
		if strings.Contains(l, `engine="0"`) {
			block = append(block, l)
			continue
		}
		flush()
		b.WriteString(l)
	}
	flush()
	return b.String()
}

var integral = regexp.MustCompile(`(\d)\.0\n`)

// later returns a page with the same series and other values.
func later(page string) string { return integral.ReplaceAllString(page, "${1}7.0\n") }

func BenchmarkParse(b *testing.B) {
	page := largePage(b, 7)
	bodies := [][]byte{[]byte(page), []byte(later(page))}
	p := prom.NewParser(prom.Options{})
	for _, body := range bodies {
		if _, err := p.Parse(body, false); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(bodies[0])+len(bodies[1])) / 2)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := p.Parse(bodies[i%2], false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseFirst(b *testing.B) {
	body := []byte(largePage(b, 7))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := prom.NewParser(prom.Options{}).Parse(body, false); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	page := largePage(t, 7)
	crlf := strings.ReplaceAll(page, "\n", "\r\n")
	spaced := strings.ReplaceAll(page, "# HELP", "\n \n# HELP")
	bad := page + "x NaN\n"
	for name, text := range map[string]string{"plain": page, "CRLF": crlf, "blank lines": spaced,
		"no final newline": page[:len(page)-1], "NaN": bad} {
		p := prom.NewParser(prom.Options{Notice: func(prom.NoticeKind, string, string) {}})
		first, second := []byte(text), []byte(later(text))
		if _, err := p.Parse(first, false); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Parse(second, false); err != nil {
			t.Fatal(err)
		}
		got := testing.AllocsPerRun(10, func() {
			_, _ = p.Parse(first, false)
			_, _ = p.Parse(second, false)
		})
		if got != 0 {
			t.Errorf("%s: %v allocations in the steady state", name, got)
		}
	}
}

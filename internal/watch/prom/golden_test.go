package prom_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/watch/prom"
)

// TestGoldenPages reads whole pages and holds families, units, samples and notices to a file.
func TestGoldenPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			body, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			var notices collected
			p := prom.NewParser(prom.Options{Notice: notices.add})
			samples, err := p.Parse(body, strings.Contains(page, "openmetrics"))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			for _, f := range p.Families() {
				fmt.Fprintf(&out, "%s %s [%s] %q\n", f.Type, f.Name, prom.InferUnit(f.Name, f.Help), f.Help)
			}
			fmt.Fprintf(&out, "\n%s\n%s\n", dump(samples), strings.Join(notices, "\n"))
			testkit.Golden(t, strings.TrimSuffix(page, ".txt")+".golden", out.Bytes())
		})
	}
}

package metrics_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
)

// TestPagesOfOtherToolsNameMetricsThatExist looks up the tags in the second column of the tables "Metrics" of the pages
// for users of other tools.
func TestPagesOfOtherToolsNameMetricsThatExist(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/from-*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	tag := regexp.MustCompile("`([a-z_0-9]+)`")
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(string(text), "\n## Metrics\n")
		for line := range strings.Lines(table) {
			cells := strings.Split(line, "|")
			if len(cells) < 4 {
				continue
			}
			for _, m := range tag.FindAllStringSubmatch(cells[2], -1) {
				if _, ok := metrics.Lookup(m[1]); !ok && m[1] != "error_summary" {
					t.Errorf("%s: there is no metric %s", page, m[1])
				}
				found++
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d metrics found", found)
	}
}

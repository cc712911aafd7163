package endpoint

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"aiperf/internal/wire/api"
)

// The table of docs/endpoints.md reports what the registry does.
func TestPageTellsOfEveryType(t *testing.T) {
	page, err := os.ReadFile("../../../docs/endpoints.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); len(cells) == 6 && strings.HasPrefix(line, "| `") {
			rows[strings.Trim(cells[0], "| `")] = cells
		}
	}
	for _, d := range api.All() {
		row, told := rows[d.Name]
		delete(rows, d.Name)
		if _, built := api.Lookup(d.Name); built != told {
			t.Errorf("%s: built %v, in the page %v", d.Name, built, told)
		}
		if !told {
			continue
		}
		path := "none"
		if d.Path != "" {
			path = "`" + d.Path + "`"
		}
		if d.StreamingPath != "" {
			path += fmt.Sprintf(" (`%s`)", d.StreamingPath)
		}
		streams := "no"
		switch {
		case d.StreamsOnly:
			streams = "always"
		case d.Streams:
			streams = "yes"
		}
		if form := strings.HasPrefix(row[3], "form"); row[1] != path || row[2] != streams || form != d.FormDataOnly ||
			strings.TrimSuffix(row[5], " |\n") != d.MetricsTitle {
			t.Errorf("%s: the page says %q; the registry %s, streams %s, form %v, %s", d.Name, row, path, streams,
				d.FormDataOnly, d.MetricsTitle)
		}
	}
	for name := range rows {
		t.Errorf("the page tells of %s, which is no type", name)
	}
}

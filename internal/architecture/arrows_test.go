// Package architecture holds no code: its test keeps the imports between the packages equal to the
// table of ARCHITECTURE.md.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "aiperf/"

// TestArrows fails on an import between our packages that the table does not list, and on a row of
// the table that no package needs any more.
func TestArrows(t *testing.T) {
	listed := readTable(t)
	actual := readImports(t)
	for from, imports := range actual {
		allowed, ok := listed[from]
		if !ok {
			t.Errorf("%s has no row in ARCHITECTURE.md", from)
			continue
		}
		for _, to := range imports {
			if !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s, which ARCHITECTURE.md does not list", from, to)
			}
		}
		for _, to := range allowed {
			if !slices.Contains(imports, to) {
				t.Errorf("ARCHITECTURE.md lists %s → %s, but there is no such import", from, to)
			}
		}
	}
	for from := range listed {
		if _, ok := actual[from]; !ok {
			t.Errorf("ARCHITECTURE.md lists the package %s, which does not exist", from)
		}
	}
}

var code = regexp.MustCompile("`([a-z0-9/-]+)`")

// readTable reads the rows "| `package` | purpose | `import` `import` |".
func readTable(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			continue
		}
		name := code.FindStringSubmatch(cells[0])
		if name == nil || !(strings.HasPrefix(name[1], "internal/") || strings.HasPrefix(name[1], "cmd/")) {
			continue
		}
		imports := []string{}
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			imports = append(imports, "internal/"+m[1])
		}
		table[name[1]] = imports
	}
	if len(table) < 10 {
		t.Fatalf("only %d rows found in ARCHITECTURE.md", len(table))
	}
	return table
}

func readImports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", "aiperf/internal/...", "aiperf/cmd/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	imports := map[string][]string{}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Imports    []string
			GoFiles    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return imports
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) == 0 {
			continue
		}
		ours := []string{}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, module) {
				ours = append(ours, strings.TrimPrefix(i, module))
			}
		}
		imports[strings.TrimPrefix(p.ImportPath, module)] = ours
	}
}

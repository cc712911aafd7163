// Package architecture holds no code: its tests keep the imports between the packages and between the wings equal to
// the tables of ARCHITECTURE.md.
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

// TestRooms fails on an import between our packages that the table of rooms does not list, and on a row of the table
// that no package needs any more.
func TestRooms(t *testing.T) { compare(t, readTable(t, "rooms"), readImports(t)) }

// TestWings does the same for the wings, the first level of internal/, and fails on a circle of them.
func TestWings(t *testing.T) {
	listed := readTable(t, "wings")
	actual := map[string][]string{}
	for room, imports := range readImports(t) {
		if strings.HasPrefix(room, "cmd/") {
			continue
		}
		from := wing(room)
		if _, ok := actual[from]; !ok {
			actual[from] = nil
		}
		for _, to := range imports {
			if to := wing(to); to != from && !slices.Contains(actual[from], to) {
				actual[from] = append(actual[from], to)
			}
		}
	}
	compare(t, listed, actual)

	done := map[string]bool{}
	var visit func(path []string, name string)
	visit = func(path []string, name string) {
		if slices.Contains(path, name) {
			t.Fatalf("a circle of wings: %s", strings.Join(append(path, name), " → "))
		}
		if done[name] {
			return
		}
		for _, to := range actual[name] {
			visit(append(slices.Clone(path), name), to)
		}
		done[name] = true
	}
	for name := range actual {
		visit(nil, name)
	}
}

// TestWalks fails on a hop of the way of a flag, a request or a reply that is not in the code, on a room that such a way
// meets twice, and on a file of a recipe that is not there.
func TestWalks(t *testing.T) {
	data, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	hops := 0
	var met map[string]bool // the rooms of the table
	walks := false
	for line := range strings.Lines(string(data)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			walks = strings.HasPrefix(heading, "The way of ")
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !walks || len(cells) < 3 {
			met = map[string]bool{}
			continue
		}
		var rooms []string
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			rooms = append(rooms, m[1])
			if met[m[1]] {
				t.Errorf("%s is met twice: %s", m[1], line)
			}
			met[m[1]] = true
		}
		if rooms == nil {
			continue
		}
		hops++
		where := cells[1:2]
		if len(cells) > 3 { // one column for each flag
			where = cells[2:]
		}
		for _, cell := range where {
			checkHop(t, rooms, cell, line)
		}
	}
	if hops < 15 {
		t.Errorf("only %d hops found", hops)
	}
	_, recipes, _ := strings.Cut(string(data), "## Where do I add")
	recipes, _, _ = strings.Cut(recipes, "## Rooms")
	files := regexp.MustCompile("`([a-z]+/[a-z/._-]*\\.go)`").FindAllStringSubmatch(recipes, -1)
	if len(files) < 15 {
		t.Errorf("only %d files found in the recipes", len(files))
	}
	for _, m := range files {
		if _, err := os.Stat("../" + m[1]); err != nil {
			t.Errorf("no file %s, which ARCHITECTURE.md names", m[1])
		}
	}
}

// checkHop fails on a file that is in none of the rooms, and on a function that is not in the file before it.
func checkHop(t *testing.T, rooms []string, cell, line string) {
	t.Helper()
	text := ""
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		name := m[1]
		if !strings.HasSuffix(name, ".go") {
			if text != "" && !regexp.MustCompile(`func (\([^)]*\) )?`+name+`\b`).MatchString(text) {
				t.Errorf("no function %s where ARCHITECTURE.md has it: %s", name, line)
			}
			continue
		}
		text = ""
		for _, room := range rooms {
			if file, err := os.ReadFile("../" + room + "/" + name); err == nil {
				text = string(file)
			}
		}
		if text == "" {
			t.Errorf("no file %s where ARCHITECTURE.md has it: %s", name, line)
		}
	}
}

func wing(room string) string {
	name, _, _ := strings.Cut(room, "/")
	return name
}

// compare fails where a row of the table and the imports in the code differ.
func compare(t *testing.T, listed, actual map[string][]string) {
	t.Helper()
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
			t.Errorf("ARCHITECTURE.md lists %s, which does not exist", from)
		}
	}
}

var code = regexp.MustCompile("`([a-z0-9/-]+)`")

// columns is the number of cells in a row of each table: "| `room` | holds | `import` `import` |" and
// "| `wing` | answers | must never know | `import` |".
var columns = map[string]int{"rooms": 3, "wings": 4}

// readTable reads what a table of ARCHITECTURE.md, named by the heading above it, lets each row import.
func readTable(t *testing.T, name string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string][]string{}
	in := false
	for line := range strings.Lines(string(data)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			in = strings.EqualFold(strings.TrimSpace(heading), name)
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !in || len(cells) != columns[name] {
			continue
		}
		row := code.FindStringSubmatch(cells[0])
		if row == nil {
			continue
		}
		imports := []string{}
		for _, m := range code.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			imports = append(imports, m[1])
		}
		table[row[1]] = imports
	}
	if len(table) < 10 {
		t.Fatalf("only %d %s found in ARCHITECTURE.md", len(table), name)
	}
	return table
}

// readImports returns what each package imports of ours, without "internal/".
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
				ours = append(ours, room(i))
			}
		}
		imports[room(p.ImportPath)] = ours
	}
}

func room(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "internal/")
}

// Package architecture holds no code: its tests compare the packages, their imports and their files with ARCHITECTURE.md.
package architecture_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module   = "aiperf/"
	internal = module + "internal/"
)

// TestWings fails on an import between two wings, the first level of internal/, that the table of wings does not list, on
// an entry of the table that no package needs any more, and on a circle of wings.
func TestWings(t *testing.T) {
	listed := readTable(t)
	actual := map[string][]string{}
	for path, imports := range readImports(t) {
		if !strings.HasPrefix(path, internal) {
			continue
		}
		from := wing(path)
		if _, ok := actual[from]; !ok {
			actual[from] = nil
		}
		for _, to := range imports {
			if !strings.HasPrefix(to, internal) {
				continue
			}
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

// TestEveryPackageSaysWhatItIsFor fails on a package without a package comment, which "go -C tools run ./rooms" prints.
func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	silent := "{{if .GoFiles}}{{if not .Doc}}{{.ImportPath}}{{end}}{{end}}"
	out, err := exec.Command("go", "list", "-f", silent, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		t.Errorf("%s has no package comment", path)
	}
}

// TestWalks fails on a hop of the way of a flag, a request or a reply that is not in the code, on a room that such a way
// meets twice, and on a file of a recipe that is not there.
func TestWalks(t *testing.T) {
	data, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
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
	recipes, _, _ = strings.Cut(recipes, "\n## ")
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
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
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

func wing(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, internal), "/")
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

var quoted = regexp.MustCompile("`([^`]+)`")

// readTable reads the table of wings: what each may import. Its rows are "| `wing` | answers | must never know | `import`
// `import` |".
func readTable(t *testing.T) map[string][]string {
	t.Helper()
	table := map[string][]string{}
	for _, cells := range readRows(t, "Wings", 4) {
		if name := texts(cells[0]); len(name) > 0 {
			table[name[0]] = texts(cells[3])
		}
	}
	if len(table) < 10 {
		t.Fatalf("only %d wings found in ARCHITECTURE.md", len(table))
	}
	return table
}

// readRows returns the rows of tables with so many columns below a heading of ARCHITECTURE.md.
func readRows(t *testing.T, heading string, columns int) [][]string {
	t.Helper()
	data, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(data), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("ARCHITECTURE.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) == columns {
			rows = append(rows, cells)
		}
	}
	return rows
}

// texts returns what stands between backquotes.
func texts(cell string) []string {
	list := []string{}
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		list = append(list, m[1])
	}
	return list
}

// readImports returns what each package of the program imports directly, those of libraries included. Test files do not
// count.
var readImports = func() func(t *testing.T) map[string][]string {
	read := sync.OnceValues(func() (map[string][]string, error) {
		cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,GoFiles", module+"internal/...", module+"cmd/...")
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		imports := map[string][]string{}
		dec := json.NewDecoder(bytes.NewReader(out))
		for {
			var p struct {
				ImportPath string
				Imports    []string
				GoFiles    []string
			}
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				return imports, nil
			} else if err != nil {
				return nil, err
			}
			if len(p.GoFiles) > 0 {
				imports[p.ImportPath] = p.Imports
			}
		}
	})
	return func(t *testing.T) map[string][]string {
		t.Helper()
		imports, err := read()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		return imports
	}
}()

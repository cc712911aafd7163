package architecture_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// forbidden is the heading above the tables of imports that only some rooms may have, and of those that a room may have
// neither directly nor through others. Both have three columns, the last of which is the reason.
const forbidden = "Forbidden arrows"

// TestOnlyTheRoomsListedImport fails on a room that imports what only others may, and on an entry that no room needs.
func TestOnlyTheRoomsListedImport(t *testing.T) {
	imports := readImports(t)
	rows := 0
	for _, cells := range readForbidden(t, "Only by") {
		rows++
		what, only := texts(cells[0])[0], texts(cells[1])
		used := map[string]bool{}
		for path, list := range imports {
			i := slices.IndexFunc(list, func(to string) bool { return matches(what, to) })
			// A library may import its own packages, and other libraries are not ours to arrange.
			if i < 0 || !strings.HasPrefix(path, module) {
				continue
			}
			j := slices.IndexFunc(only, func(room string) bool { return matches(room, path) })
			if j < 0 {
				t.Errorf("%s imports %s; only %s may:%s", short(path), list[i], strings.Join(only, " and "), cells[2])
				continue
			}
			used[only[j]] = true
		}
		for _, room := range only {
			if !used[room] {
				t.Errorf("ARCHITECTURE.md lets %s import %s, and nothing there does", room, what)
			}
		}
	}
	if rows < 10 {
		t.Errorf("only %d rows found", rows)
	}
}

// TestRoomsDoNotReach fails on a room that depends on what it must not, with the shortest way to it.
func TestRoomsDoNotReach(t *testing.T) {
	imports := readImports(t)
	paths := slices.Sorted(maps.Keys(imports))
	rows := 0
	for _, cells := range readForbidden(t, "Never reaches") {
		rows++
		for _, room := range texts(cells[0]) {
			found := false
			for _, path := range paths {
				if !matches(room, path) {
					continue
				}
				found = true
				for _, what := range texts(cells[1]) {
					if way := reach(imports, path, what); way != nil {
						t.Errorf("%s reaches %s:%s\n%s", short(path), what, cells[2], strings.Join(way, " → "))
					}
				}
			}
			if !found {
				t.Errorf("ARCHITECTURE.md lists %s, which does not exist", room)
			}
		}
	}
	if rows < 10 {
		t.Errorf("only %d rows found", rows)
	}
}

// readForbidden returns the rows of the table whose second column has this head.
func readForbidden(t *testing.T, head string) [][]string {
	t.Helper()
	var rows [][]string
	in := false
	for _, cells := range readRows(t, forbidden, 3) {
		switch {
		case !quoted.MatchString(cells[0]):
			in = strings.TrimSpace(cells[1]) == head || in && strings.HasPrefix(cells[1], "-")
		case in:
			rows = append(rows, cells)
		}
	}
	return rows
}

// matches reports whether a path is what a pattern of the tables names: a room of ours, the path of another package, or
// with /… at its end everything below and the package itself.
func matches(pattern, path string) bool {
	prefix, below := strings.CutSuffix(pattern, "/…")
	name := short(path)
	return name == prefix || path == prefix || below && (strings.HasPrefix(name, prefix+"/") || strings.HasPrefix(path, prefix+"/"))
}

// short is the path of a package of ours as the tables name it.
func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, internal), module)
}

// reach returns the shortest way of imports from a package to one that the pattern names, or nil where there is none.
func reach(imports map[string][]string, from, pattern string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, to := range imports[queue[0]] {
			if _, met := before[to]; met {
				continue
			}
			before[to] = queue[0]
			if !matches(pattern, to) {
				queue = append(queue, to)
				continue
			}
			var way []string
			for path := to; path != ""; path = before[path] {
				way = append(way, short(path))
			}
			slices.Reverse(way)
			return way
		}
	}
	return nil
}

package selftest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityNamesTestsThatExist: each test and each check that SECURITY.md names.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Who") {
			continue
		}
		rows++
		names := regexp.MustCompile("`(Test\\w+|interop/[a-z]+|\\w+\\.txtar)`").FindAllStringSubmatch(cells[4], -1)
		if names == nil {
			t.Errorf("no test holds what the table says of %s", strings.TrimSpace(cells[1]))
		}
		for _, m := range names {
			name := m[1]
			var err error
			switch {
			case strings.HasSuffix(name, ".txtar"):
				_, err = os.Stat(filepath.Join(root, "internal/cli/testdata/script", name))
			case strings.HasPrefix(name, "interop/"):
				_, err = os.Stat(filepath.Join(root, name, "check.sh"))
			case !tests[name]:
				err = fs.ErrNotExist
			}
			if err != nil {
				t.Errorf("SECURITY.md names %s: %v", name, err)
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d rows", rows)
	}
}

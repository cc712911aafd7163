package run

import (
	"os"
	"path/filepath"
	"testing"
)

// A run that is fetched once more has the folder that it had, whatever lies beside it.
func TestFolderAgain(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "one")
	for _, dir := range []string{base, base + "-2"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		same, want string
		replaced   bool
	}{
		{base, base, true},
		{base + "-2", base + "-2", true},
		{"none", base + "-3", false},
		{base + "-3", base + "-3", false}, // which has no results
	} {
		dir, earlier, err := FolderAgain(base, func(dir string) bool { return dir == c.same })
		if err != nil || dir != c.want || earlier.Replaced != c.replaced || earlier.Text == "" {
			t.Errorf("same run in %s: %s, %+v, %v", c.same, dir, earlier, err)
		}
	}
}

package testkit_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
)

// failures is a test that remembers its errors.
type failures struct {
	testing.TB
	errors []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func TestADifferenceFailsUnlessTheFileIsUpdated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(path, []byte("a\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	set := func(update bool) {
		if err := flag.Set("update", strconv.FormatBool(update)); err != nil {
			t.Fatal(err)
		}
		if testkit.UpdateGolden() != update {
			t.Fatalf("-update=%v has no effect", update)
		}
	}
	defer set(testkit.UpdateGolden())
	for _, c := range []struct {
		got     string
		update  bool
		differs bool
	}{
		{"a\nb\n", false, false}, {"a\nb", false, true}, {"a\nc\n", false, true},
		{"a\nc\n", true, false}, {"a\nc\n", false, false}, {"a\nb\n", false, true},
	} {
		set(c.update)
		f := &failures{TB: t}
		testkit.Golden(f, path, []byte(c.got))
		if (len(f.errors) > 0) != c.differs || c.differs && !strings.Contains(f.errors[0], path) {
			t.Errorf("%q, update %v: %q", c.got, c.update, f.errors)
		}
	}
}

package testkit

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// UpdateGolden reports whether the test writes its files instead of comparing with them.
func UpdateGolden() bool { return *update }

// Golden fails the test if the file at path, relative to the package's folder, differs from got in any byte. With
// -update it writes the file first.
func Golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (- file, + test; -update writes it anew):\n%s", path, diff)
	}
}

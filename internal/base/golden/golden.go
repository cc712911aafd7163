// Package golden compares what a test made with a file that is kept in the repository: a golden file in testdata, or a
// generated page of the documentation.
//
// It defines the flag -update of the tests of each package that imports it: go test ./PACKAGE -update writes the files
// instead. .ci/golden does so for all those packages. Only tests import it.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Update reports whether the test writes its files instead of comparing with them.
func Update() bool { return *update }

// Compare fails the test if the file at path, relative to the package's folder, differs from got in any byte. With
// -update it writes the file first.
func Compare(t testing.TB, path string, got []byte) {
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

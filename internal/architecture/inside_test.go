package architecture_test

import (
	"os/exec"
	"strings"
	"testing"
)

// most is the number of packages that may have test files of their own package, an export_test.go included. The go
// command compiles such a package twice, once as it is and once with these files.
const most = 40

// TestFewPackagesAreTestedFromInside fails where tests are no packages of their own (package x_test).
func TestFewPackagesAreTestedFromInside(t *testing.T) {
	inside := "{{if .GoFiles}}{{if .TestGoFiles}}{{.ImportPath}}{{end}}{{end}}"
	out, err := exec.Command("go", "list", "-f", inside, internal+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Fields(string(out))
	if len(packages) > most {
		t.Errorf("%d packages have test files of their own package, %d may:\n%s", len(packages), most,
			strings.Join(packages, "\n"))
	}
}

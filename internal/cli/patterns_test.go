package cli_test

import (
	"testing"

	"aiperf/internal/base/pattern"
)

// TestPatternsCompile: a wrong one would panic when a user meets it.
func TestPatternsCompile(t *testing.T) {
	if n := pattern.CompileAll(); n < 50 {
		t.Errorf("%d patterns, want those of the program", n)
	}
}

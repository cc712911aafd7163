package summary_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/result/summary"
)

// A state or summary that is a device or pipe, which could go on without end, is refused by name.
func TestEndlessFilesOfARunAreRefused(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no device without end")
	}
	path := filepath.Join(t.TempDir(), "profile_export_aiperf.json") // the summary of a folder
	if err := os.Symlink("/dev/zero", path); err != nil {
		t.Skip(err)
	}
	for name, read := range map[string]func() error{
		"state":      func() error { _, err := summary.ReadState(path); return err },
		"figures":    func() error { _, err := summary.ReadFigures(filepath.Dir(path)); return err },
		"configured": func() error { _, err := summary.ReadConfigured(path); return err },
	} {
		if err := read(); err == nil || !strings.HasPrefix(err.Error(), path+" is not a regular file") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

package resolve

import (
	"os"
	"strings"
	"testing"
)

// A device without end is neither counted nor read as a text.
func TestADeviceIsNotRead(t *testing.T) {
	const device = "/dev/zero"
	if _, err := os.Stat(device); err != nil {
		t.Skipf("needs a device that never ends, which only Unix systems have: %v", err)
	}
	if facts := readTrace(device); facts.rows != 0 || facts.timed {
		t.Errorf("got %+v", facts)
	}
	for _, flag := range []string{"--system-prompt-file", "--request-rate-series"} {
		faults := resolveError(t, "--model m "+flag+" "+device)
		if !strings.Contains(faults.Error(), "is a device") {
			t.Errorf("%s: got %v", flag, faults)
		}
	}
}

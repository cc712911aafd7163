package run

import (
	"strings"
	"testing"
)

func TestTooLargeDatasetIsRefusedBeforeItIsMade(t *testing.T) {
	t.Parallel()
	_, err := execute(t, resolve(t, t.TempDir(), "http://127.0.0.1:1", "--num-dataset-entries", "100000000", "--isl",
		"100000", "--request-count", "1"), Options{})
	if err == nil || !strings.Contains(err.Error(), "GB of memory") || !strings.Contains(err.Error(),
		"--num-dataset-entries") {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		least  float64
		memory int64
		fits   bool
	}{{1e12, 0, true}, {1e9, 1e9, true}, {1.1e9, 1e9, false}} {
		if err := fitsMemory(c.least, c.memory); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

package trust

import (
	"os"
	"testing"

	"aiperf/internal/base/clock"
)

func TestDescriptorsAreCounted(t *testing.T) {
	before := tree("/").openDescriptors()
	var open []*os.File
	for range 50 {
		f, err := os.Open("/dev/null")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, f)
	}
	after := tree("/").openDescriptors()
	for _, f := range open {
		f.Close()
	}
	if after-before != 50 {
		t.Errorf("%d more descriptors, want 50", after-before)
	}
}

// BenchmarkProbe is the cost of a look at the machine, four times a second.
func BenchmarkProbe(b *testing.B) {
	w := Start(clock.New())
	defer w.Stop()
	for range b.N {
		w.probe(w.clock.NowNS(), 0)
	}
}

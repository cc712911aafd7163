package trust

import (
	"os"
	"testing"
)

func TestProcessTellsMemoryAndHandles(t *testing.T) {
	var before, after reading
	readProcess(&before)
	if before.rss < 1<<20 {
		t.Errorf("%d bytes resident", before.rss)
	}
	if before.descriptors == 0 {
		t.Skip("this system (Wine) counts no handles")
	}
	const files = 20
	for range files {
		f, err := os.Open(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	if readProcess(&after); after.descriptors < before.descriptors+files {
		t.Errorf("%d handles, with %d more files %d", before.descriptors, files, after.descriptors)
	}
}

package api

import (
	"aiperf/internal/base/random"
	"testing"
)

// Tokens are accepted or the target model's own; no step accepts more than it drafts.
func TestSpeculationAddsUp(t *testing.T) {
	drafts := random.Root(1).Stream("x")
	for n := range 200 {
		for _, draft := range []int{1, 4, MaxSpecTokens} {
			for _, share := range []float64{0, 0.3, 1} {
				s := speculate(drafts.At(uint64(n)), n, draft, share)
				steps, accepted := 0, 0
				for i, c := range s.Buckets {
					steps, accepted = steps+c, accepted+i*c
					if c > 0 && i > draft {
						t.Fatalf("a step accepted %d of %d", i, draft)
					}
				}
				if s.Accepted+s.Steps != n || s.Drafted != draft*s.Steps || steps != s.Steps || accepted != s.Accepted {
					t.Fatalf("%d tokens, draft %d, share %v: %+v", n, draft, share, s)
				}
				if share == 0 && s.Accepted != 0 || share == 1 && n > 0 && s.Steps != (n+draft)/(draft+1) {
					t.Fatalf("%d tokens, draft %d, share %v: %+v", n, draft, share, s)
				}
			}
		}
	}
}

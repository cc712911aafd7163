package synthetic

import (
	"testing"

	"aiperf/internal/workload/tokenizer"
)

func BenchmarkNewCode(b *testing.B) {
	for b.Loop() {
		NewCode(tokenizer.Builtin(), generator(1))
	}
}

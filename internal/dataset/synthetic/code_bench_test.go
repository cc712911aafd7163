package synthetic

import (
	"testing"

	"aiperf/internal/tokenizer"
)

func BenchmarkNewCode(b *testing.B) {
	for b.Loop() {
		NewCode(tokenizer.Builtin(), generator(1))
	}
}

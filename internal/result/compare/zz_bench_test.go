package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func BenchmarkZValues(b *testing.B) {
	line, err := os.ReadFile("/tmp/line.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "r.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(string(line), 20000)), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(20000 * len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if v, err := readValues(path); err != nil || len(v.keys) != 20000 {
			b.Fatal(err)
		}
	}
}

package run

import (
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/workload/tokenizer/load"
)

const tinyTokenizer = `{"version":"1.0","added_tokens":[],"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`

// TestTokenizersAreLoadedOnce: the second run finds the tokenizer although its file is gone by then.
func TestTokenizersAreLoadedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, []byte(tinyTokenizer), 0o644); err != nil {
		t.Fatal(err)
	}
	var kept Tokenizers
	var none *Tokenizers
	first, _, err := kept.load(t.Context(), load.Options{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if again, _, err := kept.load(t.Context(), load.Options{Name: path}); err != nil || again != first {
		t.Errorf("%v, %v", again, err)
	}
	if _, _, err := kept.load(t.Context(), load.Options{Name: path, Revision: "other"}); err == nil {
		t.Error("another revision was found")
	}
	if _, _, err := none.load(t.Context(), load.Options{Name: path}); err == nil {
		t.Error("a lone run found it")
	}
}

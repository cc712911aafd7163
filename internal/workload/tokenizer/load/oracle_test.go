package load_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// TestOracle checks the ids that interop/tokenizers/engines.py took from the libraries that define them.
func TestOracle(t *testing.T) {
	root := os.Getenv("AIPERF_TOKENIZER_CASES")
	if root == "" {
		t.Skip("AIPERF_TOKENIZER_CASES names no folder")
	}
	paths, _ := filepath.Glob(filepath.Join(root, "*", "vectors.jsonl"))
	if len(paths) < 20 {
		t.Fatalf("only %d tokenizers in %s", len(paths), root)
	}
	total := 0
	for _, path := range paths {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			tok, bundle := caseTokenizer(t, dir)
			total += checkVectors(t, tok, path)
			if bundle != nil {
				_, packed := repacked(t, bundle)
				checkVectors(t, packed, path)
			}
		})
	}
	t.Logf("%d tokenizers, %d texts", len(paths), total)
}

func caseTokenizer(t *testing.T, dir string) (tokenizer.Tokenizer, *load.Bundle) {
	if name, err := os.ReadFile(filepath.Join(dir, "builtin")); err == nil {
		tok, ok := tokenizer.Named(string(name))
		if !ok {
			t.Fatalf("%s is not built in", name)
		}
		return tok, nil
	}
	b, tok := mustOpen(t, dir)
	return tok, b
}

func checkVectors(t *testing.T, tok tokenizer.Tokenizer, path string) int {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	n, wrong, undone := 0, 0, 0
	var ids []int
	for lines.Scan() {
		var v struct {
			Text    string
			IDs     []int
			Decoded *string
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		n++
		if ids = tok.Encode(ids[:0], v.Text); !slices.Equal(ids, v.IDs) {
			if wrong++; wrong <= 3 {
				t.Errorf("Encode(%q)\n got %v %q\nwant %v %q", v.Text, ids, each(tok, ids), v.IDs, each(tok, v.IDs))
			}
		}
		want := v.Text
		if v.Decoded != nil {
			want = *v.Decoded
		}
		if got := tok.Decode(v.IDs); got != want {
			if undone++; undone <= 2 {
				t.Errorf("Decode(%v) %q\n got %q\nwant %q", v.IDs, each(tok, v.IDs), got, want)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if wrong+undone > 0 {
		t.Errorf("%d of %d texts encoded wrongly, %d decoded wrongly", wrong, n, undone)
	}
	return n
}

// each decodes the ids one by one.
func each(tok tokenizer.Tokenizer, ids []int) []string {
	var out []string
	for _, id := range ids {
		out = append(out, tok.Decode([]int{id}))
	}
	return out
}

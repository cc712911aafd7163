package hf

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOracle(t *testing.T) {
	root := os.Getenv("AIPERF_TOKENIZER_CASES")
	if root == "" {
		t.Skip("AIPERF_TOKENIZER_CASES names no folder")
	}
	paths, _ := filepath.Glob(filepath.Join(root, "*", "tokenizer.json"))
	for _, path := range paths {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tok, err := New(data, Options{Guess: true})
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(filepath.Join(dir, "vectors.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<24)
			n, wrong, undone := 0, 0, 0
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
				got := tok.Encode(nil, v.Text)
				if !slices.Equal(got, v.IDs) {
					if wrong++; wrong <= 3 {
						t.Errorf("Encode(%q)\n got %v %q\nwant %v %q", v.Text, got, texts(tok, got), v.IDs, texts(tok, v.IDs))
					}
				}
				want := v.Text
				if v.Decoded != nil {
					want = *v.Decoded
				}
				if got := tok.Decode(v.IDs); got != want {
					if undone++; undone <= 2 {
						t.Errorf("Decode(%q)\n got %q\nwant %q", texts(tok, v.IDs), got, want)
					}
				}
			}
			if wrong+undone > 0 {
				t.Errorf("%d of %d texts encoded wrongly, %d decoded wrongly", wrong, n, undone)
			}
		})
	}
}

func texts(t *Tokenizer, ids []int) []string {
	var out []string
	for _, id := range ids {
		s, _ := t.Token(id)
		out = append(out, s)
	}
	return out
}

package run

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// A model that is served under another name has the tokenizer of the folder that the server names as its root; what the
// server names that is not on this machine is not fetched.
func TestTokenizerOfAServedName(t *testing.T) {
	t.Setenv("HF_HUB_OFFLINE", "1")
	folder := t.TempDir()
	file := `{"model":{"type":"WordLevel","vocab":{"[UNK]":0,"one":1,"two":2},"unk_token":"[UNK]"},"pre_tokenizer":{"type":"Whitespace"}}`
	if err := os.WriteFile(filepath.Join(folder, "tokenizer.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		root  string
		works bool
	}{{folder, true}, {"org/not-here", false}, {"served", false}, {"", false}} {
		root, _ := json.Marshal(c.root)
		url := "http://" + listen(t, "tcp", "127.0.0.1:0", nil, http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/v1/models" {
				fmt.Fprintf(w, `{"data":[{"id":"other","root":"x"},{"id":"served","root":%s}]}`, root)
				return
			}
			io.WriteString(w, `{"object":"chat.completion","choices":[{"message":{"content":"one two two"}}]}`)
		}), http1).String()
		dir := t.TempDir()
		cfg := resolveBare(t, dir, url, "--isl", "4", "--osl", "4", "--request-count", "2")
		cfg.Models, cfg.Tokenizer.Name, cfg.Tokenizer.ByModel = []string{"served"}, "served", []string{"served"}
		out, err := execute(t, cfg, Options{})
		if !c.works {
			if err == nil {
				t.Errorf("root %q: the run has a tokenizer", c.root)
			}
			continue
		}
		if err != nil || out.Result.Counts.Successes != 2 {
			t.Fatalf("root %q: %v", c.root, err)
		}
		doc := summaryOf(t, dir)
		if n := at(doc, "output_sequence_length", "avg"); n != 3.0 {
			t.Errorf("%v tokens", n)
		}
		if name := at(doc, "provenance", "tokenizer", "name"); name != folder {
			t.Errorf("the provenance names %v", name)
		}
	}
}

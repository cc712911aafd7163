package load_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer/load"
)

func TestFilesThatAreNoTokenizersSayWhy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty/tokenizer.json": "", "cut/tokenizer.json": `{"model":{"type":"WordLevel","vocab":{"a":0,"b":1`,
		"open/tokenizer.json": `{"model":{"type":"WordLevel","vocab":{"a":`,
		"more/tokenizer.json": tinyJSON + "x", "bom/tokenizer.json": "\ufeff" + tinyJSON,
		"control/tokenizer.json": "{\"model\":{\"vocab\":{\"a\n\":0}}}",
		"comma/tokenizer.json":   `{"model":{"vocab":{"a":0,}}}`, "folder/tokenizer.json/x": "", "void": "",
		"digits":                      "12",
		"ranks/tiktoken.model":        "YQ== 0\n",
		"ranks/tokenizer_config.json": `{"auto_map":{"AutoTokenizer":["tokenization_odd.Odd",null]}}`,
		"pattern/tiktoken.model":      "YQ== 0\n", "pattern/tokenizer_config.json": `{"pat_str":7}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"empty": "tokenizer.json is empty", "cut": "the text ends before the vocabulary does",
		"open": "the text ends before the vocabulary does", "more": "expected the end of the text, found 'x'",
		"bom": `found '\ufeff' at byte 0`, "control": "control character", "comma": "behind ','",
		"folder": "tokenizer.json is not a file", "void": "void is empty",
		"digits": "not a SentencePiece model", "ranks": "tokenization_odd.Odd, is not run",
		"pattern": "tokenizer_config.json: pat_str", "nothing": "nothing",
	} {
		_, _, err := load.Load(t.Context(), load.Options{Name: filepath.Join(dir, name)})
		var f *load.Failure
		if !errors.As(err, &f) || !strings.Contains(f.Err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

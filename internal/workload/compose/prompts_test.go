package compose_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/tokenizer"
)

// traceOf builds the dataset of a mooncake trace.
func traceOf(t *testing.T, rows ...string) *dataset.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(rows, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	return build(t, defaults(func(o *compose.Options) {
		o.Kind, o.Path, o.Reading = compose.File, path, loader.Options{}
	}))
}

// written is the text of each turn.
func written(d *dataset.Dataset) []string {
	var all []string
	for _, c := range d.All() {
		for i := range c.Turns {
			all = append(all, c.Turns[i].Whole().Texts[0].Contents[0])
		}
	}
	return all
}

func TestTrapBlocksOfATraceDoNotDependOnTheOrderOfRows(t *testing.T) {
	rows := []string{`{"input_length":1024,"hash_ids":[0,1]}`, `{"input_length":1024,"hash_ids":[0,2]}`,
		`{"input_length":600,"hash_ids":[3,2]}`}
	texts := written(traceOf(t, rows...))
	tok := tokenizer.Builtin()
	a, b := tok.Encode(nil, texts[0]), tok.Encode(nil, texts[1])
	if len(a) != 1024 || len(b) != 1024 || !slices.Equal(a[:512], b[:512]) || slices.Equal(a[512:], b[512:]) {
		t.Errorf("%d and %d tokens: the first 512 must be the same and the rest not", len(a), len(b))
	}
	slices.Reverse(rows)
	reversed := written(traceOf(t, rows...))
	slices.Reverse(reversed)
	if !slices.Equal(texts, reversed) {
		t.Error("another order of the rows changed their texts")
	}
}

func TestTrapBlocksThatDoNotFillARow(t *testing.T) {
	rows := []string{`{"input_length":1200,"hash_ids":[0,1]}`, `{"input_length":1200,"hash_ids":[0,1]}`,
		`{"input_length":700}`, `{"input_length":700}`}
	texts := written(traceOf(t, rows...))
	tok := tokenizer.Builtin()
	a, b := tok.Encode(nil, texts[0]), tok.Encode(nil, texts[1])
	if len(a) != 1200 || len(b) != 1200 || !slices.Equal(a[:1024], b[:1024]) || slices.Equal(a[1024:], b[1024:]) {
		t.Errorf("%d and %d tokens: 1024 of the blocks, the rest each row's own", len(a), len(b))
	}
	if texts[2] == texts[3] || tok.Count(texts[2]) != 700 {
		t.Error("rows without blocks have texts of their own")
	}
}

func TestPromptsOfATraceNeedATokenizer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(`{"input_length":5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := compose.Build(context.Background(), defaults(func(o *compose.Options) {
		o.Kind, o.Path = compose.File, path
	}), nil)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "needs a tokenizer") {
		t.Errorf("error %v", err)
	}
}

func TestLimitOfATraceRowWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(
		"{\"input_length\":5,\"output_length\":3}\n{\"input_length\":5}\n{\"payload\":{\"a\":1}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	nine := recipe.Normal{Mean: 9}
	d := build(t, defaults(func(o *compose.Options) { o.Kind, o.Path, o.OSL = compose.File, path, &nine }))
	c := d.InMemory()
	if *c[0].Turns[0].MaxTokens != 3 || *c[1].Turns[0].MaxTokens != 9 || c[2].Turns[0].MaxTokens != nil {
		t.Errorf("limits %v, %v, %v, want 3, 9 and none", *c[0].Turns[0].MaxTokens, *c[1].Turns[0].MaxTokens,
			c[2].Turns[0].MaxTokens)
	}
}

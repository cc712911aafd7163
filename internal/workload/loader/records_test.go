package loader

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/workload/recipe"
)

// written are records whose places are those of a file that has one every ten lines.
func written(pool string, lines ...string) recipe.Records {
	r := recipe.Records{Pool: pool}
	for i, l := range lines {
		r.Lines = append(r.Lines, recipe.Line{Text: l, Place: fmt.Sprintf("bench.yaml:%d:9", 10*(i+1))})
	}
	return r
}

// Records are read as a file with the same lines is, and nothing is left behind.
func TestRecordsAreReadAsAFile(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for format, lines := range map[string][]string{
		"single_turn":    {`{"text":"a","session_id":"s"}`, `{"text":"b","output_length":7}`},
		"multi_turn":     {`{"session_id":"s","turns":[{"text":"a"},{"text":"b","delay":5}]}`},
		"mooncake_trace": {`{"timestamp":5,"input_length":600,"output_length":3,"hash_ids":[1,2]}`},
		"raw_payload":    {`{"messages":[{"role":"user","content":"x"}]}`},
		"dag_jsonl":      {`{"session_id":"s","turns":[{"messages":[{"role":"user","content":"x"}]}]}`},
	} {
		path := filepath.Join(t.TempDir(), "data.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		want, err := Load(context.Background(), path, format)
		if err != nil {
			t.Fatal(err)
		}
		got, err := LoadRecords(context.Background(), "bench.yaml:9: records", []recipe.Records{written("", lines...)},
			format, Options{})
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if !reflect.DeepEqual(got.Dataset.InMemory(), want.Dataset.InMemory()) {
			t.Errorf("%s: %+v, want %+v", format, got.Dataset.InMemory(), want.Dataset.InMemory())
		}
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left in the temporary folder: %v", left)
	}
}

func TestRecordsInPools(t *testing.T) {
	pools := []recipe.Records{written("queries", `{"text":"q1"}`, `{"text":"q2"}`), written("pictures",
		`{"image":"data:image/png;base64,AA=="}`)}
	got, err := LoadRecords(context.Background(), "bench.yaml:9: records", pools, "random_pool", Options{Draws: 12})
	if err != nil {
		t.Fatal(err)
	}
	if got.Dataset.Len() != 12 {
		t.Errorf("%d conversations", got.Dataset.Len())
	}
	for _, c := range got.Dataset.All() {
		turn := c.Turns[0]
		if turn.Texts[0].Name != "queries" || !strings.HasPrefix(turn.Texts[0].Contents[0], "q") || len(turn.Images) != 1 {
			t.Errorf("%+v", turn)
		}
	}
}

// Mistakes and warnings name the place of the record in the configuration.
func TestMistakesInRecordsNameTheirPlaces(t *testing.T) {
	load := func(format string, all ...recipe.Records) (*Result, error) {
		return LoadRecords(context.Background(), "bench.yaml:9: records", all, format, Options{})
	}
	for want, c := range map[string]struct {
		format string
		all    []recipe.Records
	}{
		`bench.yaml:20:9: field "output_length"`: {"single_turn",
			[]recipe.Records{written("", `{"text":"a"}`, `{"text":"b","output_length":"x"}`)}},
		"bench.yaml:10:9: ":                     {"random_pool", []recipe.Records{written("p", `{"output":1}`)}},
		"the pool \"../x\": a name has letters": {"random_pool", []recipe.Records{written("../x", `{"text":"a"}`)}},
		"a sharegpt file has no lines of JSON":  {"sharegpt", []recipe.Records{written("", `{"text":"a"}`)}},
		"bench.yaml:9: records: a text_csv":     {"text_csv", []recipe.Records{written("", `{"text":"a"}`)}},
	} {
		if _, err := load(c.format, c.all...); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), os.TempDir()) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	got, err := load("single_turn", written("", `{"text":"a"}`, `{"text":"b","foo":1}`))
	if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "bench.yaml:20:9") {
		t.Errorf("warnings %q, error %v", got.Warnings, err)
	}
}

// The first conversations are kept, whether the file is in memory or indexed, and with branches the first roots.
// closeRows closes the file of an indexed dataset at the end of a test. On Windows its folder cannot be removed before.
func closeRows(t *testing.T, conversations any) {
	if x, ok := conversations.(*Indexed); ok {
		if file, ok := x.rows.(io.Closer); ok {
			t.Cleanup(func() { file.Close() })
		}
	}
}

func TestLimitOfConversations(t *testing.T) {
	var lines strings.Builder
	for i := range 9 {
		fmt.Fprintf(&lines, "{\"session_id\":\"s%d\",\"input_length\":5,\"output_length\":%d}\n", i/2, i+1)
	}
	path := filepath.Join(t.TempDir(), "data.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, indexed := range map[int64]bool{1: true, 1 << 40: false} {
		got, err := LoadWith(context.Background(), path, "mooncake_trace", Options{Limit: 2, IndexFrom: from})
		if err != nil {
			t.Fatal(err)
		}
		closeRows(t, got.Dataset.Conversations)
		if _, is := got.Dataset.Conversations.(*Indexed); is != indexed {
			t.Errorf("indexed %v, want %v", is, indexed)
		}
		if got.Dataset.Len() != 2 || got.Dataset.Turns() != 4 || got.Dataset.At(1).SessionID != "s1" {
			t.Errorf("%d conversations, %d turns, second %s", got.Dataset.Len(), got.Dataset.Turns(),
				got.Dataset.At(1).SessionID)
		}
		if want := "the first 2 of 5 conversations are used"; !strings.Contains(strings.Join(got.Notes, "\n"), want) {
			t.Errorf("notes %q", got.Notes)
		}
	}
	dag := written("", `{"session_id":"a","turns":[{"messages":[{"role":"user","content":"x"}],"forks":["c"]}]}`,
		`{"session_id":"b","turns":[{"messages":[{"role":"user","content":"x"}]}]}`,
		`{"session_id":"c","turns":[{"messages":[{"role":"user","content":"x"}]}]}`)
	got, err := LoadRecords(context.Background(), "r", []recipe.Records{dag}, "dag_jsonl", Options{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got.Dataset.RootCount() != 1 || got.Dataset.Len() != 3 {
		t.Errorf("%d roots of %d conversations", got.Dataset.RootCount(), got.Dataset.Len())
	}
}

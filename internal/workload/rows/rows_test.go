package rows_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"aiperf/internal/workload/rows"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func all(t testing.TB, path string) []rows.Row {
	t.Helper()
	var r []rows.Row
	if err := rows.Each(context.Background(), path,
		func(_ int, row rows.Row) error { r = append(r, row); return nil }); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTextTables(t *testing.T) {
	want := []rows.Row{{"a": "x", "n": json.Number("1")}, {"a": "y", "n": json.Number("2")}}
	for name, text := range map[string]string{
		"lines.jsonl":  "\ufeff{\"a\":\"x\",\"n\":1}\r\n\n{\"a\":\"y\",\"n\":2}",
		"list.json":    ` [ {"a":"x","n":1}, {"a":"y","n":2} ] `,
		"data.json":    `{"version":1,"data":[{"a":"x","n":1},{"a":"y","n":2}]}`,
		"viewer.json":  `{"rows":[{"row_idx":0,"row":{"a":"x","n":1}},{"row_idx":1,"row":{"a":"y","n":2}}]}`,
		"objects.json": `{"a":"x","n":1} {"a":"y","n":2}`,
	} {
		if diff := cmp.Diff(want, all(t, write(t, name, text))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if diff := cmp.Diff([]rows.Row{{"a": "x,1", "n": "1"}}, all(t, write(t, "t.csv", "a,n\n\"x,1\",1\n"))); diff != "" {
		t.Error(diff)
	}
}

func TestPackedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(file)
	packed.Write([]byte(`{"a":"x"}` + "\n"))
	packed.Close()
	file.Close()
	if diff := cmp.Diff([]rows.Row{{"a": "x"}}, all(t, path)); diff != "" {
		t.Error(diff)
	}
}

type picture struct {
	Bytes []byte `parquet:"bytes,optional"`
	Path  string `parquet:"path,optional"`
}

type message struct {
	Role    string `parquet:"role"`
	Content string `parquet:"content,optional"`
}

type nested struct {
	Name         string      `parquet:"name,optional"`
	Score        float64     `parquet:"score"`
	Count        int32       `parquet:"count"`
	Good         bool        `parquet:"good"`
	Turns        []string    `parquet:"turns,list"`
	Conversation [][]message `parquet:"conversation,list"`
	Images       []picture   `parquet:"images,list"`
	Image        *picture    `parquet:"image,optional"`
}

func TestNestedParquetRows(t *testing.T) {
	type list struct {
		Messages []message `parquet:"messages,list"`
		Name     string    `parquet:"name,optional"`
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	r := []nested{
		{Name: "a", Score: 1.5, Count: 2, Good: true, Turns: []string{"x", "y"},
			Images: []picture{{Bytes: []byte{0xff, 1}}, {Path: "p"}}},
		{Turns: nil, Image: &picture{Bytes: []byte{9}, Path: "q"}},
	}
	if err := parquet.WriteFile(path, r); err != nil {
		t.Fatal(err)
	}
	want := []rows.Row{
		{"name": "a", "score": 1.5, "count": int64(2), "good": true, "turns": []any{"x", "y"}, "conversation": []any{},
			"images": []any{map[string]any{"bytes": []byte{0xff, 1}, "path": nil},
				map[string]any{"bytes": nil, "path": "p"}}, "image": nil},
		{"name": nil, "score": 0.0, "count": int64(0), "good": false, "turns": []any{}, "conversation": []any{},
			"images": []any{},
			"image":  map[string]any{"bytes": []byte{9}, "path": "q"}},
	}
	if diff := cmp.Diff(want, all(t, path)); diff != "" {
		t.Error(diff)
	}

	path = filepath.Join(t.TempDir(), "l.parquet")
	if err := parquet.WriteFile(path,
		[]list{{Messages: []message{{"user", "hi"}, {"assistant", ""}}, Name: "n"}, {Name: "m"}}); err != nil {
		t.Fatal(err)
	}
	want = []rows.Row{
		{"messages": []any{map[string]any{"role": "user", "content": "hi"},
			map[string]any{"role": "assistant", "content": nil}}, "name": "n"},
		{"messages": []any{}, "name": "m"},
	}
	if diff := cmp.Diff(want, all(t, path)); diff != "" {
		t.Error(diff)
	}
}

// inner makes a list of lists, which the library's struct tags cannot say.
func TestListsOfLists(t *testing.T) {
	element := parquet.Group{"role": parquet.String(), "content": parquet.Optional(parquet.String())}
	schema := parquet.NewSchema("t", parquet.Group{"c": parquet.Optional(parquet.List(parquet.List(element)))})
	path := filepath.Join(t.TempDir(), "t.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(file, schema)
	// Columns are content and role. Levels of definition: c 1, outer list 2, inner list 3, content 4.
	value := func(text string, rep, def, column int) parquet.Value {
		return parquet.ValueOf(text).Level(rep, def, column)
	}
	null := func(rep, def, column int) parquet.Value { return parquet.ValueOf(nil).Level(rep, def, column) }
	if _, err := w.WriteRows([]parquet.Row{
		{value("a", 0, 4, 0), null(2, 3, 0), value("b", 1, 4, 0), value("u", 0, 3, 1), value("v", 2, 3, 1),
			value("w", 1, 3, 1)},
		{null(0, 0, 0), null(0, 0, 1)},
		{null(0, 2, 0), null(0, 2, 1)},
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file.Close()
	said := func(role string, content any) any { return map[string]any{"role": role, "content": content} }
	want := []rows.Row{
		{"c": []any{[]any{said("u", "a"), said("v", nil)}, []any{said("w", "b")}}},
		{"c": nil},
		{"c": []any{[]any{}}},
	}
	if diff := cmp.Diff(want, all(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenTablesAreNamed(t *testing.T) {
	for name, text := range map[string]string{
		"cut.json": `[{"a":1},`, "cut.jsonl": `{"a":1`, "number.jsonl": `5`, "no.parquet": "PAR1 PAR1", "t.txt": "x",
		"empty.csv":      "",
		"footer.parquet": "PAR1\xff\xff\xff\x7fPAR1",
	} {
		err := rows.Each(context.Background(), write(t, name, text), func(int, rows.Row) error { return nil })
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStopIsNoError(t *testing.T) {
	n := 0
	err := rows.Each(context.Background(), write(t, "t.jsonl", "{}\n{}\n{}\n"), func(int, rows.Row) error {
		if n++; n == 2 {
			return rows.ErrEnough
		}
		return nil
	})
	if err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func FuzzJSONTables(f *testing.F) {
	for _, text := range []string{`[{"a":1}]`, `{"data":[{}]}`, "{}\n{}", `{"rows":[{"row":{}}]}`, "[", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, "t.json", text)
		rows.Each(context.Background(), path, func(n int, row rows.Row) error {
			if n < 1 {
				t.Error(n)
			}
			return nil
		})
	})
}

// A footer that is wrong makes the library repeat the path of every field.
func TestCorruptFootersAreSaidInFewWords(t *testing.T) {
	type leaf struct {
		Value []int64 `parquet:"a_value_with_a_rather_long_name,list"`
	}
	type branch struct {
		Leaves []leaf `parquet:"leaves_of_a_branch_with_a_long_name,list"`
	}
	type row struct {
		Branches []branch `parquet:"branches_of_a_tree_with_a_long_name,list"`
		Other    []branch `parquet:"other_branches_of_a_tree_with_a_long_name,list"`
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	if err := parquet.WriteFile(path, []row{{Branches: []branch{{[]leaf{{[]int64{1}}}}}}}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	footer := int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	random, cut := rand.New(rand.NewPCG(1, 2)), 0
	for range 1500 {
		text := bytes.Clone(whole)
		text[len(text)-8-footer+random.IntN(footer)] = byte(random.IntN(256))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		err := rows.Each(t.Context(), path, func(int, rows.Row) error { return nil })
		if err == nil {
			continue
		}
		if strings.Contains(err.Error(), "…") {
			cut++
		}
		if n := len(err.Error()) - len(path); n > 700 {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if cut == 0 {
		t.Error("no message is cut: the test does not reach what it is about")
	}
}

// Whatever bytes of a Parquet file are wrong, the error names the file and speaks of it, not of the program.
func TestCorruptParquetIsNamed(t *testing.T) {
	type row struct {
		Prompt string   `parquet:"prompt,dict"`
		Output int      `parquet:"output,delta"`
		Tags   []string `parquet:"tags,list"`
	}
	var list []row
	for i := range 300 {
		list = append(list, row{strings.Repeat("x", i%7), i * i, []string{"a", "b"}[:i%3%2]})
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	if err := parquet.WriteFile(path, list); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	named, columns := 0, 0
	random := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		text := bytes.Clone(whole)
		for range 1 + random.IntN(4) {
			text[random.IntN(len(text))] = byte(random.IntN(256))
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		err := rows.Each(t.Context(), path, func(int, rows.Row) error { return nil })
		if err == nil {
			continue
		}
		if !strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "runtime error") ||
			strings.Contains(err.Error(), "goroutine") {
			t.Fatalf("got %v", err)
		}
		named++
		if strings.Contains(err.Error(), "in the column \"") {
			columns++
		}
	}
	t.Logf("%d of 1500 files are refused, %d with a column", named, columns)
	if named < 100 || columns < 20 {
		t.Errorf("only %d files are refused, %d with a column", named, columns)
	}
}

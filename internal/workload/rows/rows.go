// Package rows reads tables: the rows of Parquet, Arrow, JSON, JSON Lines and CSV files, one after the other, as nested
// values. Compressed files are unpacked on the way.
//
// One row, or one batch of rows, is in memory at a time. A value is nil, a bool, a number, a string, bytes, a list or a
// map, whatever the format. The package knows nothing of what the columns mean.
//
// It also reads tables in the IPC format of Apache Arrow, both as a file and as a stream: a schema, then
// batches of rows, column by column, which may be compressed with LZ4 or Zstandard.
//
// A file is a stream between two marks with an index behind it, so that both are read from the beginning to the end.
// One batch is in memory at a time. Whatever a file says, only what lies in it is read, and what it announces is not
// made room for before it is there.
package rows

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/base/bounded"
)

// Row is one row. Values are nil, bool, json.Number, int64, float64, string, []byte, []any and map[string]any. A row
// of a CSV file has only strings.
type Row map[string]any

// ErrEnough ends the reading without an error.
var ErrEnough = errors.New("enough rows")

const arrowKind = "arrow"

// Kind returns the table format that a file's name states, "" if it is none.
func Kind(path string) string {
	switch filepath.Ext(UnpackedName(path)) {
	case ".parquet":
		return "parquet"
	case ".arrow", ".ipc", ".feather":
		return arrowKind
	case ".jsonl", ".ndjson":
		return "jsonl"
	case ".json":
		return "json"
	case ".csv", ".tsv":
		return "csv"
	}
	return ""
}

// kindOf is [Kind], or what a file of another name begins like.
func kindOf(path string) string {
	if kind := Kind(path); kind != "" {
		return kind
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	in, err := bounded.Unpack(file, path)
	if err != nil {
		return ""
	}
	defer in.Close()
	buffered := bufio.NewReader(in)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		buffered.Discard(3)
	}
	if b := firstByte(buffered); b == '{' || b == '[' {
		return "jsonl"
	}
	return ""
}

// UnpackedName returns a file's name in lower case, without what says that it is compressed.
func UnpackedName(path string) string {
	name := strings.ToLower(path)
	for _, suffix := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// checked is after how many rows it is looked whether the reading shall end.
const checked = 256

// Each calls f with every row and its number, from 1 on. An error of f ends the reading; ErrEnough is none.
func Each(ctx context.Context, path string, f func(number int, row Row) error) error {
	kind := kindOf(path)
	if kind == "parquet" || kind == arrowKind {
		return EachTyped(ctx, path, func(number int, _ []Column, row Row) error { return f(number, row) })
	}
	number := 0
	err := eachText(path, kind, func(row Row) error {
		if number++; number%checked == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return f(number, row)
	})
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// eachText reads a file of lines, unpacked and without a mark of the order of bytes.
func eachText(path, kind string, f func(Row) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := bounded.Unpack(file, path)
	if err != nil {
		return err
	}
	defer in.Close()
	buffered := bufio.NewReaderSize(in, 1<<18)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		buffered.Discard(3)
	}
	switch kind {
	case "csv":
		return eachCSV(path, buffered, f)
	case "json", "jsonl":
		return eachJSON(path, buffered, f)
	}
	return fmt.Errorf("%s: want a file that ends in .parquet, .arrow, .jsonl, .json or .csv, each also compressed", path)
}

// eachCSV reads a table whose first line names the columns. Quotes inside of fields are taken as they are: exports of
// spreadsheets have them.
func eachCSV(path string, in io.Reader, f func(Row) error) error {
	buffered := bufio.NewReaderSize(in, 1<<16)
	table := csv.NewReader(buffered)
	table.LazyQuotes, table.Comma = true, separator(buffered)
	header, err := table.Read()
	if err != nil {
		return fmt.Errorf("%s: the header cannot be read: %w", path, err)
	}
	for {
		fields, err := table.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		row := Row{}
		for i, name := range header {
			row[name] = fields[i]
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

// separator returns what parts the columns: a tab or a semicolon where the header has no comma.
func separator(in *bufio.Reader) rune {
	header, _ := in.Peek(1 << 12)
	header, _, _ = bytes.Cut(header, []byte("\n"))
	for _, c := range ",\t;" {
		if bytes.ContainsRune(header, c) {
			return c
		}
	}
	return ','
}

// eachJSON reads objects one after the other, or a list of them, or the list in the member "data" or "rows" of one.
func eachJSON(path string, in *bufio.Reader, f func(Row) error) error {
	dec := json.NewDecoder(in)
	dec.UseNumber()
	wrong := func(err error) error {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%s: not valid JSON behind byte %d: %w", path, dec.InputOffset(), err)
	}
	first := firstByte(in)
	if first == '[' {
		if _, err := dec.Token(); err != nil {
			return wrong(err)
		}
		for dec.More() {
			var item any
			if err := dec.Decode(&item); err != nil {
				return wrong(err)
			}
			row, ok := item.(map[string]any)
			if text, isText := item.(string); isText {
				row, ok = Row{"text": text}, true
			}
			if !ok {
				return fmt.Errorf("%s: an item of the list is neither an object nor a text", path)
			}
			if err := f(row); err != nil {
				return err
			}
		}
		return nil
	}
	for n := 0; ; n++ {
		var row Row
		err := dec.Decode(&row)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return wrong(err)
		}
		if list, ok := wrapped(row); ok && n == 0 && !dec.More() {
			return eachWrapped(path, list, f)
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

func firstByte(in *bufio.Reader) byte {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0
		}
		if b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			in.UnreadByte()
			return b
		}
	}
}

func wrapped(row Row) ([]any, bool) {
	if len(row) > 4 {
		return nil, false
	}
	for _, name := range []string{"data", "rows"} {
		if list, ok := row[name].([]any); ok {
			return list, true
		}
	}
	return nil, false
}

func eachWrapped(path string, list []any, f func(Row) error) error {
	for i, item := range list {
		row, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: item %d of the list is not an object", path, i+1)
		}
		if inner, ok := row["row"].(map[string]any); ok { // as the hub's viewer hands rows out
			row = inner
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return nil
}

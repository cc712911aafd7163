package loader

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"aiperf/internal/workload/rows"
)

// eachTypedRow calls f with the rows of a Parquet or Arrow file as the objects that lines of JSON would be, and their
// numbers from 1. Columns of numbers, texts, booleans and of lists of them are understood; others are left out.
func eachTypedRow(ctx context.Context, path string, f func(number int, o *object)) error {
	return rows.EachTyped(ctx, path, func(number int, columns []rows.Column, row rows.Row) error {
		o := &object{members: make(map[string]json.RawMessage, len(columns))}
		for _, c := range columns {
			if c.Plain {
				o.keys = append(o.keys, c.Name)
				o.members[c.Name] = member(row[c.Name])
			}
		}
		f(number, o)
		return nil
	})
}

// member returns a value as JSON; what is absent, and an empty list, is nil.
func member(value any) json.RawMessage {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		text := json.RawMessage{'['}
		for _, item := range v {
			if item == nil {
				continue
			}
			if len(text) > 1 {
				text = append(text, ',')
			}
			text = append(text, member(item)...)
		}
		if len(text) == 1 {
			return nil
		}
		return append(text, ']')
	case []byte:
		value = string(v)
	}
	if s, ok := value.(string); ok && !utf8.ValidString(s) {
		return json.RawMessage("null")
	}
	text, err := json.Marshal(value)
	if err != nil { // no number of JSON
		return json.RawMessage("null")
	}
	return text
}

package report

import (
	"bytes"
	"encoding/json"

	"aiperf/internal/artifact"
)

// withoutNulls returns a JSON document without the members whose value is null, at any depth. Numbers
// keep their spelling and members their order. Elements of arrays stay, because their place counts.
func withoutNulls(doc []byte) []byte {
	if !bytes.Contains(doc, []byte("null")) {
		return doc
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	tree, err := readTree(d)
	if err != nil {
		return doc
	}
	out, err := artifact.AppendJSON(nil, tree)
	if err != nil {
		return doc
	}
	return out
}

// readTree reads one value into the types that artifact writes.
func readTree(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := artifact.Object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := readTree(d)
			if err != nil {
				return nil, err
			}
			if value != nil {
				o = append(o, artifact.Member{Key: key.(string), Value: value})
			}
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := readTree(d)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

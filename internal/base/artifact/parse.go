package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ParseObject reads a JSON object so that it can be written again as it was: members keep their order,
// numbers their spelling, null stays null.
func ParseObject(data []byte) (Object, error) {
	v, err := Parse(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(Object)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	return o, nil
}

// Parse reads any JSON value as [ParseObject] reads an object.
func Parse(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := parseValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the JSON value at byte %d", d.InputOffset())
	}
	return v, nil
}

// parseValue decodes a value with the order of members kept, and repeated ones too: a document that is written again is
// the same.
func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := Object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			o = append(o, Member{key.(string), value})
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := parseValue(d)
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

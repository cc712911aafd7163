package endpoint

import (
	"bytes"
	"strconv"
	"strings"
)

// readError makes an error of the error member of a reply (an object or a string), or of a reply that
// is an error itself. Values that say nothing (null, false, 0, "", {}, []) are none.
func readError(c *chunk, data []byte) *DecodeError {
	raw := c.err
	if isNull(raw) && string(c.object) == "error" {
		raw = data
	}
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return nil
	}
	switch raw[0] {
	case '"':
		return &DecodeError{Message: textOf(raw)}
	case '{':
		return errorOfObject(raw)
	}
	return &DecodeError{Message: string(appendValue(nil, raw))}
}

func errorOfObject(raw []byte) *DecodeError {
	e := &DecodeError{}
	var code string
	for m := range members(raw) {
		switch string(m.key) {
		case "message":
			e.Message = textOf(m.value)
		case "type":
			e.Type = textOf(m.value)
		case "code":
			if code = textOf(m.value); code == "" && !isNull(m.value) {
				code = string(m.value)
			}
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(code)); err == nil {
		e.Code, e.HasCode = n, true
	} else if e.Type == "" {
		// A code in words says what kind of error it is.
		e.Type = strings.Trim(code, `"`)
	}
	if e.Message == "" {
		e.Message = string(appendValue(nil, raw))
	}
	return e
}

package endpoint

import (
	"bytes"
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
)

// readError makes an error of the error member of a reply (an object or a string), or of a reply that
// is an error itself. Values that say nothing (null, false, 0, "", {}, []) are none.
func readError(c *chunk, data []byte) *record.Error {
	raw := c.err
	if jsonscan.IsNull(raw) && string(c.object) == "error" {
		raw = data
	}
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return nil
	}
	switch raw[0] {
	case '"':
		return &record.Error{Message: jsonscan.Text(raw)}
	case '{':
		return errorOfObject(raw)
	}
	return &record.Error{Message: string(jsonscan.AppendCompact(nil, raw))}
}

// errorOfObject reads an error as servers of OpenAI's API write it. The code is a number, a number in quotes, or a
// word; the message is the whole object where there is none.
func errorOfObject(raw []byte) *record.Error {
	e := &record.Error{}
	var code string
	for m := range jsonscan.Members(raw) {
		switch string(m.Key) {
		case "message":
			e.Message = jsonscan.Text(m.Value)
		case "type":
			e.Type = jsonscan.Text(m.Value)
		case "code":
			if code = jsonscan.Text(m.Value); code == "" && !jsonscan.IsNull(m.Value) {
				code = string(m.Value)
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
		e.Message = string(jsonscan.AppendCompact(nil, raw))
	}
	return e
}

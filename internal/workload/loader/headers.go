package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/header"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

// headersKey is the member of a row, a turn or a conversation with headers of its requests.
const headersKey = "headers"

// headers returns the headers that a member gives; nil if it is absent. Errors name headers and never repeat values,
// which may be secrets.
func (l *lineReader) headers(o *object) ([]dataset.Header, error) {
	if !o.has(headersKey) {
		return nil, nil
	}
	list, err := headersOf(o.members[headersKey])
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", headersKey, err)
	}
	l.credentials.add(list)
	return list, nil
}

var errHeaders = errors.New("want an object with the names and texts of headers")

// headersOf reads an object of headers, in its order.
func headersOf(text []byte) ([]dataset.Header, error) {
	o, err := parseObject(text)
	switch {
	case errors.Is(err, errNotObject):
		return nil, errHeaders
	case err != nil:
		return nil, err
	}
	var list []dataset.Header
	for _, name := range o.keys {
		value, ok := headerText(o.members[name])
		if !ok {
			return nil, fmt.Errorf("the value of header %s is neither a text nor a number", shorten(name))
		}
		if list, err = addHeader(list, name, value); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// addHeader appends a header that a request can have.
func addHeader(list []dataset.Header, name, value string) ([]dataset.Header, error) {
	switch err := header.Check(name, value); {
	case err != nil:
		return nil, err
	case slices.ContainsFunc(list, func(h dataset.Header) bool { return strings.EqualFold(h.Name, name) }):
		return nil, fmt.Errorf("the header %s occurs twice", name)
	case value == artifact.Redacted:
		return nil, fmt.Errorf("the value of header %s was hidden when the file was written: put it in, or leave the "+
			"header out and give it with --header", name)
	}
	return append(list, dataset.Header{Name: name, Value: value}), nil
}

// headerText returns a text, a number or a boolean as the value of a header.
func headerText(v json.RawMessage) (string, bool) {
	switch c := v[0]; {
	case c == '"':
		return jsonscan.Text(v), true
	case c == '-', '0' <= c && c <= '9', c == 't', c == 'f':
		return string(v), true
	}
	return "", false
}

// headersOfValue returns the headers in a column of a table: an object, or one as a text.
func headersOfValue(v any) ([]dataset.Header, error) {
	switch v := v.(type) {
	case string:
		return headersOf([]byte(v))
	case map[string]any:
		text, err := json.Marshal(v) // in the order of the names
		if err != nil {
			return nil, errHeaders
		}
		return headersOf(text)
	}
	return nil, errHeaders
}

// isHeaders reports whether a value is an object of headers that requests can have.
func isHeaders(v any) bool {
	object, ok := v.(map[string]any)
	if !ok || len(object) == 0 {
		return false
	}
	_, err := headersOfValue(v)
	return err == nil
}

// withHeaders gives turns the headers of all of them, below their own.
func withHeaders(turns []dataset.Turn, all []dataset.Header) {
	if len(all) == 0 {
		return
	}
	for i := range turns {
		own := turns[i].Headers
		merged := slices.DeleteFunc(slices.Clone(all), func(h dataset.Header) bool {
			return slices.ContainsFunc(own, func(o dataset.Header) bool { return strings.EqualFold(o.Name, h.Name) })
		})
		turns[i].Headers = append(merged, own...)
	}
}

// maxCredentials bounds the values that are hidden wherever they appear: each text of a run is searched for each of
// them. The others are hidden where the names of their headers stand.
const maxCredentials = 200

// credentials are the headers of a file that hold secrets, each value once.
type credentials struct {
	list []dataset.Header
	seen map[string]bool
	// more reports that there are others.
	more bool
}

func (c *credentials) add(headers []dataset.Header) {
	for _, h := range headers {
		switch {
		case !artifact.IsSensitiveName(h.Name) || c.seen[h.Value]:
		case len(c.list) == maxCredentials:
			c.more = true
		default:
			if c.seen == nil {
				c.seen = map[string]bool{}
			}
			c.seen[h.Value] = true
			c.list = append(c.list, h)
		}
	}
}

// note says what is not hidden everywhere.
func (c *credentials) note(f *faults) {
	if c.more {
		f.notef("%s holds more than %d different credentials in headers: those behind them are hidden as values of "+
			"their headers, and not where a server repeats them", f.path, maxCredentials)
	}
}

package option

import (
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/header"
)

// URLHeader is a header of the requests to one of several URLs.
type URLHeader struct {
	// At is the number of the URL, from 0, or the URL itself.
	At, Name, Value string
}

// String is the text that the header was read from.
func (h URLHeader) String() string { return h.At + "=" + h.Name + ": " + h.Value }

var errURLHeader = errors.New("want URL=name:value, or the number of the URL, from 0, in its place")

// ParseURLHeader reads URL=name:value. A URL may have an equals sign itself: the one that counts is the first before a
// name and a colon. Errors do not repeat the value, which may be a secret.
func ParseURLHeader(text string) (h URLHeader, err error) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '=')
		if i < 0 {
			return h, errURLHeader
		}
		from += i + 1
		name, value, found := strings.Cut(text[from:], ":")
		if name = strings.TrimSpace(name); !found || !header.IsToken(name) {
			continue
		}
		h = URLHeader{strings.TrimSpace(text[:from-1]), name, strings.TrimSpace(value)}
		if h.At == "" {
			return h, errURLHeader
		}
		return h, header.Check(h.Name, h.Value)
	}
}

// checkURLHeaders returns the items without empty ones; an error names the number of the wrong one.
func checkURLHeaders(items []string) ([]string, error) {
	texts := []string{}
	for i, item := range items {
		if strings.TrimSpace(item) == "" {
			continue
		}
		if _, err := ParseURLHeader(item); err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		texts = append(texts, item)
	}
	return texts, nil
}

package prom

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Texts of malformed lines are cut to so many bytes in messages.
const maxQuoted = 60

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// skipSpace returns the position of the next byte that is not white space, over line ends.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == '\n' || isSpace(b[i])) {
		i++
	}
	return i
}

// skipBlank returns the position of the next byte in the line that is not white space.
func skipBlank(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// isNameByte reports whether c may stand in a name. Digits may not come first, and colons are for names
// of metrics only.
func isNameByte(c byte, first, metric bool) bool {
	switch {
	case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_':
		return true
	case c == ':':
		return metric
	}
	return c >= '0' && c <= '9' && !first
}

// nameEnd returns the end of the unquoted name that starts at i, i itself if none does.
func nameEnd(b []byte, i int, metric bool) int {
	first := i
	for i < len(b) && isNameByte(b[i], i == first, metric) {
		i++
	}
	return i
}

// keyEnd returns the end of the key that starts at i: of a comment the whole line with its line end, of a
// sample its name and labels and one blank after them, if there is one.
func keyEnd(b []byte, i int) (int, error) {
	if b[i] == '#' {
		if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
			return i + n + 1, nil
		}
		return len(b), nil
	}
	end := nameEnd(b, i, true)
	brace := skipBlank(b, end)
	if brace < len(b) && b[brace] == '{' {
		var err error
		if end, err = closingBrace(b, brace+1); err != nil {
			return 0, err
		}
	} else if end == i || brace == end {
		return 0, fmt.Errorf("expected a metric name and a value, got %s", quoteLine(b, i))
	}
	if end < len(b) && (b[end] == ' ' || b[end] == '\t') {
		end++
	}
	return end, nil
}

// closingBrace returns the position behind the brace that closes labels; braces in quotes do not count.
func closingBrace(b []byte, i int) (int, error) {
	for quoted := false; i < len(b) && b[i] != '\n'; i++ {
		switch {
		case b[i] == '"':
			quoted = !quoted
		case quoted && b[i] == '\\' && i+1 < len(b) && b[i+1] != '\n':
			i++
		case !quoted && b[i] == '}':
			return i + 1, nil
		}
	}
	return 0, errors.New("labels are not closed by }")
}

// lineEnd reads what may follow a value, a time stamp and an exemplar, and returns the start of the
// next line.
func lineEnd(b []byte, i int) (int, error) {
	if i = skipBlank(b, i); i < len(b) && b[i] != '\n' && b[i] != '#' {
		_, end, ok := number(b, i)
		if !ok {
			return 0, fmt.Errorf("expected a time stamp or the end of the line after the value, got %s",
				quoteLine(b, i))
		}
		i = skipBlank(b, end)
	}
	switch {
	case i == len(b):
		return i, nil
	case b[i] == '\n':
		return i + 1, nil
	case b[i] == '#':
		if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
			return i + n + 1, nil
		}
		return len(b), nil
	}
	return 0, fmt.Errorf("expected the end of the line after the time stamp, got %s", quoteLine(b, i))
}

// parseKey takes the key of a sample apart. The labels are unescaped, in the order of the line, in a
// buffer of the parser.
func (p *Parser) parseKey(raw string) (name string, labels []Label, err error) {
	b := []byte(raw)
	i := nameEnd(b, 0, true)
	name, labels = raw[:i], p.labels[:0]
	if i = skipBlank(b, i); i == len(b) || b[i] != '{' {
		return name, labels, nil
	}
	for i = skipBlank(b, i+1); b[i] != '}'; {
		var l Label
		var isName bool
		if l, isName, i, err = parseLabel(b, i); err != nil {
			return "", nil, err
		}
		switch {
		case !isName:
			labels = append(labels, l)
		case name != "":
			return "", nil, fmt.Errorf("second metric name %s in %s", quote(l.Name), quote(raw))
		default:
			name = l.Name
		}
		if i = skipBlank(b, i); b[i] == ',' {
			i = skipBlank(b, i+1)
			if b[i] == ',' {
				return "", nil, fmt.Errorf("two commas in %s", quote(raw))
			}
		} else if b[i] != '}' {
			return "", nil, fmt.Errorf("expected , or } between labels, got %s", quoteLine(b, i))
		}
	}
	p.labels = labels
	if name == "" {
		return "", nil, fmt.Errorf("no metric name in %s", quote(raw))
	}
	return name, labels, nil
}

// parseLabel reads name="value", or the quoted name of a metric alone. There is always a closing brace
// outside of quotes ahead.
func parseLabel(b []byte, i int) (l Label, isName bool, end int, err error) {
	first := i
	if b[i] == '"' {
		if l.Name, i, err = unquote(b, i); err != nil {
			return l, false, i, err
		}
		if l.Name == "" {
			return l, false, i, errors.New("a quoted name is empty")
		}
	} else {
		i = nameEnd(b, i, false)
		if i == first {
			return l, false, i, fmt.Errorf("expected a label name, got %s", quoteLine(b, first))
		}
		l.Name = string(b[first:i])
	}
	i = skipBlank(b, i)
	if b[i] != '=' {
		if b[first] == '"' {
			return l, true, i, nil
		}
		return l, false, i, fmt.Errorf("expected = after the label name %s, got %s", l.Name, quoteLine(b, i))
	}
	if i = skipBlank(b, i+1); b[i] != '"' {
		return l, false, i, fmt.Errorf(`expected a value in "quotes" for the label %s, got %s`, l.Name, quoteLine(b, i))
	}
	l.Value, i, err = unquote(b, i)
	return l, false, i, err
}

// unquote reads the quoted text at i.
func unquote(b []byte, i int) (s string, end int, err error) {
	first := i + 1
	for i = first; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return unescape(string(b[first:i]), true), i + 1, nil
		}
	}
	return "", i, fmt.Errorf("quotes are not closed in %s", quoteLine(b, first-1))
}

// unescape replaces \\ and \n, and \" if quotes is set; other escapes stay as they are. Bytes that are
// not UTF-8 become the replacement character.
func unescape(s string, quotes bool) string {
	if strings.IndexByte(s, '\\') >= 0 {
		out := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			c := s[i]
			if c == '\\' && i+1 < len(s) {
				switch e := s[i+1]; {
				case e == '\\', e == '"' && quotes:
					c = e
					i++
				case e == 'n':
					c = '\n'
					i++
				}
			}
			out = append(out, c)
		}
		s = string(out)
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// quoteLine returns the rest of the line at i for a message.
func quoteLine(b []byte, i int) string {
	rest := b[min(i, len(b)):]
	if len(rest) > maxQuoted+1 {
		rest = rest[:maxQuoted+1]
	}
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	rest = bytes.TrimRight(rest, "\r")
	if len(rest) == 0 {
		return "the end of the line"
	}
	return quote(string(rest))
}

func quote(s string) string {
	if len(s) > maxQuoted {
		s = s[:maxQuoted] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// labelText writes labels as they stand in a page, for messages.
func labelText(labels []Label) string {
	var b strings.Builder
	for i, l := range labels {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s=%q", l.Name, l.Value)
	}
	return b.String()
}

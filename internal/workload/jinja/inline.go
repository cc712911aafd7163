package jinja

import (
	"fmt"
	"strings"
)

// What the engine reads otherwise than Jinja is rewritten before: it knows "a if b else c" as a
// whole expression only, not inside brackets, where chat templates like to have it (they become calls:
// pick(b, a, c)); and it strips blanks before a block anywhere, not only at the start of a line.

// inline rewrites the choices inside brackets. Line breaks stay where they are.
func inline(text string) string {
	var b strings.Builder
	for {
		start, end := nextTag(text)
		if start < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:start])
		if tag := text[start:end]; tag[1] == '#' {
			b.WriteString(tag)
		} else {
			b.WriteString(brackets(tag))
		}
		text = text[end:]
	}
}

// trimmed makes of a template one that the engine reads as Jinja reads the original with trim_blocks and
// lstrip_blocks, and rewrites the choices. Comments go.
func trimmed(text string) string {
	var b strings.Builder
	lineStart := true // nothing but the template's start or a line break stands before
	for {
		start, end := nextTag(text)
		if start < 0 {
			b.WriteString(text)
			return b.String()
		}
		before, tag := text[:start], text[start:end]
		text = text[end:]
		if tag[1] != '{' && tag[2] != '+' {
			if blank := strings.TrimRight(before, " \t"); strings.HasSuffix(blank, "\n") || blank == "" && lineStart {
				before = blank
			}
		}
		if strings.HasPrefix(tag[2:], "-") && tag[1] == '#' {
			before = strings.TrimRight(before, " \t\r\n")
		}
		b.WriteString(before)
		if tag[1] != '#' {
			b.WriteString(brackets(tag))
		} else if strings.HasSuffix(tag, "-#}") {
			text = strings.TrimLeft(text, " \t\r\n")
		}
		lineStart = false
		if tag[1] != '{' {
			text, lineStart = strings.CutPrefix(text, "\n")
		}
	}
}

// nextTag returns the start and end of the next {{ … }}, {% … %} or {# … #}, or -1.
func nextTag(text string) (start, end int) {
	for from := 0; ; {
		at := strings.IndexByte(text[from:], '{')
		if at < 0 || from+at+1 >= len(text) {
			return -1, -1
		}
		start = from + at
		closing := ""
		switch text[start+1] {
		case '{':
			closing = "}}"
		case '%':
			closing = "%}"
		case '#':
			closing = "#}"
		default:
			from = start + 1
			continue
		}
		end = start + 2
		for end < len(text) && !strings.HasPrefix(text[end:], closing) {
			if text[start+1] != '#' {
				end = skipString(text, end)
			} else {
				end++
			}
		}
		if end >= len(text) {
			return -1, -1
		}
		return start, end + 2
	}
}

// skipString returns the index after the character at i, or after the string that starts there.
func skipString(s string, i int) int {
	quote := s[i]
	if quote != '\'' && quote != '"' {
		return i + 1
	}
	for i++; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == quote {
			return i + 1
		}
	}
	return len(s)
}

// brackets rewrites what is in brackets, the inner ones first. {{ and {% are no brackets.
func brackets(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		end := skipString(s, i)
		if s[i] == '(' || s[i] == '[' {
			if end = matching(s, i); end < 0 {
				b.WriteString(s[i:])
				break
			}
			b.WriteByte(s[i])
			b.WriteString(items(brackets(s[i+1 : end])))
			i = end
			end = i + 1
		}
		b.WriteString(s[i:end])
		i = end
	}
	return b.String()
}

// matching returns the index of the bracket that closes the one at i, or -1.
func matching(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
		i = skipString(s, i)
	}
	return -1
}

// items rewrites the comma-separated items of a bracket.
func items(s string) string {
	var list []string
	for rest := s; ; {
		at := topLevel(rest, ",")
		if at < 0 {
			list = append(list, item(rest))
			return strings.Join(list, ",")
		}
		list = append(list, item(rest[:at]))
		rest = rest[at+1:]
	}
}

func item(s string) string {
	at := topLevel(s, "if")
	if at < 0 {
		return s
	}
	value, rest := s[:at], s[at+2:]
	name := ""
	if eq := topLevel(value, "="); eq > 0 && !strings.ContainsAny(value[eq-1:eq], "=!<>") &&
		!strings.HasPrefix(value[eq+1:], "=") {
		name, value = value[:eq+1], value[eq+1:]
	}
	otherwise := "''"
	condition := rest
	if at := topLevel(rest, "else"); at >= 0 {
		condition, otherwise = rest[:at], item(rest[at+4:])
	}
	return fmt.Sprintf("%s pick((%s), (%s), (%s)) ", name, strings.TrimSpace(condition), strings.TrimSpace(value),
		strings.TrimSpace(otherwise))
}

// topLevel returns the index of a word or sign outside strings and brackets, or -1.
func topLevel(s, word string) int {
	depth := 0
	for i := 0; i < len(s); i = skipString(s, i) {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth != 0 || !strings.HasPrefix(s[i:], word) {
			continue
		}
		if inName(word[0]) && (i > 0 && inName(s[i-1]) || i+len(word) < len(s) && inName(s[i+len(word)])) {
			continue
		}
		return i
	}
	return -1
}

// inName reports whether a byte can be part of a name.
func inName(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

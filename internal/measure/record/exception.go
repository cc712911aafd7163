package record

import (
	"fmt"
	"strings"
	"unicode"
)

// Exception returns the message of an error in the form that reports of the reference have: the type, and in
// parentheses the text as a Python string literal.
func Exception(typ, text string) string { return typ + "(" + quote(text) + ")" }

// quote returns s in single quotes, or in double quotes if it holds a single quote and no double one.
func quote(s string) string {
	mark := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		mark = '"'
	}
	var b strings.Builder
	b.WriteRune(mark)
	for _, r := range s {
		switch {
		case r == mark || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(mark)
	return b.String()
}

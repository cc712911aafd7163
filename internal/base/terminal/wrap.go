package terminal

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a line at spaces so that no part is longer than width; a longer word stands alone.
func Wrap(line string, width int) []string {
	if utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	var parts []string
	current := ""
	for word := range strings.FieldsSeq(line) {
		switch {
		case current == "":
			current = word
		case utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) <= width:
			current += " " + word
		default:
			parts = append(parts, current)
			current = word
		}
	}
	return append(parts, current)
}

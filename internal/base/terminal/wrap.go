package terminal

import "strings"

// Wrap breaks a line at spaces so that no part takes more than width columns; a longer word stands alone.
func Wrap(line string, width int) []string {
	if Width(line) <= width {
		return []string{line}
	}
	var parts []string
	current := ""
	for word := range strings.FieldsSeq(line) {
		switch {
		case current == "":
			current = word
		case Width(current)+1+Width(word) <= width:
			current += " " + word
		default:
			parts = append(parts, current)
			current = word
		}
	}
	return append(parts, current)
}

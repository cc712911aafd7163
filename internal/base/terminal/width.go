package terminal

import "github.com/clipperhouse/displaywidth"

// Width returns the columns that a text takes on a terminal: 2 for wide East Asian characters and emoji, 0 for what
// joins the character before it.
func Width(text string) int {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return displaywidth.String(text)
		}
	}
	return len(text)
}

// Cut returns a text in at most so many columns, with the mark at its end where it was cut.
func Cut(text string, columns int, mark string) string {
	if Width(text) <= columns {
		return text
	}
	if columns <= 0 {
		return ""
	}
	return displaywidth.TruncateString(text, columns, mark)
}

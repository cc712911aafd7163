package console

import (
	"strings"

	"aiperf/internal/base/terminal"
)

// safe makes a foreign text harmless for a terminal and a table: line breaks stay, tabs become a space.
func safe(s string) string { return strings.ReplaceAll(terminal.Text(s), "\t", " ") }

// wrap breaks a text into lines of at most room columns, at spaces where it can.
func wrap(s string, room int) []string {
	room = max(room, 1)
	var lines []string
	for paragraph := range strings.SplitSeq(s, "\n") {
		lines = append(lines, wrapParagraph(paragraph, room)...)
	}
	return lines
}

// wrapParagraph keeps the indentation of the text on all of its lines, as far as it leaves room for a
// wide character.
func wrapParagraph(s string, room int) []string {
	s = strings.TrimRight(s, " ")
	if columns(s) <= room {
		return []string{s}
	}
	text := strings.TrimLeft(s, " ")
	indent := pad(min(len(s)-len(text), room/2, max(room-2, 0)))
	room -= len(indent)
	var lines []string
	line, used := "", 0
	emit := func() {
		lines = append(lines, indent+strings.TrimRight(line, " "))
		line, used = "", 0
	}
	for word := range strings.SplitSeq(text, " ") {
		size := columns(word)
		if line != "" && used+1+size > room {
			emit()
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		for size > room {
			head := fit(word, room)
			line = head
			word = word[len(head):]
			size -= columns(head)
			emit()
		}
		line, used = line+word, used+size
	}
	if line != "" {
		emit()
	}
	return lines
}

// fit is the longest prefix of s that takes at most room columns, but at least one character with
// what joins it.
func fit(s string, room int) string {
	for {
		if head := terminal.Cut(s, room, ""); head != "" || s == "" {
			return head
		}
		room++
	}
}

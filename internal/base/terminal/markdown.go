package terminal

import (
	"strings"
	"unicode"
)

// special are the characters that a backslash takes the meaning of.
const special = "\\`*[]{}#|!~$"

// Markdown returns s as text of a paragraph, a list or a cell of a table.
func Markdown(s string) string {
	var b strings.Builder
	runes := []rune(oneLine(s))
	for i, r := range runes {
		switch {
		case strings.ContainsRune(special, r), r == '_' && !(wordAt(runes, i-1) && wordAt(runes, i+1)),
			i == 0 && strings.ContainsRune("+-=>", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@': // an empty comment separates the sign from the name of a user
			b.WriteString("@<!-- -->")
		case r == ':' && i+2 < len(runes) && runes[i+1] == '/' && runes[i+2] == '/': // no link by itself
			b.WriteString(":<!-- -->")
		default:
			b.WriteRune(r)
		}
	}
	return numbered(b.String())
}

// wordAt reports whether there is a letter or a digit.
func wordAt(runes []rune, i int) bool {
	return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
}

// numbered keeps a text that begins as an item of a numbered list does from being one.
func numbered(s string) string {
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits+1 < len(s) && (s[digits] == '.' || s[digits] == ')') && s[digits+1] == ' ' {
		return s[:digits] + "\\" + s[digits:]
	}
	return s
}

// MarkdownBlock returns lines as a block of code in a language, "" for none, with its final line break.
func MarkdownBlock(language, s string) string {
	s = Text(s)
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

// oneLine returns s with its control characters as escapes and its lines joined.
func oneLine(s string) string {
	return strings.TrimSpace(strings.NewReplacer("\n", " ", "\t", " ").Replace(Text(s)))
}

// longestRun returns how many backticks follow one another at most.
func longestRun(s string) (longest int) {
	run := 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

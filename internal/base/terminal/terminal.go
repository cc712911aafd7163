// Package terminal makes text safe to print on a terminal: text of a server, a file or a log line cannot move the
// cursor, change colours, ring the bell, rename the window or change the direction of writing.
//
// Invariant: the output of Text and of a Writer holds no control character but line breaks and tabs,
// and no character that controls the direction of writing.
//
// It also makes text safe to put into a Markdown page, such as a comment of an issue: text of a server, a file
// or a command line stays text. It starts no link, image, heading, table column or HTML element, and mentions nobody.
//
// Invariant: the output of [Text] is one line without control characters.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// isControl reports whether a terminal may act on r instead of showing it.
func isControl(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Bidi_Control, r)
}

// Text returns s with control characters shown as escapes such as \x1b and \u202e. Line feeds and tabs
// stay, a carriage return becomes a line feed, and what is not UTF-8 becomes U+FFFD. A second pass
// changes nothing.
func Text(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\r':
			b.WriteByte('\n')
		case !isControl(r):
			b.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(&b, `\x%02x`, r)
		default: // a form that stands in JSON, too
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Writer passes text on as Text shows it. A character may be split between two writes: the first half
// waits for the second one, or for Flush.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	held []byte // the beginning of a character, or a carriage return
}

// NewWriter returns a Writer to w. It is safe for concurrent use.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	whole := p
	if len(w.held) > 0 {
		whole = append(w.held, p...)
		w.held = nil
	}
	end := len(whole) - incomplete(whole)
	if end < len(whole) {
		w.held = append([]byte(nil), whole[end:]...)
	}
	if _, err := io.WriteString(w.to, Text(string(whole[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what waits for the rest of a character.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held
	w.held = nil
	_, err := io.WriteString(w.to, Text(string(held)))
	return err
}

// incomplete returns the number of bytes at the end of p whose meaning depends on what follows.
func incomplete(p []byte) int {
	if n := len(p); n > 0 && p[n-1] == '\r' {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

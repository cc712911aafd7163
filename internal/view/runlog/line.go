package runlog

import (
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/terminal"
)

// entry is one log line before its layout.
type entry struct {
	at        time.Time
	level     slog.Level
	component string
	source    string // file:line, shown from DEBUG on
	message   string
}

const (
	consoleTime = "15:04:05.000"
	fileTime    = "2006-01-02 15:04:05.000"
	// levelWidth pads the level on the console.
	levelWidth = 8
	// maxTerminalMessage is the longest message on a terminal, in characters.
	maxTerminalMessage = 2000
	// indentFrom is the terminal width from which continuation lines are indented.
	indentFrom = 90
	// prefixWidth is the width of time, level and the spaces around them.
	prefixWidth = len(consoleTime) + 1 + levelWidth + 1
	// continuation begins the further lines of a message with several lines.
	continuation = "    "
)

// clean makes a text safe for a terminal. It indents what follows a line break, so that it does not look like another
// line of the log.
func clean(s string) string {
	s = terminal.Text(strings.TrimRight(s, "\r\n"))
	return strings.ReplaceAll(strings.ReplaceAll(s, "\t", " "), "\n", "\n"+continuation)
}

func appendFileLine(dst []byte, e *entry) []byte {
	dst = e.at.AppendFormat(dst, fileTime)
	return fmt.Appendf(dst, " - %s - %s - %s\n", e.component, LevelName(e.level), e.message)
}

func appendConsoleLine(dst []byte, e *entry, o *Options) []byte {
	message := e.message
	if o.Terminal {
		message = truncate(message, maxTerminalMessage)
	}
	if e.source != "" && o.Level <= LevelDebug {
		message += " (" + e.source + ")"
	}
	if o.Terminal && o.Columns > prefixWidth {
		message = wrapMessage(message, o.Columns)
	}
	name := fmt.Sprintf("%-*s", levelWidth, LevelName(e.level))
	if o.Terminal && o.Color {
		name = "\x1b[" + levels[levelIndex(e.level)].color + "m" + name + "\x1b[0m"
	}
	dst = e.at.AppendFormat(dst, consoleTime)
	return fmt.Appendf(dst, " %s %s\n", name, message)
}

// truncate cuts a text after n characters.
func truncate(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// wrapMessage breaks a message at the terminal's edge, before a word where it can. On a wide terminal the further lines
// are indented to the message.
func wrapMessage(s string, columns int) string {
	indent := ""
	if columns >= indentFrom {
		indent = strings.Repeat(" ", prefixWidth)
	}
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		used := prefixWidth
		if i > 0 {
			b.WriteByte('\n')
			used = 0
		}
		rest := []rune(line)
		for room := max(columns-used, 1); len(rest) > room; room = max(columns-len(indent), 1) {
			end, next := breakAt(rest, room)
			b.WriteString(string(rest[:end]) + "\n" + indent)
			rest = rest[next:]
		}
		b.WriteString(string(rest))
	}
	return b.String()
}

// breakAt returns where a line ends and where the next one begins: at a space in the second half of the room, else where
// there is no more room.
func breakAt(text []rune, room int) (end, next int) {
	for i := room; i > room/2; i-- {
		if text[i] == ' ' {
			return i, i + 1
		}
	}
	return room, room
}

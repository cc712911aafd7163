package document

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config/fault"
)

// Path is the path of a key: parent.key; the parent of a key at the top is "".
func Path(parent, key string) string {
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// Index is the path of an entry of a list: parent[i].
func Index(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

// Fault adds a fault at a place of the file, about the value with a path; both may be empty. The excerpt shows the line
// without what it says under names of secrets.
func (f *File) Fault(list *fault.List, pos Pos, path, format string, args ...any) {
	at := f.shown()
	if pos != (Pos{}) {
		at += fmt.Sprintf(":%d:%d", pos.Line, pos.Column)
	}
	text := fmt.Sprintf(format, args...)
	list.Add("", "%s%s", head(at, path), text)
	added := &(*list)[len(*list)-1]
	added.Line, added.Column, added.Path, added.Text = pos.Line, pos.Column, path, text
	added.Excerpt = f.excerpt(pos)
}

// FaultOf adds a fault about a value: at its place, or at the flag that made it.
func (f *File) FaultOf(list *fault.List, n *Node, path, format string, args ...any) {
	if n.Origin == "" {
		f.Fault(list, n.Pos, path, format, args...)
		return
	}
	list.Add("", "%s%s", head(n.Origin, path), fmt.Sprintf(format, args...))
}

func head(at, path string) string {
	if path == "" {
		return at + ": "
	}
	return at + ": " + path + ": "
}

func (f *File) shown() string { return terminal.Text(f.Name) }

// line is a line of the file, from 1, without its end.
func (f *File) line(number int) string {
	text := f.Text
	for ; number > 1; number-- {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return string(text)
}

// Widths of an excerpt, in characters: what is shown of a long line, and how much of that before the caret.
const (
	excerptWidth  = 76
	excerptBefore = 46
	// excerptLimit is the longest line, in bytes, that is searched for secrets and shown.
	excerptLimit = 20_000
)

// excerpt is the line of a place with its number, and below it a caret.
func (f *File) excerpt(pos Pos) string {
	if pos == (Pos{}) {
		return ""
	}
	line := f.line(pos.Line)
	if strings.TrimSpace(line) == "" || len(line) > excerptLimit {
		return ""
	}
	// In bytes.
	caret := 0
	for column := 1; column < pos.Column && caret < len(line); column++ {
		_, n := utf8.DecodeRuneInString(line[caret:])
		caret += n
	}
	shown := f.withoutSecrets(line, pos.Line)
	switch {
	case shown == line:
	case caret <= common(line, shown):
	case len(line)-caret <= common(reversed(line), reversed(shown)):
		caret += len(shown) - len(line)
	default:
		caret = -1
	}
	before, after := shown, ""
	if caret >= 0 {
		before, after = shown[:caret], shown[caret:]
	}
	before, after = cut(before, after)
	number := strconv.Itoa(pos.Line)
	before = plainLine(before)
	text := "  " + number + " | " + before + plainLine(after)
	if caret >= 0 {
		text += "\n  " + strings.Repeat(" ", len(number)) + " | " +
			strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
	}
	return text
}

// plainLine makes foreign text safe to print in one line.
func plainLine(s string) string { return terminal.Text(strings.ReplaceAll(s, "\t", " ")) }

// cut leaves of a long line what is near the caret between both parts.
func cut(before, after string) (string, string) {
	b, a := []rune(before), []rune(after)
	if len(b)+len(a) <= excerptWidth {
		return before, after
	}
	if len(a) == 0 {
		return string(b[:excerptWidth-1]) + "…", ""
	}
	if len(b) > excerptBefore {
		b = append([]rune("…"), b[len(b)-excerptBefore+1:]...)
	}
	if room := excerptWidth - len(b); len(a) > room {
		a = append(a[:room-1:room-1], '…')
	}
	return string(b), string(a)
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// named is a name and what stands between it and its value, as in api_key: and "api_key" =.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\pL\pN_.\-]+)["']?\s*[:=]`) })

// secretName is the place behind the first name of a secret in a line, negative without one.
func secretName(line string) int {
	for _, m := range named().FindAllStringSubmatchIndex(line, -1) {
		if artifact.IsSensitiveName(line[m[2]:m[3]]) {
			return m[1]
		}
	}
	return -1
}

// withoutSecrets is a line as it may be shown: without the rest of the line behind the name of a secret, and without
// any text when one of the lines that it belongs to by its indentation ends in such a name.
func (f *File) withoutSecrets(line string, number int) string {
	if f.belongsToSecret(number) {
		return line[:indentation(line)] + artifact.Redacted
	}
	if end := secretName(line); end >= 0 && strings.TrimSpace(line[end:]) != "" {
		line = line[:end] + " " + artifact.Redacted
	}
	return (*artifact.Redactor)(nil).Text(line)
}

// belongsToSecret reports whether a line is part of a value under the name of a secret in a line above.
func (f *File) belongsToSecret(number int) bool {
	lines := strings.Split(string(f.Text), "\n")
	if number > len(lines) {
		return false
	}
	indent, dash := shape(lines[number-1])
	next := true // the line above is the next one that says something
	for i := number - 2; i >= 0 && (next || indent > 0 || dash); i-- {
		line := lines[i]
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		if end := secretName(line); next && end >= 0 && strings.TrimSpace(line[end:]) == "" {
			return true // whose value may be missing, or not be indented
		}
		next = false
		above, aboveDash := shape(line)
		if above > indent || above == indent && (!dash || aboveDash) {
			continue
		}
		if secretName(line) >= 0 {
			return true
		}
		indent, dash = above, aboveDash
	}
	return false
}

// shape is the indentation of a line and whether it is a list entry, which may belong to a key above it in the same
// column.
func shape(line string) (indent int, dash bool) {
	indent = indentation(line)
	return indent, strings.HasPrefix(line[indent:], "- ") || line[indent:] == "-"
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

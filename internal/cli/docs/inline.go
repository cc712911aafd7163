package docs

import (
	"path"
	"strings"

	"aiperf/internal/base/manual"
	"aiperf/internal/base/pattern"
)

var (
	image   = pattern.New(`!\[([^\]]*)\]\([^)]*\)`)
	comment = pattern.New(`<!--.*?-->`)
)

// inline lays out the text of a paragraph, an item or a cell: code and bold text get marks, links name their page.
func (r *renderer) inline(text string) string {
	text = comment.ReplaceAllString(text, "")
	text = image.ReplaceAllStringFunc(text, func(m string) string {
		if alt := image.FindStringSubmatch(m)[1]; alt != "" {
			return "(picture: " + alt + ")"
		}
		return "(picture)"
	})
	var b strings.Builder
	bold := false
	for i := 0; i < len(text); {
		switch rest := text[i:]; {
		case rest[0] == '\\' && len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|~<>$", rest[1]) >= 0:
			b.WriteByte(rest[1])
			i += 2
		case rest[0] == '`':
			n := len(rest) - len(strings.TrimLeft(rest, "`"))
			fence := rest[:n]
			code, _, closed := strings.Cut(rest[n:], fence)
			if !closed {
				b.WriteString(fence)
				i += n
				continue
			}
			b.WriteString(string(markCode) + r.command(strings.TrimSpace(code)) + string(markPlain))
			if bold {
				b.WriteRune(markBold)
			}
			i += 2*n + len(code)
		case strings.HasPrefix(rest, "**"):
			if bold = !bold; bold {
				b.WriteRune(markBold)
			} else {
				b.WriteRune(markPlain)
			}
			i += 2
		case rest[0] == '*' && emphasis(text, i):
			i++
		case rest[0] == '[':
			label, target, n := link(rest)
			if n == 0 {
				b.WriteByte('[')
				i++
				continue
			}
			b.WriteString(r.inline(label) + r.target(label, target))
			i += n
		case rest[0] == '&':
			known := false
			for _, e := range [][2]string{{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}} {
				if strings.HasPrefix(rest, e[0]) {
					b.WriteString(e[1])
					i, known = i+len(e[0]), true
				}
			}
			if !known {
				b.WriteByte('&')
				i++
			}
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	return b.String()
}

// pageFile is a page by the name of its file.
var pageFile = pattern.New(`^docs/([a-z-]+)\.md$`)

// command is the text of code; where that is the file of a page it is the command that shows the page.
func (r *renderer) command(code string) string {
	if m := pageFile.FindStringSubmatch(code); m != nil {
		return manual.Page(m[1])
	}
	return code
}

// emphasis reports whether an asterisk begins or ends a word, rather than standing for a multiplication.
func emphasis(text string, i int) bool {
	before := i == 0 || text[i-1] == ' ' || text[i-1] == '('
	after := i+1 == len(text) || text[i+1] == ' '
	return before != after
}

// link finds the label and the target of a link at the start of a text, and its length; 0 if there is none.
func link(text string) (label, target string, length int) {
	depth, code := 0, false
	for i := range len(text) {
		switch {
		case text[i] == '`':
			code = !code
		case code:
		case text[i] == '[':
			depth++
		case text[i] == ']':
			if depth--; depth > 0 {
				continue
			}
			if i+1 >= len(text) || text[i+1] != '(' {
				return "", "", 0
			}
			end := strings.IndexByte(text[i:], ')')
			if end < 0 {
				return "", "", 0
			}
			return text[1:i], text[i+2 : i+end], i + end + 1
		}
	}
	return "", "", 0
}

// target is what stands behind the label of a link: the page or the address that it leads to.
func (r *renderer) target(label, target string) string {
	file, _, _ := strings.Cut(target, "#")
	switch name := strings.TrimSuffix(path.Base(file), ".md"); {
	case file == "":
		return ""
	case strings.Contains(file, "://"):
		if strings.Contains(label, file) {
			return ""
		}
		return " (" + file + ")"
	case !strings.HasSuffix(file, ".md") || strings.HasPrefix(file, "../"):
		return ""
	default:
		r.pages[name] = true
		return " (→ " + name + ")"
	}
}

// plain is the text of a line of Markdown without its signs.
func plain(text string) string {
	return painted((&renderer{pages: map[string]bool{}}).bare(text), false)
}

// bare is [renderer.inline] without the targets of links.
func (r *renderer) bare(text string) string {
	for {
		at := strings.IndexByte(text, '[')
		if at < 0 {
			break
		}
		label, _, n := link(text[at:])
		if n == 0 {
			break
		}
		text = text[:at] + label + text[at+n:]
	}
	return r.inline(text)
}

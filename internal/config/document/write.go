package document

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
)

// AppendYAML appends a tree as YAML whose lines begin with indent spaces. [Read] and readers of YAML 1.1 read it back
// as an equal tree: texts that one of them would take for something else stand between quotes, those of several lines
// are blocks where that is safe.
func AppendYAML(dst []byte, n *Node, indent int) []byte { return appendNode(dst, n, indent, false) }

// step is how much deeper each level is indented.
const step = 2

// appendNode appends lines; the indentation of the first one may be there already.
func appendNode(dst []byte, n *Node, indent int, begun bool) []byte {
	margin := func() {
		if !begun {
			dst = appendSpaces(dst, indent)
		}
		begun = false
	}
	switch {
	case n.Kind == List && len(n.Items) > 0:
		for _, item := range n.Items {
			margin()
			dst = append(dst, "- "...)
			dst = appendNode(dst, item, indent+step, true)
		}
		return dst
	case n.Kind == Map && len(n.Members) > 0:
		for _, m := range n.Members {
			margin()
			dst = append(appendText(dst, m.Key), ':')
			if v := m.Value; v.Kind == List && len(v.Items) > 0 || v.Kind == Map && len(v.Members) > 0 {
				dst = appendNode(append(dst, '\n'), v, indent+step, false)
			} else {
				dst = appendNode(append(dst, ' '), v, indent+step, true)
			}
		}
		return dst
	}
	margin()
	switch n.Kind {
	case List:
		dst = append(dst, "[]"...)
	case Map:
		dst = append(dst, "{}"...)
	case Null:
		dst = append(dst, "null"...)
	case Float:
		dst = appendFloat(dst, n.Scalar.(float64))
	case Text:
		if text := n.Scalar.(string); isBlock(text) {
			return appendBlock(dst, text, max(indent, step))
		}
		dst = appendText(dst, n.Scalar.(string))
	default:
		dst = fmt.Append(dst, n.Scalar)
	}
	return append(dst, '\n')
}

func appendSpaces(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}

// appendFloat appends a number with a point: without one 1e+16 is a text in YAML 1.1.
func appendFloat(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, ".nan"...)
	case math.IsInf(v, 1):
		return append(dst, ".inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-.inf"...)
	}
	digits := string(artifact.AppendFloat(nil, v))
	if mantissa, exponent, ok := strings.Cut(digits, "e"); ok && !strings.Contains(mantissa, ".") {
		digits = mantissa + ".0e" + exponent
	}
	return append(dst, digits...)
}

// The texts that need no quotes, and those of them that readers of YAML 1.1 take for something else.
var (
	bare = sync.OnceValue(func() *pattern.Pattern {
		return pattern.New(`^[\pL_/]([\pL\pN_./@%+=,()$*-]| [\pL\pN_./(]|:[\pL\pN_./])*$`)
	})
	reserved = pattern.New(`(?i)^(null|true|false|yes|no|on|off|y|n)$`)
)

// appendText appends a text in one line, between quotes if needed.
func appendText(dst []byte, text string) []byte {
	if bare().MatchString(text) && !reserved.MatchString(text) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case unicode.IsPrint(c) && c != 0xFEFF:
			dst = append(dst, string(c)...)
		case c <= 0xFF:
			dst = fmt.Appendf(dst, `\x%02X`, c)
		case c <= 0xFFFF:
			dst = fmt.Appendf(dst, `\u%04X`, c)
		default:
			dst = fmt.Appendf(dst, `\U%08X`, c)
		}
	}
	return append(dst, '"')
}

// isBlock reports whether a text of several lines can be written as they are.
func isBlock(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") {
		return false
	}
	for i, line := range strings.Split(body, "\n") {
		if i == 0 && (line == "" || line[0] == ' ') || strings.HasPrefix(line, "\t") ||
			strings.TrimRight(line, " \t") != line {
			return false
		}
		for _, c := range line {
			if !unicode.IsPrint(c) && c != '\t' || c == 0xFEFF {
				return false
			}
		}
	}
	return true
}

// appendBlock appends a text of several lines.
func appendBlock(dst []byte, text string, indent int) []byte {
	body := strings.TrimSuffix(text, "\n")
	dst = append(dst, '|')
	if body == text {
		dst = append(dst, '-')
	}
	for line := range strings.SplitSeq(body, "\n") {
		dst = append(dst, '\n')
		if line != "" {
			dst = append(appendSpaces(dst, indent), line...)
		}
	}
	return append(dst, '\n')
}

package grade

import (
	"regexp"
	"strings"
	"sync"
)

// found is what a text gives as its answer.
type found struct {
	text string
	// plain reports that it is an expression in plain notation, not LaTeX.
	plain bool
}

// span is a piece of a text with its content.
type span struct {
	from, to int
	found
}

type extractor struct {
	// math is LaTeX in its delimiters, plain an expression of numbers outside of them.
	math, plain *regexp.Regexp
	// hoped is what introduces "final answer is X. I hope it is correct" and follows it, final the beginning of "final
	// answer is X", said "answer".
	hoped, final, said, hope *regexp.Regexp
	// between is what joins pieces of one answer.
	between *regexp.Regexp
}

var extracting = sync.OnceValue(func() *extractor {
	const number = `(?:[0-9]{1,3}(?:[ ,][0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)`
	const more = `(?: ?[-+*/^] ?(?:-?` + number + `|\(-?` + number + `\)))`
	const fraction = `-?\\frac\{-?[0-9]+\}\{[0-9]+\}`
	return &extractor{
		math: regexp.MustCompile(`(?s)\$\$(.+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|\$((?:\\.|[^$\\\n])+?)\$|` +
			`\\begin\{(?:equation|align|gather|math)\*?\}(.+?)\\end\{(?:equation|align|gather|math)\*?\}`),
		plain: regexp.MustCompile(`-?` + number + more + `*%?|` + fraction +
			`|\((?:-?` + number + more + `*|` + fraction + `)\)`),
		hoped:   regexp.MustCompile(`(?i:final answer)[^\n]{0,50}? is:?\s*`),
		final:   regexp.MustCompile(`(?i:final answer) is:?\s*`),
		said:    regexp.MustCompile(`(?i:answer)`),
		hope:    regexp.MustCompile(`^\.?\s?I hope`),
		between: regexp.MustCompile(`^[\s$.]*(?:,|,? ?\\?(?:and|or))[\s$]*$`),
	}
})

// gap is how far an answer may be behind the word "answer".
const gap = 50

// extract returns the answer of a text: its last boxed content, else what "final answer is X. I hope" or "final answer
// is X" state, what follows "answer" in the same line, or the last piece of LaTeX or of plain numbers. Pieces that a
// comma or "and" joins are one answer.
func extract(text string) (found, bool) {
	text = ending(text)
	if boxes := joined(text, boxes(text)); len(boxes) > 0 {
		return boxes[len(boxes)-1].found, true
	}
	e := extracting()
	pieces := e.pieces(text)
	at := 0
	next := func(from int) (span, bool) {
		for at < len(pieces) && pieces[at].from < from {
			at++
		}
		if at == len(pieces) {
			return span{}, false
		}
		return pieces[at], true
	}
	for _, start := range [...]*regexp.Regexp{e.hoped, e.final} {
		var best *found
		at = 0
		for _, m := range start.FindAllStringIndex(text, -1) {
			p, ok := next(m[1])
			if !ok {
				break
			}
			if p.from == m[1] && (start == e.final || e.hope.MatchString(text[p.to:])) {
				best = &p.found
			}
		}
		if best != nil {
			return *best, true
		}
	}
	var best *found
	at = 0
	for _, m := range e.said.FindAllStringIndex(text, -1) {
		p, ok := next(m[1])
		if !ok {
			break
		}
		if p.from-m[1] <= gap+1 && !strings.Contains(text[m[1]:p.from], "\n") {
			best = &p.found
		}
	}
	if best != nil {
		return *best, true
	}
	if len(pieces) > 0 {
		return pieces[len(pieces)-1].found, true
	}
	return found{}, false
}

// pieces are the pieces of LaTeX and of plain numbers of a text, in order.
func (e *extractor) pieces(text string) []span {
	var math []span
	for _, m := range e.math.FindAllStringSubmatchIndex(text, -1) {
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				math = append(math, span{m[0], m[1], found{text[m[i]:m[i+1]], false}})
				break
			}
		}
	}
	math = joined(text, math)
	var out []span
	from := 0
	for _, m := range append(math, span{len(text), len(text), found{}}) {
		for _, n := range e.plain.FindAllStringIndex(text[from:m.from], -1) {
			if a := from + n[0]; mayStand(text, a, from+n[1]) {
				out = append(out, span{a, from + n[1], found{text[a : from+n[1]], true}})
			}
		}
		if m.from < len(text) {
			out = append(out, m)
		}
		from = m.to
	}
	return out
}

// stands reports whether a number may begin here: at the beginning, or behind a blank, an equals sign, a currency or two
// stars.
func stands(text string, at int) bool {
	before := text[:at]
	if before == "" || strings.HasSuffix(before, "**") || strings.HasSuffix(before, "€") || strings.HasSuffix(before, "£") {
		return true
	}
	switch c := before[len(before)-1]; c {
	case ' ', '\n', '\t', '\r', '=':
		return true
	case '$':
		return at == 1 || strings.ContainsRune(" \n=*", rune(before[len(before)-2]))
	}
	return false
}

// mayStand reports whether the expression of a text may be its answer: a fraction anywhere, a sum or product in brackets
// behind a colon, a number in brackets at the beginning of a line, other ones where a number stands.
func mayStand(text string, from, to int) bool {
	rest := text[from:]
	if strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(rest, "-"), "("), `\frac`) {
		return true
	}
	if rest[0] != '(' {
		return stands(text, from)
	}
	before := strings.TrimRight(text[:from], " ")
	if strings.Trim(text[from+1:to-1], "-0123456789., ") == "" {
		if text[to:] == "\n" {
			return true
		}
		return (before == "" || strings.HasSuffix(before, "\n")) && to < len(text) && (text[to] == ' ' || text[to] == '\n')
	}
	return strings.HasSuffix(before, ":")
}

// boxes are the contents of the boxes of a text, in order; of nested ones the outer one.
func boxes(text string) []span {
	const mark = `\boxed`
	if !strings.Contains(text, mark) {
		return nil
	}
	closed := closings(text)
	var out []span
	for at := 0; ; {
		i := strings.Index(text[at:], mark)
		if i < 0 {
			return out
		}
		from := at + i
		at = from + len(mark)
		start := at
		for start < len(text) && text[start] == ' ' {
			start++
		}
		end := start
		if start < len(text) && text[start] == '{' {
			start++
			if end = closed[start-1]; end == 0 {
				continue
			}
			at = end + 1
		} else {
			for start > at && end < len(text) && (isDigit(text[end]) || isLetter(text[end])) {
				end++
			}
			at = end
		}
		if strings.TrimSpace(text[start:end]) != "" {
			out = append(out, span{from, at, found{text[start:end], false}})
		}
	}
}

// closings returns where each opening brace is closed, by its position; 0 for nowhere.
func closings(text string) []int {
	out := make([]int, len(text))
	var open []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			open = append(open, i)
		case '}':
			if n := len(open); n > 0 {
				out[open[n-1]] = i
				open = open[:n-1]
			}
		}
	}
	return out
}

// joined joins pieces that a comma or "and" joins.
func joined(text string, list []span) []span {
	var out []span
	for _, one := range list {
		if n := len(out); n > 0 && one.from-out[n-1].to <= 12 && extracting().between.MatchString(text[out[n-1].to:one.from]) {
			out[n-1].text += "," + one.text
			out[n-1].to = one.to
			continue
		}
		out = append(out, one)
	}
	return out
}

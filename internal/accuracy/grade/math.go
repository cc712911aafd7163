package grade

import (
	"regexp"
	"strings"
	"sync"
)

const (
	// longest is the length up to which a result is understood as mathematics; a longer one is compared as text.
	longest = 4096
	// tail is how much of the end of a text is searched for stated results and numbers.
	tail = 64 << 10
)

// Math compares the last boxed result; as fallbacks the last stated one, the last number, the whole text.
func Math(answer, gold string) Verdict {
	v := Verdict{Gold: goldResult(gold)}
	v.Extracted, v.Unparsed = result(answer)
	return v.compare()
}

// Expression compares the boxed, stated or last result with a gold expression. An answer counts as unparsed only where
// it is empty.
func Expression(answer, gold string) Verdict {
	v := Verdict{Gold: goldResult(gold)}
	v.Extracted, _ = result(answer)
	v.Unparsed = v.Extracted == ""
	return v.compare()
}

// LaTeX compares the boxed, stated or last result with that of a gold solution.
func LaTeX(answer, gold string) Verdict {
	v := Verdict{}
	v.Gold, _ = result(gold)
	v.Extracted, _ = result(answer)
	v.Unparsed = v.Extracted == ""
	return v.compare()
}

func (v Verdict) compare() Verdict {
	v.Correct = v.Extracted != "" && Equal(v.Extracted, v.Gold)
	return v.explain("the result equals the gold result", "the result differs from the gold result")
}

// goldResult is a gold answer: its boxed part if it has one.
func goldResult(gold string) string {
	if b, ok := boxed(gold); ok {
		return b
	}
	return strings.TrimSpace(gold)
}

var (
	stated = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:final answer(?: is)?|the answer is|answer:)[\s:*]*([^\n]+?)(?:\.(?:\s|$)|\n|$)`)
	})
	lastNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(-?[0-9]+(?:\.[0-9]+)?(?:/[0-9]+)?)`)
	})
)

// result returns the result that a text gives, and whether a fallback found it.
func result(text string) (found string, fallback bool) {
	if b, ok := boxed(text); ok {
		return b, false
	}
	end := text[max(0, len(text)-tail):]
	if said, ok := last(stated(), end); ok {
		said = sentence(said)
		if strings.ContainsAny(said, `\{}`) {
			return strings.Trim(said, "* "), true
		}
		if n, ok := last(lastNumber(), said); ok {
			return n, true
		}
		if said = strings.Trim(said, "* "); said != "" {
			return said, true
		}
	}
	if n, ok := last(lastNumber(), end); ok {
		return n, true
	}
	return strings.TrimSpace(text), true
}

// sentence cuts a text behind its first sentence: at a full stop that a blank or the end follows.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i]
	}
	return strings.TrimRight(text, ". ")
}

// boxed returns the content of the last \boxed{…} whose braces are balanced, in one pass.
func boxed(text string) (string, bool) {
	const mark = `\boxed{`
	if !strings.Contains(text, mark) {
		return "", false
	}
	start, end := -1, -1
	var open []int // start of the content of a box, -1 of other braces
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if strings.HasPrefix(text[i:], mark) {
				i += len(mark) - 1
				open = append(open, i+1)
			} else if i+1 < len(text) && (text[i+1] == '{' || text[i+1] == '}' || text[i+1] == '\\') {
				i++
			}
		case '{':
			open = append(open, -1)
		case '}':
			if len(open) == 0 {
				continue
			}
			if at := open[len(open)-1]; at > start {
				start, end = at, i
			}
			open = open[:len(open)-1]
		}
	}
	if start < 0 {
		return "", false
	}
	inner := strings.ReplaceAll(text[start:end], "\n", "")
	inner = strings.TrimLeft(strings.TrimSpace(inner), ":")
	return strings.TrimSpace(strings.TrimRight(inner, "./ ")), true
}

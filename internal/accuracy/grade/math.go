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
	tail = 32 << 10
)

// Math compares the last boxed result; as fallbacks the last stated one, the last number, the whole text.
func Math(answer, gold string) Verdict {
	v := Verdict{Gold: goldResult(gold)}
	v.Extracted, v.Unparsed = result(answer)
	return v.compare()
}

// Expression compares the boxed, stated or last result with a gold expression. Nothing counts as unparsed, as in the
// original.
func Expression(answer, gold string) Verdict {
	v := Verdict{Gold: strings.TrimSpace(gold)}
	if b, ok := boxed(v.Gold); ok {
		v.Gold = b
	} else if list := extracting().pieces(v.Gold); len(list) == 1 && list[0].plain && isUnit(v.Gold[list[0].to:]) {
		v.Gold = list[0].text
		return v.extractive(answer, true)
	}
	return v.extractive(answer, false)
}

// isUnit reports whether what stands behind a number is nothing but words.
func isUnit(s string) bool { return !strings.ContainsAny(s, "0123456789,\\!()[]{}^_=+-*/<>") }

// LaTeX compares the boxed, stated or last result with that of a gold solution.
func LaTeX(answer, gold string) Verdict {
	v := Verdict{Gold: strings.TrimSpace(gold)}
	if f, ok := extract(gold); ok {
		v.Gold = f.text
	}
	return v.extractive(answer, false)
}

// extractive compares what a text gives with the gold answer, which may be a plain number.
func (v Verdict) extractive(answer string, plain bool) Verdict {
	f, ok := extract(answer)
	if v.Extracted = strings.TrimSpace(f.text); ok && v.Extracted != "" {
		v.Correct = exactly(v.Extracted, v.Gold) ||
			plain && exactly(v.Extracted, plainly(v.Gold)) || f.plain && exactly(plainly(v.Extracted), plainly(v.Gold))
	}
	return v.explain("the result equals the gold result", "the result differs from the gold result")
}

// plainly is a plain number without the separators of thousands and the percent sign, which leaves open what is meant.
func plainly(s string) string {
	s = strings.TrimSuffix(s, "%")
	if l := strings.FieldsFunc(s, func(c rune) bool { return c == ' ' || c == ',' }); len(l) > 1 {
		for _, group := range l[1:] {
			if len(group) < 3 || !isDigit(group[0]) {
				return s
			}
		}
		return strings.Join(l, "")
	}
	return s
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
	// stated is a phrase that announces a result; what follows up to the end of the sentence is the result.
	stated = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:final\s+answer|answer\s+is|answer\s*[:=])[\s:]*[\s=]*`)
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
	end := ending(text)
	if said, ok := lastStated(end); ok {
		if strings.ContainsAny(said, `\{}`) {
			return said, true
		}
		if n, ok := last(lastNumber(), said); ok {
			return n, true
		}
		return said, true
	}
	if n, ok := last(lastNumber(), end); ok {
		return n, true
	}
	return strings.TrimSpace(text), true
}

// ending is the part of a text that is searched.
func ending(text string) string { return text[max(0, len(text)-tail):] }

// lastStated returns what the last phrase announces.
func lastStated(text string) (said string, ok bool) {
	for at := 0; at < len(text); {
		m := stated().FindStringIndex(text[at:])
		if m == nil {
			break
		}
		if at+m[1] == len(text) { // nothing but a blank, if at all
			if c := text[len(text)-1]; c == ' ' || c == '\t' {
				return "", true
			}
			break
		}
		from := at + m[1]
		at = from + sentence(text[from:])
		said, ok = strings.TrimSpace(text[from:at]), true
	}
	return said, ok
}

// sentence returns where a sentence ends: at the end of the line, or at a stop that is next to no digit, where it would
// be one of a number. It has at least one character.
func sentence(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == '\n' || text[i] == '.' && !isDigit(text[i-1]) && (i+1 == len(text) || !isDigit(text[i+1])) {
			return i
		}
	}
	return len(text)
}

// boxed returns the content of the last \boxed{…}; false where its braces are not balanced, escaped ones included.
func boxed(text string) (string, bool) {
	const mark = `\boxed{`
	start := strings.LastIndex(text, mark)
	if start < 0 {
		return "", false
	}
	start += len(mark)
	depth := 1
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				inner := strings.ReplaceAll(text[start:i], "\n", "")
				inner = strings.TrimPrefix(inner, ":")
				return strings.TrimSuffix(strings.TrimSuffix(inner, "."), "/"), true
			}
		}
	}
	return "", false
}

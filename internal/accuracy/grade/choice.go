package grade

import (
	"regexp"
	"strings"
	"sync"
)

// letters finds letters of choices up to a last one.
type letters struct {
	// whole is one letter alone, alone a letter that stands by itself in a text.
	whole, alone *regexp.Regexp
	// stated is "answer is (X)" or "answer is X", colon "answer: X".
	stated, colon *regexp.Regexp
}

func lettersUpTo(last string) func() *letters {
	return sync.OnceValue(func() *letters {
		set := "[A-" + last + "]"
		return &letters{
			whole:  regexp.MustCompile(`^` + set + `$`),
			alone:  regexp.MustCompile(`\b(` + set + `)\b`),
			stated: regexp.MustCompile(`answer is \(?(` + set + `)\b\)?`),
			colon:  regexp.MustCompile(`[aA]nswer:\s*(` + set + `)\b`),
		}
	})
}

var upToD, upToJ = lettersUpTo("D"), lettersUpTo("J")

// MultipleChoice looks for a letter from A to D: the first line alone, else the last "answer is X"; as fallbacks the last
// "Answer: X", the first lone letter of the first line, the last one anywhere, the first line.
func MultipleChoice(answer, gold string) Verdict {
	l, first := upToD(), firstLine(answer)
	v := Verdict{Gold: strings.TrimSpace(gold)}
	switch {
	case l.whole.MatchString(first):
		v.Extracted = first
	case v.take(last(l.stated, answer)):
	default:
		v.Unparsed = true
		if !v.take(last(l.colon, answer)) && !v.take(earliest(l.alone, first)) && !v.take(last(l.alone, answer)) {
			v.Extracted = first
		}
	}
	return v.chosen()
}

// MMLUPro looks for a letter from A to J: the first line alone, else the last "answer is (X)"; as fallbacks the last
// "answer: X" and the last lone letter.
func MMLUPro(answer, gold string) Verdict {
	l, first := upToJ(), firstLine(answer)
	v := Verdict{Gold: strings.TrimSpace(gold)}
	switch {
	case l.whole.MatchString(first):
		v.Extracted = first
	case v.take(last(l.stated, answer)):
	default:
		v.Unparsed = true
		if !v.take(last(l.colon, answer)) {
			v.take(last(l.alone, answer))
		}
	}
	return v.chosen()
}

// gpqa finds the letter of a question of GPQA. A letter counts where a blank or a line's start stands before it and a
// blank, a stop, a comma, a colon or the end behind it, so that "A)" and "\boxed{A}" are none: the form that was asked
// for is "Answer: A".
type gpqa struct {
	// hoped is the ending "final answer is X. I hope it is correct", final "final answer is X".
	hoped, final *regexp.Regexp
	// stated is "answer" with the letter in the same line, within 50 characters.
	stated *regexp.Regexp
	// opening is a letter that begins the text, line one that begins a line.
	opening, line *regexp.Regexp
}

var ofGPQA = sync.OnceValue(func() *gpqa {
	const given = `(\([A-D]\)|[A-D])`
	const letter = `(?:\*\*)?` + given + `(?:\*\*)?(?:[ .,:]|\n?\z)`
	return &gpqa{
		hoped:   regexp.MustCompile(`(?i:final answer)[^\n]{0,50}? is:?\s*` + given + `\.?\s?I hope`),
		final:   regexp.MustCompile(`(?i:final answer) is:?\s*` + given),
		stated:  regexp.MustCompile(`(?i:answer)[^\n]{0,50}? ` + letter),
		opening: regexp.MustCompile(`\A` + letter),
		line:    regexp.MustCompile(`\n` + letter),
	}
})

// Letter looks for a letter from A to D as questions of GPQA ask for it: the last "final answer is X. I hope it is
// correct", else the last "final answer is X", the last "answer … X" in one line, a letter that begins the text, the
// last one that begins a line. No answer counts as unparsed, as in the original.
func Letter(answer, gold string) Verdict {
	l := ofGPQA()
	v := Verdict{Gold: strings.TrimSpace(gold)}
	if v.take(last(l.hoped, answer)) || v.take(last(l.final, answer)) || v.take(last(l.stated, answer)) ||
		v.take(earliest(l.opening, answer)) || v.take(last(l.line, answer)) {
		v.Extracted = strings.Trim(v.Extracted, "()")
	}
	return v.chosen()
}

func (v *Verdict) take(found string, ok bool) bool {
	if ok {
		v.Extracted = found
	}
	return ok
}

func (v Verdict) chosen() Verdict {
	v.Correct = v.Extracted != "" && v.Extracted == v.Gold
	return v.explain("the letter is the gold letter", "the letter differs from the gold letter")
}

// firstLine is the first line of a text, trimmed; empty lines before it do not count.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// last returns what the first group of a pattern matched last.
func last(pattern *regexp.Regexp, text string) (string, bool) {
	found := ""
	for at := 0; at < len(text); {
		m := pattern.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		found = text[at+m[2] : at+m[3]]
		at += m[1]
	}
	return found, found != ""
}

func earliest(pattern *regexp.Regexp, text string) (string, bool) {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

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
	case v.take(last(l.stated, ending(answer))):
	default:
		v.Unparsed = true
		end, start := ending(answer), first[:min(tail, len(first))]
		if !v.take(last(l.colon, end)) && !v.take(earliest(l.alone, start)) && !v.take(last(l.alone, end)) {
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
	case v.take(last(l.stated, ending(answer))):
	default:
		v.Unparsed = true
		if !v.take(last(l.colon, ending(answer))) {
			v.take(last(l.alone, ending(answer)))
		}
	}
	return v.chosen()
}

// gpqa finds the endings "final answer is X. I hope it is correct" and "final answer is X".
type gpqa struct{ hoped, final *regexp.Regexp }

var ofGPQA = sync.OnceValue(func() *gpqa {
	const given = `(\([A-D]\)|[A-D])`
	return &gpqa{
		hoped: regexp.MustCompile(`(?i:final answer)[^\n]{0,50}? is:?\s*` + given + `\.?\s?I hope`),
		final: regexp.MustCompile(`(?i:final answer) is:?\s*` + given),
	}
})

// announced reports whether a text has "final answer", in letters of any case.
func announced(text string) bool {
	const words = "final answer"
	for i := 0; i+len(words) <= len(text); i++ {
		if c := text[i]; (c == 'f' || c == 'F') && strings.EqualFold(text[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// letterAt returns the letter of a choice that a text begins with, in brackets, in bold or bare. It counts where a blank,
// a stop, a comma, a colon or the end stands behind it, so that "A)" and "\boxed{A}" are none: the form that is asked for
// is "Answer: A".
func letterAt(text string) (string, bool) {
	s := strings.TrimPrefix(text, "**")
	letter := ""
	switch {
	case len(s) > 2 && s[0] == '(' && s[2] == ')' && s[1] >= 'A' && s[1] <= 'D':
		letter, s = s[1:2], s[3:]
	case s != "" && s[0] >= 'A' && s[0] <= 'D':
		letter, s = s[:1], s[1:]
	default:
		return "", false
	}
	s = strings.TrimPrefix(s, "**")
	return letter, s == "" || s == "\n" || strings.IndexByte(" .,:", s[0]) >= 0
}

// statedLetter returns the letter of the last "answer" that one follows in the same line, within 50 characters.
func statedLetter(text string) (string, bool) {
	const word = "answer"
	for at := len(text) - len(word); at >= 0; at-- {
		if c := text[at]; c != 'a' && c != 'A' || !strings.EqualFold(text[at:at+len(word)], word) {
			continue
		}
		for i := at + len(word); i < len(text) && i <= at+len(word)+gap && text[i] != '\n'; i++ {
			if text[i] == ' ' {
				if letter, ok := letterAt(text[i+1:]); ok {
					return letter, true
				}
			}
		}
	}
	return "", false
}

// lineLetter returns the letter of the last line that begins with one. The first line does not count.
func lineLetter(text string) (string, bool) {
	for at := strings.LastIndexByte(text, '\n'); at >= 0; at = strings.LastIndexByte(text[:at], '\n') {
		if letter, ok := letterAt(text[at+1:]); ok {
			return letter, true
		}
	}
	return "", false
}

// Letter looks for a letter from A to D as questions of GPQA ask for it: the last "final answer is X. I hope it is
// correct", else the last "final answer is X", the last "answer … X" in one line, a letter that begins the text, the
// last one that begins a line. No answer counts as unparsed, as in the original.
func Letter(answer, gold string) Verdict {
	l := ofGPQA()
	v := Verdict{Gold: strings.TrimSpace(gold)}
	end := ending(answer)
	if announced(end) && (v.take(last(l.hoped, end)) || v.take(last(l.final, end))) {
		v.Extracted = strings.Trim(v.Extracted, "()")
	} else if !v.take(statedLetter(end)) && !v.take(letterAt(answer)) {
		v.take(lineLetter(end))
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

package hf

import (
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/tokenizer/split"

	"github.com/dlclark/regexp2/v2"
)

// pattern calls match for each match in s, from left to right.
type pattern func(s string, match func(start, end int))

// newPattern makes a pattern of text, of an expression that a scanner knows, or of any other.
func newPattern(p *patternSpec) (pattern, error) {
	switch {
	case p == nil:
		return nil, errors.New("a pattern is missing")
	case p.String != nil:
		return literal(*p.String), nil
	case p.Regex == nil:
		return nil, errors.New("a pattern is neither a String nor a Regex")
	}
	if known := split.Known(*p.Regex); known != nil {
		return scan(known), nil
	}
	return expression(*p.Regex)
}

func scan(find split.Func) pattern {
	return func(s string, match func(start, end int)) {
		for i := 0; i < len(s); {
			start, end := find(s, i)
			if start >= len(s) {
				return
			}
			match(start, end)
			i = end
		}
	}
}

func literal(text string) pattern {
	return func(s string, match func(start, end int)) {
		if text == "" {
			return
		}
		for i := 0; ; {
			at := strings.Index(s[i:], text)
			if at < 0 {
				return
			}
			match(i+at, i+at+len(text))
			i += at + len(text)
		}
	}
}

// expression runs an expression of the reference engine's dialect by a backtracking matcher.
func expression(text string) (pattern, error) {
	translated, err := translate(text)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q: %w", text, err)
	}
	re, err := regexp2.Compile(translated, regexp2.Multiline)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q: %w", text, err)
	}
	return func(s string, match func(start, end int)) {
		all, err := re.FindAllStringIndex(s, -1)
		if err != nil { // no time limit is set: there is no other cause
			return
		}
		for _, m := range all {
			match(m[0], m[1])
		}
	}, nil
}

// oneChar matches each code point of a set, runs a run of them.
func oneChar(set func(rune) bool) pattern {
	return func(s string, match func(start, end int)) {
		for i, r := range s {
			if set(r) {
				match(i, i+len(string(r)))
			}
		}
	}
}

func runs(set func(rune) bool) pattern {
	return func(s string, match func(start, end int)) {
		start := -1
		for i, r := range s {
			if in := set(r); in && start < 0 {
				start = i
			} else if !in && start >= 0 {
				match(start, i)
				start = -1
			}
		}
		if start >= 0 {
			match(start, len(s))
		}
	}
}

// gpt2 is the splitter of the ByteLevel pre-tokenizer.
var gpt2 = split.Named(split.GPT2)

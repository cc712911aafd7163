package hf

import (
	"errors"
	"strings"

	"aiperf/internal/workload/tokenizer"
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
	if known := tokenizer.KnownSplit(*p.Regex); known != nil {
		return scan(known), nil
	}
	x, err := newExpression(*p.Regex)
	if err != nil {
		return nil, err
	}
	p.slow = x
	return x.each, nil
}

func scan(find tokenizer.SplitFunc) pattern {
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

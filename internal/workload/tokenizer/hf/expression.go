package hf

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// expression is a pattern in the reference engine's dialect, run by a backtracking matcher. A pattern comes from a file
// of others: one that tries ever more ways is found out before it is used, by short texts, or given up while it is.
type expression struct {
	text   string
	re     *regexp2.Regexp
	failed atomic.Pointer[error]
}

const (
	probeTime = 500 * time.Millisecond
	matchTime = 10 * time.Second
	probeSize = 64 // characters of a probe
)

// probes are characters that patterns like to repeat.
var probes = []string{"a", "A", "1", " ", "\n", ".", "'", "é", "中", "aA", "a ", "1a", ". "}

func newExpression(text string) (*expression, error) {
	translated, err := translate(text)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q: %w", text, err)
	}
	re, err := regexp2.Compile(translated, regexp2.Multiline)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q: %w", text, err)
	}
	re.MatchTimeout = probeTime
	for _, p := range probes {
		if _, err := re.FindAllStringIndex(strings.Repeat(p, probeSize/len([]rune(p)))+"\x00", -1); err != nil {
			return nil, fmt.Errorf("the pattern %q cannot be used: it takes more than %s for %d characters (%q …)",
				text, probeTime, probeSize, p)
		}
	}
	re.MatchTimeout = matchTime
	return &expression{text: text, re: re}, nil
}

// each implements pattern. Once the expression has failed it matches nothing.
func (x *expression) each(s string, match func(start, end int)) {
	if x.failed.Load() != nil {
		return
	}
	all, err := x.re.FindAllStringIndex(s, -1)
	if err != nil { // the time is over: there is no other cause
		failure := fmt.Errorf("the pattern %q was given up: a match took more than %s; what was counted since is wrong",
			x.text, matchTime)
		x.failed.CompareAndSwap(nil, &failure)
		return
	}
	for _, m := range all {
		match(m[0], m[1])
	}
}

// err is why the expression was given up.
func (x *expression) err() error {
	if failure := x.failed.Load(); failure != nil {
		return *failure
	}
	return nil
}

// expressions lists those of a component and its parts.
func expressions(list []*expression, s *spec) []*expression {
	if s == nil {
		return list
	}
	if s.Pattern != nil && s.Pattern.slow != nil {
		list = append(list, s.Pattern.slow)
	}
	for _, parts := range [][]spec{s.Normalizers, s.Pretokenizers, s.Decoders} {
		for i := range parts {
			list = expressions(list, &parts[i])
		}
	}
	return list
}

// Err reports that the tokenizer has failed, and gives wrong ids since: a pattern took too long.
func (t *Tokenizer) Err() error {
	for _, x := range t.slow {
		if err := x.err(); err != nil {
			return err
		}
	}
	return nil
}

// Splitter makes a pattern usable outside of a tokenizer.json: match is called for each match in s, from left to right,
// and failed reports why it was given up.
func Splitter(text string) (each func(s string, match func(start, end int)), failed func() error, err error) {
	x, err := newExpression(text)
	if err != nil {
		return nil, nil, err
	}
	return x.each, x.err, nil
}

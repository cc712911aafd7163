// Package pattern holds regular expressions that are compiled when they are first used: the program has hundreds of
// them, and a command needs few.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. Its methods are those of [regexp.Regexp]; it is safe for concurrent use.
type Pattern struct {
	text string
	once sync.Once
	of   *regexp.Regexp
}

var all []*Pattern

// New returns the pattern of a regular expression. It is called where packages are initialized; a wrong expression panics
// at its first use, see [CompileAll].
func New(text string) *Pattern {
	p := &Pattern{text: text}
	all = append(all, p)
	return p
}

// CompileAll compiles the patterns of all packages of the program, for a test: a wrong one panics.
func CompileAll() (count int) {
	for _, p := range all {
		p.compiled()
	}
	return len(all)
}

func (p *Pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.of = regexp.MustCompile(p.text) })
	return p.of
}

func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

func (p *Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}

func (p *Pattern) FindAllSubmatch(b []byte, n int) [][][]byte {
	return p.compiled().FindAllSubmatch(b, n)
}

func (p *Pattern) ReplaceAllString(s, by string) string { return p.compiled().ReplaceAllString(s, by) }

func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, by)
}

func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.compiled().FindSubmatch(b) }

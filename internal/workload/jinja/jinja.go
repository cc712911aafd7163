// Package jinja renders Jinja2 templates by the engine of gonja, corrected where Python differs: None prints as None
// and is not the same as undefined, tojson writes what Python's json would, escaped for HTML as Jinja does.
//
// Invariants: a template is a text by itself and cannot read files; what it may use is bounded, whoever wrote it: a
// recursion without end would end the program.
//
// The package must never know what a template is for: chat or a request's body.
//
// It also renders conversations by a model's chat template, to count what the server adds to the texts: roles,
// turn markers, the start of the reply.
//
// Invariant: a template is data of others; rendering one is bounded in time and memory.
//
// The package must never know tokens and requests: messages go in, text comes out.
package jinja

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strings"
	"time"

	"aiperf/internal/base/pattern"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
)

// none is the type of None: nil, but defined.
type none struct{}

// None is Python's None among the variables of a template; a missing variable is undefined.
var None any = (*none)(nil)

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	parsed *exec.Template
	steps  int
	names  []string
}

// Options configures how a template is read.
type Options struct {
	// Escape has printed values escaped for HTML.
	Escape bool
	// Chat reads a template as model templates are read: with trim_blocks and lstrip_blocks, and a tojson that
	// escapes nothing.
	Chat bool
	// Steps bounds the bodies of loops, choices and macros of a rendering; 0 is [DefaultSteps].
	Steps int
	// Strict has undefined names end the rendering, and numbers computed as Python does.
	Strict bool
}

// Compile parses a template. Its error names the line if the engine knows it.
func Compile(source string, o Options) (t *Template, err error) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("the template cannot be parsed: %v", p)
		}
	}()
	if err := checkSource(source); err != nil {
		return nil, err
	}
	c := config.New()
	c.AutoEscape, c.StrictUndefined = o.Escape, o.Strict
	rewritten := o.Rewrite(source)
	parsed, err := exec.NewTemplate(home, c, &onlyTemplate{text: rewritten}, environments[o.Chat]())
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "failed to parse template '"+rewritten+"': ")
		if !o.Chat { // else the lines are not those of the source
			text = where(source, text)
		}
		return nil, errors.New("the template cannot be parsed: " + text)
	}
	a := amender{seen: map[uintptr]bool{}, strict: o.Strict}
	a.amend(reflect.ValueOf(parsed.Root()))
	return &Template{parsed, cmp.Or(o.Steps, DefaultSteps), a.names}, nil
}

// Rewrite returns a template as the engine reads it: with the choices inside brackets as calls and, of a chat, with the
// blanks of trim_blocks and lstrip_blocks and the comments gone.
func (o Options) Rewrite(source string) string {
	if o.Chat {
		return trimmed(source)
	}
	return inline(source)
}

// Names returns the names and attributes of names in the template, such as "a" and "a.b"; some may be its own.
func (t *Template) Names() []string { return t.names }

// home is the only file that a template can read: itself.
const home = "/template"

// onlyTemplate reads the template, once: one that includes itself would not end.
type onlyTemplate struct {
	text  string
	given bool
}

func (s *onlyTemplate) Read(name string) (io.Reader, error) {
	if name != home || s.given {
		return nil, fmt.Errorf("a template cannot read files, here %s", name)
	}
	s.given = true
	return strings.NewReader(s.text), nil
}

func (s *onlyTemplate) Resolve(name string) (string, error) { return name, nil }

func (s *onlyTemplate) Inherit(string) (loaders.Loader, error) { return s, nil }

// Render fills the template in. Its error names line and expression.
func (t *Template) Render(variables map[string]any) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("the template cannot be rendered: %v", p)
		}
	}()
	all := make(map[string]any, len(variables)+4)
	maps.Copy(all, variables)
	all["none"], all["None"], all["pick"] = None, None, pick
	out := &output{limit: maxText}
	left := &budget{steps: t.steps, limit: t.steps, end: time.Now().Add(maxTime)}
	all[budgetName] = left
	if err := t.parsed.Execute(out, exec.NewContext(all)); err != nil {
		if left.spent != nil {
			return "", left.spent
		}
		return "", errors.New(plainMessage(err.Error()))
	}
	return out.String(), nil
}

var (
	renderPlace = pattern.New(
		`Unable to (?:render expression|execute controlStructure|render condition) at line (\d+): `)
	nodeNames  = pattern.New(`filtered_expression\(([^()]*)\)`)
	noItem     = pattern.New(`Unable to evaluate (\S+): Can't use Getitem on None`)
	filterName = pattern.New(`unable to evaluate filter &\{[^}]*\}: `)
	// Of a chain of parts that cannot be evaluated the innermost is named.
	undefinedName = pattern.New(
		`(?:[Uu]nable to evaluate (?:\w+ )*[^:"]+: )*Unable to evaluate name "([^"]*)"`)
	undefinedMember = pattern.New(
		`(?:[Uu]nable to evaluate (?:\w+ )*[^:"]+: )*[Uu]nable to evaluate ([^:"]+): ` +
			`(?:attribute|item) '[^']*' not found`)
	structure = pattern.New(`\w+ControlStructure\([^()]*\): |unable to load template '[^']*': |` +
		`failed to reader template '[^']*': `)
)

// plainMessage removes the engine's own words from an error: what remains is line, expression and reason.
func plainMessage(text string) string {
	text = shortened(strings.TrimPrefix(text, "unable to execute template: "), 8*maxMessage)
	text = renderPlace.ReplaceAllString(text, "line $1: ")
	text = noItem.ReplaceAllString(text, "$1: its parent is undefined or none")
	text = filterName.ReplaceAllString(text, "")
	text = undefinedName.ReplaceAllString(text, "$1 is not defined")
	text = undefinedMember.ReplaceAllString(text, "$1 is not defined")
	text = structure.ReplaceAllString(text, "")
	for _, name := range []string{printFilter, "tojson", stepFilter, sizeFilter, repeatFilter, thenFilter,
		computeFilter, completeFilter} {
		text = strings.ReplaceAll(text, "invalid call to filter '"+name+"': ", "")
	}
	for nodeNames.MatchString(text) {
		text = nodeNames.ReplaceAllString(text, "$1")
	}
	return shortened(text, maxMessage)
}

// shortened returns a text of which only both ends are left if it is longer than limit: in calls within calls, what
// matters stands there.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit/2], "") + " … " + strings.ToValidUTF8(text[len(text)-limit/2:], "")
}

// maxMessage bounds an error's text in bytes.
const maxMessage = 600

var position = pattern.New(`Line: (\d+)`)

// where puts the line in front of a parser's message: the one it names, else the last one.
func where(source, message string) string {
	line := fmt.Sprint(1 + strings.Count(strings.TrimRight(source, "\n"), "\n"))
	if m := position.FindStringSubmatch(message); m != nil && m[1] != "0" {
		line = m[1]
	} else if line != "1" {
		return message
	}
	return "line " + line + ": " + message
}

// pick returns "a if condition else b".
func pick(condition, a, b *exec.Value) *exec.Value {
	if condition.IsTrue() {
		return a
	}
	return b
}

// output is a text of limited length.
type output struct {
	strings.Builder
	limit int
}

func (o *output) Write(p []byte) (int, error) { return o.WriteString(string(p)) }

func (o *output) WriteString(s string) (int, error) {
	if len(s) > o.limit-o.Len() {
		return 0, fmt.Errorf("the text would be longer than %d MiB", o.limit>>20)
	}
	return o.Builder.WriteString(s)
}

// Package jinja renders Jinja2 templates, with the engine of gonja and Python's ways where that has its
// own: None prints as None and is not the same as undefined, tojson writes what Python's json would,
// escaped for HTML as Jinja does.
//
// A template is a text by itself: it cannot include other files.
package jinja

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"strings"

	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
)

// none is the type of None: a nil that is there.
type none struct{}

// None is Python's None among the variables of a template; what is not there at all is undefined.
var None any = (*none)(nil)

// Template is a parsed template. It is safe for concurrent use.
type Template struct{ parsed *exec.Template }

// Compile parses a template; autoescape has printed values escaped for HTML. Its error tells the line
// where the engine knows it.
func Compile(source string, autoescape bool) (t *Template, err error) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("the template cannot be parsed: %v", p)
		}
	}()
	c := config.New()
	c.AutoEscape = autoescape
	parsed, err := exec.NewTemplate(home, c, onlyTemplate(source), environment())
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "failed to parse template '"+source+"': ")
		return nil, errors.New("the template cannot be parsed: " + where(source, text))
	}
	printsNone(reflect.ValueOf(parsed.Root()), map[uintptr]bool{})
	return &Template{parsed}, nil
}

// home is the only file that a template knows: itself.
const home = "/template"

type onlyTemplate string

func (s onlyTemplate) Read(name string) (io.Reader, error) {
	if name != home {
		return nil, fmt.Errorf("a template cannot read files, here %s", name)
	}
	return strings.NewReader(string(s)), nil
}

func (s onlyTemplate) Resolve(name string) (string, error) { return name, nil }

func (s onlyTemplate) Inherit(string) (loaders.Loader, error) { return s, nil }

// Render fills the template in. Its error names line and expression.
func (t *Template) Render(variables map[string]any) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("the template cannot be rendered: %v", p)
		}
	}()
	all := make(map[string]any, len(variables)+2)
	maps.Copy(all, variables)
	all["none"], all["None"] = None, None
	text, err = t.parsed.ExecuteToString(exec.NewContext(all))
	if err != nil {
		return "", errors.New(plainly(err.Error()))
	}
	return text, nil
}

var (
	renderPlace = regexp.MustCompile(`Unable to (?:render expression|execute controlStructure|render condition) at line (\d+): `)
	nodeNames   = regexp.MustCompile(`filtered_expression\(([^()]*)\)`)
	noItem      = regexp.MustCompile(`Unable to evaluate (\S+): Can't use Getitem on None`)
	filterName  = regexp.MustCompile(`unable to evaluate filter &\{[^}]*\}: `)
)

// plainly takes the engine's own words out of an error: what remains is line, expression and reason.
func plainly(text string) string {
	text = strings.TrimPrefix(text, "unable to execute template: ")
	text = renderPlace.ReplaceAllString(text, "line $1: ")
	text = noItem.ReplaceAllString(text, "$1: its parent is undefined or none")
	text = filterName.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "invalid call to filter '"+printFilter+"': ", "")
	text = strings.ReplaceAll(text, "invalid call to filter 'tojson': ", "")
	for nodeNames.MatchString(text) {
		text = nodeNames.ReplaceAllString(text, "$1")
	}
	return text
}

var position = regexp.MustCompile(`Line: (\d+)`)

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

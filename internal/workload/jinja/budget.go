package jinja

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"
)

// The filters that amended templates use. No template can contain their names.
const (
	printFilter   = " print"
	sizeFilter    = " size"
	repeatFilter  = " repeat"
	stepFilter    = " step"
	textualFilter = " text"
	thenFilter    = " then"
	budgetName    = " budget"
)

// DefaultSteps is the number of bodies of loops, choices and macros that a template may use, see [Options].
const DefaultSteps = 500_000

// What a template may use besides.
const (
	maxSource  = 256 << 10 // bytes of a template's tags; published ones have some 20,000 in all
	maxDepth   = 200       // brackets within brackets
	maxWords   = 1_000     // names, values and signs without a comma; the engine's work grows with their cube
	maxText    = 64 << 20  // bytes of a text
	maxTexts   = 4 << 30   // bytes of all texts that are put together
	maxLorem   = 1_000     // paragraphs of random text, and words of one
	maxFrames  = 6_000     // calls within calls of the program
	maxSpan    = 1_000_000 // numbers of a range
	maxTime    = 10 * time.Second
	checkEvery = 64 // steps
)

// checkSource returns an error for a template that would exhaust the parser's memory.
func checkSource(source string) error {
	if len(source) > maxText {
		return fmt.Errorf("the template has %d bytes; the limit is %d", len(source), maxText)
	}
	for rest, tags := source, 0; ; {
		start, end := nextTag(rest)
		if start < 0 {
			return nil
		}
		if tags += end - start; tags > maxSource {
			return fmt.Errorf("the tags of the template have %d bytes; the limit is %d", tags, maxSource)
		}
		if tag := rest[start:end]; tag[1] != '#' {
			if err := checkTag(tag); err != nil {
				return err
			}
		}
		rest = rest[end:]
	}
}

// checkTag bounds one tag of a template: the engine parses and evaluates by recursion, over brackets and over chains of
// operators.
func checkTag(tag string) error {
	depth, words := 0, 0
	for i, before := 0, byte(' '); i < len(tag); i = skipString(tag, i) {
		switch c := tag[i]; {
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
		switch c := tag[i]; {
		case c == ',' || c == ':':
			words = 0
		case c > ' ' && !(inName(c) && inName(before)):
			words++
		}
		before = tag[i]
		if depth > maxDepth {
			return fmt.Errorf("the template has more than %d nested brackets", maxDepth)
		}
		if words > maxWords {
			return fmt.Errorf("the template has an expression of more than %d names, values and operators", maxWords)
		}
	}
	return nil
}

// ErrEndless is the error of a template that exceeds its budget.
var ErrEndless = errors.New("the template does not end by itself")

// budget is what is left to one rendering.
type budget struct {
	steps int
	limit int // of steps
	bytes int
	end   time.Time
	spent error // why nothing is left
}

// take uses up a step.
func (b *budget) take() error {
	if b.spent == nil {
		if err := b.step(); err != nil {
			b.spent = fmt.Errorf("%w: %w", ErrEndless, err)
		}
	}
	return b.spent
}

func (b *budget) step() error {
	if b.steps--; b.steps < 0 {
		return fmt.Errorf("it takes more than %d steps", b.limit)
	}
	if b.steps%checkEvery != 0 {
		return nil
	}
	if time.Now().After(b.end) {
		return fmt.Errorf("it takes more than %s", maxTime)
	}
	if runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 {
		return errors.New("its macros recurse without end")
	}
	return nil
}

// budgetOf returns the budget of the rendering.
func budgetOf(e *exec.Evaluator) (*budget, error) {
	value, _ := e.Environment.Context.Get(budgetName)
	if b, ok := value.(*budget); ok {
		return b, nil
	}
	return nil, errors.New("the rendering has no budget")
}

// stepped uses up a step of the budget of the rendering.
func stepped(e *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	b, err := budgetOf(e)
	if err == nil {
		err = b.take()
	}
	if err != nil {
		return exec.AsValue(err)
	}
	return in
}

// then returns the value of its argument, which is not looked for if the step before failed.
func then(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	if in.IsError() {
		return in
	}
	return params.Args[0]
}

var errText = fmt.Errorf("a text would be longer than %d MiB", maxText>>20)

// sized returns an error for a long text.
func sized(e *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	if !in.IsString() {
		return in
	}
	n := len(in.String())
	if n > maxText {
		return exec.AsValue(errText)
	}
	b, err := budgetOf(e)
	if err != nil {
		return exec.AsValue(err)
	}
	if b.bytes += n; b.bytes > maxTexts {
		return exec.AsValue(fmt.Errorf("all texts together have more than %d GiB", maxTexts>>30))
	}
	return in
}

// textual returns an error for a value that would be too long as a text.
func textual(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	if !in.IsError() && size(in, maxText) > maxText {
		return exec.AsValue(errText)
	}
	return in
}

// repeated is the operator *.
func repeated(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	by := params.Args[0]
	switch {
	case in.IsError():
		return in
	case in.IsFloat() || by.IsFloat():
		return exec.AsValue(in.Float() * by.Float())
	case in.IsString():
		text, n := in.String(), max(0, by.Integer())
		if len(text) > 0 && n > maxText/len(text) {
			return exec.AsValue(errText)
		}
		return exec.AsValue(strings.Repeat(text, n))
	}
	return exec.AsValue(in.Integer() * by.Integer())
}

// span is the function range([start, ]stop[, step]).
func span(_ *exec.Evaluator, params *exec.VarArgs) ([]int, error) {
	list := []int{0, 0, 1}
	for i, arg := range params.Args {
		if !arg.IsInteger() || i > 2 {
			return nil, errors.New("range takes one to three whole numbers")
		}
		list[i] = arg.Integer()
	}
	if len(params.Args) == 1 {
		list[0], list[1] = 0, list[0]
	}
	if len(params.Args) == 0 || list[2] == 0 {
		return nil, errors.New("range takes one to three whole numbers, the third not 0")
	}
	numbers := []int{}
	for i := list[0]; i < list[1] == (list[2] > 0) && i != list[1]; i += list[2] {
		if len(numbers) == maxSpan {
			return nil, fmt.Errorf("range would have more than %d numbers", maxSpan)
		}
		numbers = append(numbers, i)
	}
	return numbers, nil
}

// lorem is the function lipsum(n=5, html=true, min=20, max=100).
func lorem(e *exec.Evaluator, params *exec.VarArgs) *exec.Value {
	for _, list := range [][]*exec.Value{params.Args, values(params.KwArgs)} {
		for _, arg := range list {
			if arg.IsInteger() && arg.Integer() > maxLorem {
				return exec.AsValue(fmt.Errorf("lipsum would have more than %d paragraphs, or words in one", maxLorem))
			}
		}
	}
	engine, _ := builtins.GlobalFunctions.Get("lipsum")
	return engine.(func(*exec.Evaluator, *exec.VarArgs) *exec.Value)(e, params)
}

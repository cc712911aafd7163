package jinja

import (
	"errors"
	"reflect"
	"sync"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"
)

// environments are those of templates of models (true) and of others, made when one is first used.
var environments = map[bool]func() *exec.Environment{
	false: sync.OnceValue(func() *exec.Environment { return environment(false) }),
	true:  sync.OnceValue(func() *exec.Environment { return environment(true) }),
}

// environment is gonja's own with Python's ways on top.
func environment(chat bool) *exec.Environment {
	filters := exec.NewFilterSet(map[string]exec.FilterFunction{}).Update(builtins.Filters)
	tests := exec.NewTestSet(map[string]exec.TestFunction{}).Update(builtins.Tests)
	for name, f := range map[string]exec.FilterFunction{
		printFilter: printing, "tojson": toJSON, "default": orDefault, "d": orDefault, "items": itemList,
		sizeFilter: sized, repeatFilter: repeated, stepFilter: stepped, textualFilter: textual, thenFilter: then,
		computeFilter: computed, completeFilter: complete, "round": rounded,
	} {
		set(filters, name, f)
	}
	globals := exec.EmptyContext().Update(builtins.GlobalFunctions)
	globals.Set("range", span)
	globals.Set("lipsum", lorem)
	for name, f := range boundedFilters() {
		set(filters, name, f)
	}
	if chat {
		set(filters, "tojson", toPlainJSON)
		globals.Set("lipsum", func() (string, error) { return "", errors.New("a conversation has no random text") })
	}
	for name, f := range map[string]func(*exec.Value) bool{
		"defined":   isDefined,
		"undefined": func(v *exec.Value) bool { return !isDefined(v) },
		"none":      isNone,
	} {
		test := func(_ *exec.Context, v *exec.Value, _ *exec.VarArgs) (bool, error) { return f(v), nil }
		if tests.Exists(name) {
			_ = tests.Replace(name, test) // it is there
		} else {
			_ = tests.Register(name, test) // it is not
		}
	}
	if tests.Exists("in") {
		_ = tests.Replace("in", in) // it is there
	}
	methods := builtins.Methods
	methods.Str, methods.Dict = strMethods(), dictMethods()
	return &exec.Environment{
		Context: globals, Filters: filters, Tests: tests,
		ControlStructures: builtins.ControlStructures, Methods: methods,
	}
}

func set(filters *exec.FilterSet, name string, f exec.FilterFunction) {
	if filters.Exists(name) {
		_ = filters.Replace(name, f) // it is there
	} else {
		_ = filters.Register(name, f) // it is not
	}
}

func isNone(v *exec.Value) bool {
	return v.Val.IsValid() && v.Val.Type() == reflect.TypeFor[*none]()
}

// isDefined reports whether a value is defined; a strict template has an error for one that is not.
func isDefined(v *exec.Value) bool { return v.Val.IsValid() && !v.IsError() }

// printing returns None as a word and an undefined value as nothing.
func printing(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	if isNone(in) {
		return exec.AsSafeValue("None")
	}
	if size(in, maxText) > maxText {
		return exec.AsValue(errText)
	}
	return in
}

// orDefault is the filter default(value, boolean=false).
func orDefault(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	value, boolean := exec.AsValue(""), false
	for i, arg := range params.Args {
		switch i {
		case 0:
			value = arg
		case 1:
			boolean = arg.IsTrue()
		}
	}
	if v, ok := params.KwArgs["default_value"]; ok {
		value = v
	}
	if v, ok := params.KwArgs["boolean"]; ok {
		boolean = v.IsTrue()
	}
	if !isDefined(in) || boolean && (in.IsNil() || !in.IsTrue()) {
		return value
	}
	return in
}

// toJSON is the filter tojson(indent=None).
func toJSON(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	return writeJSON(jsonWriter{indent: -1}, in, params)
}

// toPlainJSON is the filter as chat templates know it.
func toPlainJSON(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	return writeJSON(jsonWriter{indent: -1, chat: true}, in, params)
}

func writeJSON(w jsonWriter, in *exec.Value, params *exec.VarArgs) *exec.Value {
	if in.IsError() {
		return in
	}
	indent, given := params.KwArgs["indent"]
	if !given && len(params.Args) > 0 {
		indent, given = params.Args[0], true
	}
	if given && !isNone(indent) {
		w.indent = min(indent.Integer(), maxIndent)
	}
	if !in.Val.IsValid() {
		return exec.AsValue(errors.New("tojson: the value is undefined"))
	}
	if err := w.value(in.Val, 0); err != nil {
		return exec.AsValue(err)
	}
	return exec.AsSafeValue(string(w.buf))
}

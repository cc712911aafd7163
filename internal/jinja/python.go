package jinja

import (
	"errors"
	"reflect"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// printFilter prints the values of expressions.
const printFilter = "print"

// printsNone rewrites a parsed template so that all that is printed passes printFilter: the engine itself
// takes None for undefined.
func printsNone(v reflect.Value, seen map[uintptr]bool) {
	switch v.Kind() {
	case reflect.Interface:
		printsNone(v.Elem(), seen)
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] || v.Type() == reflect.TypeFor[*tokens.Token]() {
			return
		}
		seen[v.Pointer()] = true
		printsNone(v.Elem(), seen)
		if out, ok := v.Interface().(*nodes.Output); ok {
			out.Expression = printed(out.Expression)
			if out.Alternative != nil {
				out.Alternative = printed(out.Alternative)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				printsNone(v.Field(i), seen)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			printsNone(v.Index(i), seen)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			printsNone(v.MapIndex(key), seen)
		}
	}
}

func printed(e nodes.Expression) nodes.Expression {
	return &nodes.FilteredExpression{Expression: e, Filters: []*nodes.FilterCall{{Name: printFilter}}}
}

// environment is gonja's own with Python's ways on top.
func environment() *exec.Environment {
	filters := exec.NewFilterSet(map[string]exec.FilterFunction{}).Update(builtins.Filters)
	tests := exec.NewTestSet(map[string]exec.TestFunction{}).Update(builtins.Tests)
	for name, f := range map[string]exec.FilterFunction{
		printFilter: printing, "tojson": toJSON, "default": orDefault, "d": orDefault,
	} {
		set(filters, name, f)
	}
	for name, f := range map[string]func(*exec.Value) bool{
		"defined":   func(v *exec.Value) bool { return v.Val.IsValid() },
		"undefined": func(v *exec.Value) bool { return !v.Val.IsValid() },
		"none":      isNone,
	} {
		test := func(_ *exec.Context, v *exec.Value, _ *exec.VarArgs) (bool, error) { return f(v), nil }
		if tests.Exists(name) {
			_ = tests.Replace(name, test) // it is there
		} else {
			_ = tests.Register(name, test) // it is not
		}
	}
	return &exec.Environment{
		Context: exec.EmptyContext().Update(builtins.GlobalFunctions), Filters: filters, Tests: tests,
		ControlStructures: builtins.ControlStructures, Methods: builtins.Methods,
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

// printing prints None as a word and what is undefined as nothing.
func printing(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	if isNone(in) {
		return exec.AsSafeValue("None")
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
	if !in.Val.IsValid() || boolean && (in.IsNil() || !in.IsTrue()) {
		return value
	}
	return in
}

// toJSON is the filter tojson(indent=None).
func toJSON(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	if in.IsError() {
		return in
	}
	w := jsonWriter{indent: -1}
	indent, given := params.KwArgs["indent"]
	if !given && len(params.Args) > 0 {
		indent, given = params.Args[0], true
	}
	if given && !isNone(indent) {
		w.indent = indent.Integer()
	}
	if !in.Val.IsValid() {
		return exec.AsValue(errors.New("tojson: the value is undefined"))
	}
	if err := w.value(in.Val, 0); err != nil {
		return exec.AsValue(err)
	}
	return exec.AsSafeValue(string(w.buf))
}

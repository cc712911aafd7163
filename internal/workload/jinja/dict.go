package jinja

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"
)

// Dict returns a dictionary whose keys keep their order. An empty one is false, as in Python.
func Dict(names []string, values []any) any {
	if len(names) == 0 {
		return map[string]any{}
	}
	d := exec.NewDict()
	for i, name := range names {
		d.Pairs = append(d.Pairs, &exec.Pair{Key: exec.AsValue(name), Value: exec.AsValue(values[i])})
	}
	return d
}

// pairsOf returns the pairs of a dictionary in its order; those of a map are sorted.
func pairsOf(v *exec.Value) (pairs []*exec.Pair) {
	v.Iterate(func(_, _ int, key, value *exec.Value) bool {
		pairs = append(pairs, &exec.Pair{Key: key, Value: value})
		return true
	}, func() {})
	return pairs
}

// itemsOf returns a list of pairs of key and value.
func itemsOf(v *exec.Value) []any {
	list := []any{}
	for _, p := range pairsOf(v) {
		list = append(list, []any{p.Key.Interface(), p.Value.Interface()})
	}
	return list
}

// itemList is the filter items.
func itemList(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	switch {
	case in.IsError():
		return in
	case !in.Val.IsValid():
		return exec.AsValue([]any{})
	case !in.IsDict():
		return exec.AsValue(errors.New("items: the value is not a mapping"))
	}
	return exec.AsValue(itemsOf(in))
}

// dictMethod is a method of a dictionary, which the engine passes as a copy without order, and as it is.
type dictMethod = exec.Method[map[string]any]

// dictMethods returns those of the engine, but in the order of the keys and with None.
func dictMethods() *exec.MethodSet[map[string]any] {
	return over(builtins.Methods.Dict, []string{"pop", "setdefault", "update", "copy", "clear"}, map[string]dictMethod{
		"keys":   column(func(p *exec.Pair) *exec.Value { return p.Key }),
		"values": column(func(p *exec.Pair) *exec.Value { return p.Value }),
		"items": func(_ map[string]any, d *exec.Value, args *exec.VarArgs) (any, error) {
			return itemsOf(d), atMost(args)
		},
		"get": func(_ map[string]any, d *exec.Value, args *exec.VarArgs) (any, error) {
			key, otherwise := argument(args, 0, "key", nil), argument(args, 1, "default", None)
			if key == nil {
				return nil, errors.New("get requires a key")
			}
			for _, p := range pairsOf(d) {
				if p.Key.EqualValueTo(key) {
					return p.Value.Interface(), nil
				}
			}
			return otherwise.Interface(), atMost(args, "key", "default")
		},
	})
}

func column(of func(*exec.Pair) *exec.Value) dictMethod {
	return func(_ map[string]any, d *exec.Value, args *exec.VarArgs) (any, error) {
		list := []any{}
		for _, p := range pairsOf(d) {
			list = append(list, of(p).Interface())
		}
		return list, atMost(args)
	}
}

// over returns the engine's methods of some names and others in place of its own.
func over[T any](engine *exec.MethodSet[T], names []string, own map[string]exec.Method[T]) *exec.MethodSet[T] {
	all := map[string]exec.Method[T]{}
	for _, name := range names {
		if m, ok := engine.Get(name); ok {
			all[name] = m
		}
	}
	maps.Copy(all, own)
	return exec.NewMethodSet(all)
}

// argument returns argument i of a call, which has a name too; or a default, nil for none.
func argument(args *exec.VarArgs, i int, name string, otherwise any) *exec.Value {
	if i < len(args.Args) {
		return args.Args[i]
	}
	if v, ok := args.KwArgs[name]; ok {
		return v
	}
	if otherwise == nil {
		return nil
	}
	return exec.AsValue(otherwise)
}

// atMost returns an error if a call has other arguments than those of some names.
func atMost(args *exec.VarArgs, names ...string) error {
	if n := len(args.Args) + len(args.KwArgs); n > len(names) {
		return fmt.Errorf("the call has %d arguments and takes %d", n, len(names))
	}
	for name := range args.KwArgs {
		if !slices.Contains(names, name) {
			return fmt.Errorf("the call takes no argument %q", name)
		}
	}
	return nil
}

package jinja

import (
	"reflect"
	"unsafe"

	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// amender rewrites a parsed template. All that is printed passes printFilter: the engine itself treats None as
// undefined. Each body, and each default of a macro's argument, first takes a step from the budget; texts that are put
// together are measured.
type amender struct {
	seen   map[uintptr]bool
	strict bool
	// names are those in the template.
	names []string
}

// amend walks the engine's tree of a template and replaces the expressions in which it differs from Jinja2, or that
// could take unbounded time or memory. What a node holds is amended before the node itself. A node that is reached
// twice is amended once: a filter must not be put around itself.
func (a *amender) amend(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		a.amend(v.Elem())
		if v.CanSet() && !v.IsNil() {
			switch e := v.Interface().(type) {
			case *nodes.BinaryExpression:
				if computed := computedAsPython(e); a.strict && computed != nil {
					v.Set(reflect.ValueOf(computed))
				} else {
					v.Set(reflect.ValueOf(measured(e)))
				}
			case *nodes.List, *nodes.Tuple:
				if e, ok := e.(nodes.Expression); ok && a.strict && v.Type() == reflect.TypeFor[nodes.Expression]() {
					v.Set(reflect.ValueOf(filtered(e, completeFilter)))
				}
			case *nodes.Call: // of a method or macro
				if v.Type() == reflect.TypeFor[nodes.Expression]() {
					v.Set(reflect.ValueOf(filtered(e, sizeFilter)))
				}
			}
		}
	case reflect.Pointer:
		if v.IsNil() || a.seen[v.Pointer()] || v.Type() == reflect.TypeFor[*tokens.Token]() {
			return
		}
		a.seen[v.Pointer()] = true
		a.amend(v.Elem())
		switch n := v.Interface().(type) {
		case *nodes.Name:
			a.names = append(a.names, n.Name.Val)
		case *nodes.GetAttribute:
			if parent, ok := n.Node.(*nodes.Name); ok {
				a.names = append(a.names, parent.Name.Val+"."+n.Attribute)
			}
		case *nodes.GetItem:
			parent, ok := n.Node.(*nodes.Name)
			if item, text := n.Arg.(*nodes.String); ok && text {
				a.names = append(a.names, parent.Name.Val+"."+item.Val)
			}
		case *nodes.Output:
			n.Expression = filtered(n.Expression, printFilter)
			if n.Alternative != nil {
				n.Alternative = filtered(n.Alternative, printFilter)
			}
		case *nodes.Wrapper:
			n.Nodes = append([]nodes.Node{step(n.Location)}, n.Nodes...)
		case *nodes.Macro:
			for _, arg := range n.Kwargs {
				arg.Value = stepBefore(arg.Value, n.Location)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if !f.CanInterface() && f.CanAddr() { // some of the engine's nodes hide their parts
				f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
			}
			if f.CanInterface() {
				a.amend(f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			a.amend(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			a.amend(v.MapIndex(key))
		}
	}
}

func filtered(e nodes.Expression, name string, args ...nodes.Expression) nodes.Expression {
	return &nodes.FilteredExpression{Expression: e, Filters: []*nodes.FilterCall{{Name: name, Args: args}}}
}

// measured returns the operation with a bound for the length of its result, if that is a text.
func measured(e *nodes.BinaryExpression) nodes.Expression {
	switch e.Operator.Token.Type {
	case tokens.Multiply:
		return filtered(e.Left, repeatFilter, e.Right)
	case tokens.Tilde:
		e.Left, e.Right = filtered(e.Left, textualFilter), filtered(e.Right, textualFilter)
		return filtered(e, sizeFilter)
	case tokens.Addition:
		return filtered(e, sizeFilter)
	}
	return e
}

// step returns a node that uses up a step and prints nothing.
func step(at *tokens.Token) nodes.Node {
	if at == nil {
		at = &tokens.Token{}
	}
	return &nodes.Output{Start: at, Expression: filtered(&nodes.String{Location: at}, stepFilter), End: at}
}

// stepBefore returns e, preceded by a step.
func stepBefore(e nodes.Expression, at *tokens.Token) nodes.Expression {
	return &nodes.FilteredExpression{Expression: &nodes.String{Location: at}, Filters: []*nodes.FilterCall{
		{Name: stepFilter}, {Name: thenFilter, Args: []nodes.Expression{e}},
	}}
}

package jinja

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// What Options.Strict changes: the engine computes with undefined values, adds numbers to texts, and rounds quotients
// of negative numbers towards zero.

const (
	computeFilter  = " compute"
	completeFilter = " complete"
)

// arithmetic are the operators that compute.
var arithmetic = map[tokens.Type]string{
	tokens.Addition: "+", tokens.Subtraction: "-", tokens.Multiply: "*", tokens.Division: "/",
	tokens.FloorDivision: "//", tokens.Modulo: "%", tokens.Power: "**",
}

// computedAsPython returns the operation as Python does it, nil if it is none that computes.
func computedAsPython(e *nodes.BinaryExpression) nodes.Expression {
	operator, ok := arithmetic[e.Operator.Token.Type]
	if !ok {
		return nil
	}
	return filtered(e.Left, computeFilter, &nodes.String{Location: e.Operator.Token, Val: operator}, e.Right)
}

var (
	errZero     = errors.New("division by zero")
	errTooLarge = errors.New("the result is too large")
)

// computed is the filter of an operation: its arguments are the operator and the right side.
func computed(e *exec.Evaluator, left *exec.Value, params *exec.VarArgs) *exec.Value {
	if left.IsError() {
		return left
	}
	operator, right := params.Args[0].String(), params.Args[1]
	number := func(v *exec.Value) bool { return v.IsNumber() || v.IsBool() }
	switch {
	case number(left) && number(right):
		v, err := pythonNumber(operator, left, right)
		if err != nil {
			return exec.AsValue(err)
		}
		return exec.AsValue(v)
	case operator == "+" && left.IsString() && right.IsString():
		return sized(e, exec.AsValue(left.String()+right.String()), nil)
	case operator == "+" && left.IsList() && right.IsList():
		var list []any
		for _, v := range []*exec.Value{left, right} {
			v.Iterate(func(_, _ int, item, _ *exec.Value) bool {
				list = append(list, item.Interface())
				return true
			}, func() {})
		}
		return exec.AsValue(list)
	case operator == "*" && left.IsString() && right.IsInteger():
		return sized(e, repeated(e, left, &exec.VarArgs{Args: []*exec.Value{right}}), nil)
	case operator == "*" && right.IsString() && left.IsInteger():
		return sized(e, repeated(e, right, &exec.VarArgs{Args: []*exec.Value{left}}), nil)
	}
	return exec.AsValue(fmt.Errorf("%s %s %s cannot be computed; the filters int and float make numbers of texts",
		kindOf(left), operator, kindOf(right)))
}

// complete is a list; one with an entry that could not be evaluated is an error.
func complete(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	if list, ok := in.Interface().(exec.ValuesList); ok {
		for _, item := range list {
			if item.IsError() {
				return item
			}
		}
	}
	return in
}

// in is the test and operator in.
func in(_ *exec.Context, v *exec.Value, params *exec.VarArgs) (bool, error) {
	switch {
	case v.IsError():
		return false, v
	case len(params.Args) != 1:
		return false, errors.New("in takes one value")
	case params.Args[0].IsError():
		return false, params.Args[0]
	}
	return params.Args[0].Contains(v), nil
}

func kindOf(v *exec.Value) string {
	switch {
	case isNone(v):
		return "none"
	case v.IsString():
		return "text"
	case v.IsBool():
		return "boolean"
	case v.IsNumber():
		return "number"
	case v.IsList():
		return "list"
	case v.IsDict():
		return "mapping"
	}
	return "value"
}

// pythonNumber computes with two numbers as Python does, but that whole numbers have 64 bits.
func pythonNumber(operator string, left, right *exec.Value) (any, error) {
	if !left.IsFloat() && !right.IsFloat() {
		a, b := whole(left), whole(right)
		if operator != "/" && (operator != "**" || b >= 0) {
			return pythonWhole(operator, a, b)
		}
	}
	a, b := real(left), real(right)
	var v float64
	switch operator {
	case "+":
		v = a + b
	case "-":
		v = a - b
	case "*":
		v = a * b
	case "**":
		if v = math.Pow(a, b); a == 0 && b < 0 {
			return nil, errZero
		}
	default:
		if b == 0 {
			return nil, errZero
		}
		v = quotient(operator, a, b)
	}
	if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return nil, errTooLarge
	}
	return v, nil
}

// quotient divides by a number that is not 0; the remainder has the sign of the divisor.
func quotient(operator string, a, b float64) float64 {
	if operator == "/" {
		return a / b
	}
	rest := math.Mod(a, b)
	if rest == 0 {
		rest = math.Copysign(0, b)
	} else if (rest < 0) != (b < 0) {
		rest += b
	}
	if operator == "%" {
		return rest
	}
	return math.Round((a - rest) / b)
}

// roundHalfEven rounds to decimal places; a negative number of them rounds to tens, hundreds and so on.
func roundHalfEven(v float64, places int) float64 {
	if places < 0 {
		factor := math.Pow(10, float64(-places))
		return math.RoundToEven(v/factor) * factor
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', places, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

func whole(v *exec.Value) int {
	if v.IsBool() {
		return int(real(v))
	}
	return v.Integer()
}

func real(v *exec.Value) float64 {
	if !v.IsBool() {
		return v.Float()
	}
	if v.IsTrue() {
		return 1
	}
	return 0
}

// pythonWhole computes with whole numbers; the exponent of a power is not negative.
func pythonWhole(operator string, a, b int) (any, error) {
	switch operator {
	case "+":
		if v := a + b; (v > a) == (b > 0) {
			return v, nil
		}
	case "-":
		if v := a - b; (v < a) == (b > 0) {
			return v, nil
		}
	case "*":
		if v, ok := product(a, b); ok {
			return v, nil
		}
	case "**":
		return power(a, b)
	case "//", "%":
		if b == 0 {
			return nil, errZero
		}
		if b == -1 { // the quotient of the smallest number would not fit
			if operator == "%" {
				return 0, nil
			}
			return pythonWhole("-", 0, a)
		}
		div, rest := a/b, a%b
		if rest != 0 && (rest < 0) != (b < 0) {
			div, rest = div-1, rest+b
		}
		if operator == "%" {
			return rest, nil
		}
		return div, nil
	}
	return nil, errTooLarge
}

// power raises to a power that is not negative.
func power(a, b int) (any, error) {
	v, ok := 1, true
	for ; b > 0; b /= 2 {
		if b%2 == 1 {
			if v, ok = product(v, a); !ok {
				return nil, errTooLarge
			}
		}
		if a, ok = product(a, a); !ok && b > 1 {
			return nil, errTooLarge
		}
	}
	return v, nil
}

// product multiplies, and reports whether the result fits.
func product(a, b int) (int, bool) {
	v := a * b
	return v, a == 0 || v/a == b && !(a == -1 && b == math.MinInt)
}

// rounded is the filter round(precision=0, method="common"): half way between two numbers, the even one.
func rounded(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	if in.IsError() {
		return in
	}
	precision, method := 0, "common"
	if v := argument(params, 0, "precision", nil); v != nil {
		precision = v.Integer()
	}
	if v := argument(params, 1, "method", nil); v != nil {
		method = v.String()
	}
	if !in.IsNumber() || precision < -300 || precision > 300 {
		return exec.AsValue(fmt.Errorf("round takes a number, and a precision up to 300; this is %s", kindOf(in)))
	}
	factor := math.Pow(10, float64(precision))
	switch v := in.Float(); method {
	case "common":
		return exec.AsValue(roundHalfEven(v, precision))
	case "ceil":
		return exec.AsValue(math.Ceil(v*factor) / factor)
	case "floor":
		return exec.AsValue(math.Floor(v*factor) / factor)
	}
	return exec.AsValue(fmt.Errorf("round knows the methods common, ceil and floor, not %q", method))
}

// named is a list whose entries also have names: the first of phases is phases[0] and phases.warmup.
type named []any

// nameKey is the member of an entry that names it.
const nameKey = "name"

// Named returns a list whose entries can also be found by their member "name", if that is a text.
func Named(items []any) any { return named(items) }

// GetAttribute returns the entry with a name; the engine calls it.
func (l named) GetAttribute(name string) (*exec.Value, bool) {
	at := slices.IndexFunc(l, func(item any) bool {
		d, ok := item.(*exec.Dict)
		return ok && slices.ContainsFunc(d.Pairs, func(p *exec.Pair) bool {
			return p.Key.String() == nameKey && p.Value.IsString() && p.Value.String() == name
		})
	})
	if at < 0 {
		return exec.AsValue(nil), false
	}
	return exec.ToValue(l[at]), true
}

package jinja

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/pattern"
	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"
)

// strMethods returns the methods of texts: the engine's, and others for those that it calls otherwise than Python does
// or whose result a short template could make as long as it likes.
func strMethods() *exec.MethodSet[string] {
	own := map[string]exec.Method[string]{}
	for name, f := range map[string]func(string, *exec.VarArgs) (string, error){
		"replace": replaced, "zfill": zeroFilled,
		"center": padder(func(missing, width int) int { return missing/2 + missing&width&1 }),
		"ljust":  padder(func(int, int) int { return 0 }),
		"rjust":  padder(func(missing, _ int) int { return missing }),
	} {
		own[name] = func(s string, _ *exec.Value, args *exec.VarArgs) (any, error) { return f(s, args) }
	}
	for _, name := range []string{"join", "format", "format_map"} {
		engine, _ := builtins.Methods.Str.Get(name)
		own[name] = func(s string, v *exec.Value, args *exec.VarArgs) (any, error) {
			if !fits(exec.AsValue(s), args, name != "join") {
				return nil, errText
			}
			return engine(s, v, args)
		}
	}
	return over(builtins.Methods.Str, []string{
		"capitalize", "capwords", "casefold", "count", "encode", "endswith", "find", "isalnum", "isalpha", "isascii",
		"isdecimal",
		"isdigit", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "lower", "lstrip",
		"partition",
		"removeprefix", "removesuffix", "rfind", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith",
		"strip",
		"swapcase", "title", "upper",
	}, own)
}

// boundedFilters replace those of the engine whose result may be far longer than what
// they are given.
func boundedFilters() map[string]exec.FilterFunction {
	list := map[string]exec.FilterFunction{}
	for _, name := range []string{"join", "format", "indent", "batch", "slice", "wordwrap", "string", "pprint",
		"xmlattr", "urlize", "urlencode"} {
		engine, _ := builtins.Filters.Get(name)
		list[name] = func(e *exec.Evaluator, in *exec.Value, args *exec.VarArgs) *exec.Value {
			if !in.IsError() && !fits(in, args, name != "join") {
				return exec.AsValue(errText)
			}
			return sized(e, engine(e, in, args), nil)
		}
	}
	maps.Copy(list, map[string]exec.FilterFunction{"replace": textFilter(replaced),
		"center": textFilter(padder(func(missing, width int) int { return missing/2 + missing&width&1 }))})
	return list
}

func textFilter(f func(string, *exec.VarArgs) (string, error)) exec.FilterFunction {
	return func(e *exec.Evaluator, in *exec.Value, args *exec.VarArgs) *exec.Value {
		if in.IsError() {
			return in
		}
		if size(in, maxText) > maxText {
			return exec.AsValue(errText)
		}
		out, err := f(in.String(), args)
		if err != nil {
			return exec.AsValue(err)
		}
		return sized(e, exec.AsValue(out), nil)
	}
}

// longNumber is a width that a format may not ask for, or one that comes from an argument.
var longNumber = pattern.New(`[0-9]{7}|\{[^{}]*\{`)

// fits reports whether what is made of a value and arguments is no longer than a text may be: each argument may stand
// between any two characters, or for each sign of a format.
func fits(in *exec.Value, args *exec.VarArgs, format bool) bool {
	whole := size(in, maxText)
	times := whole
	if in.IsString() {
		times = len(in.String())
		if format && longNumber.MatchString(in.String()) {
			return false
		}
		if format {
			times = strings.Count(in.String(), "{") + strings.Count(in.String(), "%") + strings.Count(in.String(),
				"\n") + strings.Count(in.String(), " ")
		}
	} else if in.IsList() {
		times = in.Len()
	}
	each := 0
	for _, list := range [][]*exec.Value{args.Args, values(args.KwArgs)} {
		for _, arg := range list {
			if arg.IsInteger() {
				each += min(max(0, arg.Integer()), maxText)
			} else {
				each += size(arg, maxText)
			}
		}
	}
	return whole <= maxText && (each == 0 || times+1 <= maxText/each)
}

func values(named map[string]*exec.Value) (list []*exec.Value) {
	for _, v := range named {
		list = append(list, v)
	}
	return list
}

// size returns the length of all texts in a value, counted up to a limit.
func size(v *exec.Value, limit int) int {
	if v == nil || !v.Val.IsValid() {
		return 0
	}
	return sizeOf(v.Val, limit, 0)
}

// sizeOf returns about how many bytes a value has as text, at least. It gives up once that is above the limit, so that
// its own time is bounded by it.
func sizeOf(v reflect.Value, limit, depth int) int {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 4
		}
		if x, ok := v.Interface().(*exec.Value); ok {
			v = x.Val
			if !v.IsValid() {
				return 0
			}
			continue
		}
		v = v.Elem()
	}
	if depth > maxNesting {
		return limit + 1
	}
	n := 0
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && n <= limit; i++ {
			n += 2 + sizeOf(v.Index(i), limit-n, depth+1)
		}
	case reflect.Map:
		for it := v.MapRange(); n <= limit && it.Next(); {
			n += 4 + sizeOf(it.Key(), limit-n, depth+1) + sizeOf(it.Value(), limit-n, depth+1)
		}
	case reflect.Struct:
		if d, ok := v.Interface().(exec.Dict); ok {
			for i := 0; i < len(d.Pairs) && n <= limit; i++ {
				n += 4 + size(d.Pairs[i].Key, limit-n) + sizeOf(reflect.ValueOf(d.Pairs[i].Value), limit-n, depth+1)
			}
		}
	default:
		return 8
	}
	return n
}

// replaced is str.replace(old, new, count=-1).
func replaced(s string, args *exec.VarArgs) (string, error) {
	from, to, count := argument(args, 0, "old", nil), argument(args, 1, "new", nil), argument(args, 2, "count", -1)
	if from == nil || to == nil {
		return "", errors.New("replace requires an old and a new text")
	}
	if err := atMost(args, "old", "new", "count"); err != nil {
		return "", err
	}
	times := strings.Count(s, from.String())
	if isNone(count) {
		count = exec.AsValue(-1)
	}
	if n := count.Integer(); n >= 0 {
		times = min(times, n)
	}
	if more := len(to.String()) - len(from.String()); more > 0 && times > maxText/more {
		return "", errText
	}
	return strings.Replace(s, from.String(), to.String(), times), nil
}

// padder returns a method with the arguments width and fillchar=" ". left is how many of the missing characters stand
// before the text.
func padder(left func(missing, width int) int) func(string, *exec.VarArgs) (string, error) {
	return func(s string, args *exec.VarArgs) (string, error) {
		wide, fill := argument(args, 0, "width", 80), argument(args, 1, "fillchar", " ")
		if err := atMost(args, "width", "fillchar"); err != nil {
			return "", err
		}
		if !wide.IsInteger() || utf8.RuneCountInString(fill.String()) != 1 {
			return "", errors.New("the width must be a whole number and fillchar one character")
		}
		width := wide.Integer()
		missing := width - utf8.RuneCountInString(s)
		switch {
		case missing <= 0:
			return s, nil
		case missing > maxText/len(fill.String()):
			return "", errText
		}
		n := left(missing, width)
		return strings.Repeat(fill.String(), n) + s + strings.Repeat(fill.String(), missing-n), nil
	}
}

// zeroFilled is str.zfill(width).
func zeroFilled(s string, args *exec.VarArgs) (string, error) {
	width := argument(args, 0, "width", nil)
	if err := atMost(args, "width"); err != nil {
		return "", err
	}
	if width == nil || !width.IsInteger() {
		return "", errors.New("zfill requires a width")
	}
	missing := width.Integer() - utf8.RuneCountInString(s)
	switch {
	case missing <= 0:
		return s, nil
	case missing > maxText:
		return "", errText
	}
	sign := ""
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", missing) + s, nil
}

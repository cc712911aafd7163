package sandbox

import (
	"math"
	"strconv"
	"strings"
)

// near is how far numbers may be apart, relative to them.
const near = 1e-6

// SameLines reports whether two outputs are the same line by line without the blanks around each; numbers with a
// fraction may differ a little.
func SameLines(a, b string) bool {
	x, y := lines(a), lines(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !sameFields(x[i], y[i]) {
			return false
		}
	}
	return true
}

func lines(s string) []string {
	list := strings.Split(strings.TrimSpace(s), "\n")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

func sameFields(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !sameFraction(x[i], y[i]) {
			return false
		}
	}
	return true
}

func sameFraction(a, b string) bool {
	if !strings.ContainsAny(a+b, ".eE") {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && sameNumber(x, y)
}

func sameNumber(x, y float64) bool {
	return x == y || !math.IsInf(y, 0) && math.Abs(x-y) <= near*max(1, math.Abs(y))
}

// sameJSON reports whether two decoded values are equal, numbers within the tolerance of [sameNumber].
func sameJSON(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && sameNumber(x, y)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameJSON(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, v := range x {
			w, has := y[name]
			if !has || !sameJSON(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

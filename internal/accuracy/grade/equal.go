package grade

import (
	"math"
	"math/cmplx"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	// near is how far two numbers that are equal may be apart.
	near = 1e-4
	// most is how many parts of lists, sets and tuples are compared.
	most = 64
	// deepest is how often parts of results are compared with parts.
	deepest = 5
)

// Equal reports whether two results are the same: as text, as a choice, as lists in any order, as numbers (within 1e-4
// of the gold result, or of its hundredth or hundredfold, since percent signs say nothing), as intervals, sets, tuples
// and matrices, as equations, or as expressions, whose values are compared at several points.
//
// Expressions of numbers, fractions, powers, roots, factorials, logarithms and trigonometric functions, π, e, i and
// variables, which stand for complex numbers, are understood. \log is the logarithm to base 10. Sums, integrals and
// limits are not understood: they are compared as text.
func Equal(answer, gold string) bool {
	if len(answer) > longest || len(gold) > longest {
		return strings.EqualFold(strings.TrimSpace(answer), strings.TrimSpace(gold))
	}
	a, b := Normal(answer), Normal(gold)
	// A \text{…} at the end, which is normally a remark, may also be the choice.
	return equal(a, b, 0) || IsChoice(b) && lone(withoutBlanks(normalRules().text.ReplaceAllString(answer, "$1"))) == b
}

var choice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\*\*[A-Ea-e]\*\*|(?:\*\*)?(?:\([A-Ea-e]\)|[A-Ea-e][.):])(?:\*\*)?):?`)
})

// equal compares two normal forms by one reading after another, the cheap and definite ones first; a reading that
// applies to both decides. depth counts the parts of parts, and bounds the time. Only whole results may differ by a
// percent sign.
func equal(a, b string, depth int) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	if depth >= deepest || a == "" || b == "" {
		return false
	}
	if same, decided := choices(a, b, depth); decided {
		return same
	}
	if x, y := parts(a), parts(b); len(x) == len(y) && len(x) > 1 && len(x) <= most {
		if listed(x, y, depth) {
			return true
		}
	}
	if sorted(a, b, depth) {
		return true
	}
	if x, ok := Decimal(a); ok {
		if y, ok := Decimal(b); ok {
			return within(x, y) || depth == 0 && (within(x, y/100) || within(x, y*100))
		}
	}
	if enclosed(a, b) {
		return true
	}
	if same, decided := relations(a, b, depth); decided {
		return same
	}
	if same, decided := bracketed(a, b, depth); decided {
		return same
	}
	if same, decided := equations(a, b, depth); decided {
		return same
	}
	if same, decided := matrices(a, b, depth, equal); decided {
		return same
	}
	return sameValue(a, b)
}

func within(a, b float64) bool { return math.Abs(a-b) <= near }

// choices compares choices by their letter, and what stands behind it.
func choices(a, b string, depth int) (same, decided bool) {
	if depth == 0 && IsChoice(b) {
		return lone(a) == b, true
	}
	x, y := choice().FindString(a), choice().FindString(b)
	if x != "" && len(x) < len(a) && equal(a[len(x):], b, depth+1) {
		return true, true
	}
	if y != "" && len(y) < len(b) && equal(a, b[len(y):], depth+1) {
		return true, true
	}
	return false, false
}

// IsChoice reports whether a result is the letter of a choice, from A to E.
func IsChoice(s string) bool { return len(s) == 1 && s[0] >= 'A' && s[0] <= 'E' }

// lone is the last letter of a choice that stands alone; "" for none.
func lone(s string) string {
	letter, _ := last(lastLetter(), s)
	return letter
}

var lastLetter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^A-Za-z\\])([A-E])(?:[^A-Za-z]|$)`) })

// listed compares lists in any order.
func listed(x, y []string, depth int) bool {
	x, y = slices.Clone(x), slices.Clone(y)
	slices.Sort(x)
	slices.Sort(y)
	for _, one := range x {
		i := slices.IndexFunc(y, func(other string) bool { return equal(one, other, depth+1) })
		if i < 0 {
			return false
		}
		y = slices.Delete(y, i, i+1)
	}
	return true
}

// sorted compares what stands between commas, brackets and all, in the order of the texts: (2,1) so equals 1,2, and
// \{1,2\} equals (2,1).
func sorted(a, b string, depth int) bool {
	n := strings.Count(a, ",")
	if n == 0 || n >= most || n != strings.Count(b, ",") {
		return false
	}
	x, y := strings.Split(strings.ReplaceAll(a, `\`, ""), ","), strings.Split(strings.ReplaceAll(b, `\`, ""), ",")
	slices.Sort(x)
	slices.Sort(y)
	for i := range x {
		if !equal(x[i], y[i], deepest-1) {
			return false
		}
	}
	return true
}

// enclosed compares texts without their brackets and braces. Those of intervals count.
func enclosed(a, b string) bool {
	if a[0] == '[' && b[0] == '(' || a[0] == '(' && b[0] == '[' {
		return false
	}
	if last := len(a) - 1; a[0] == '[' && a[last] == ']' && b[0] != '[' {
		a = a[1:last]
	}
	if last := len(b) - 1; b[0] == '[' && b[last] == ']' && a != "" && a[0] != '[' {
		b = b[1:last]
	}
	x, y := withoutBrackets().Replace(a), withoutBrackets().Replace(b)
	return x != "" && strings.EqualFold(x, y)
}

var withoutBrackets = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(`\{`, "", `\}`, "", "{", "", "}", "", "(", "", ")", "")
})

// relations compares inequalities, whichever way round they are written.
func relations(a, b string, depth int) (same, decided bool) {
	lessA, moreA, signA := relation(a)
	lessB, moreB, signB := relation(b)
	if signA == "" || signB == "" {
		return false, false
	}
	if signA != signB {
		return false, true
	}
	return equal(lessA, lessB, depth+1) && equal(moreA, moreB, depth+1) ||
		signA == `\ne` && equal(lessA, moreB, depth+1) && equal(moreA, lessB, depth+1), true
}

// relation returns the lesser and the greater side of an inequality, and its sign; "" where there is not exactly one.
func relation(s string) (lesser, greater, sign string) {
	count := 0
	for _, pair := range [...][2]string{{`\le`, `\ge`}, {"<", ">"}, {`\ne`, `\ne`}} {
		for i, one := range pair {
			if l, r, ok := strings.Cut(s, one); ok && (one[0] != '\\' || r != "" && !strings.HasPrefix(r, "ft")) {
				count += strings.Count(s, one)
				lesser, greater, sign = l, strings.TrimSpace(r), pair[0]
				if i == 1 {
					lesser, greater = greater, lesser
				}
				if pair[0] == pair[1] {
					break
				}
			}
		}
	}
	if count != 1 {
		return "", "", ""
	}
	return lesser, greater, sign
}

// parts are the parts of a list: what stands between commas that no bracket holds. A comma between digits in groups of
// three belongs to a number.
func parts(s string) []string {
	var list []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '\\':
			if i+1 < len(s) && (s[i+1] == '{' || s[i+1] == '}') {
				if s[i+1] == '{' {
					depth++
				} else {
					depth--
				}
				i++
			}
		case ',':
			if depth == 0 {
				list = append(list, s[from:i])
				from = i + 1
			}
		}
	}
	return append(list, s[from:])
}

// Decimal reads a decimal number with commas, such as 1,234.5 and 1e6; false for what is none, or infinite.
func Decimal(s string) (float64, bool) {
	if s == "" || !isDigit(s[len(s)-1]) && s[len(s)-1] != '.' {
		return 0, false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && !strings.ContainsRune("+-.,eE", c) {
			return 0, false
		}
	}
	return number(strings.ReplaceAll(s, ",", ""))
}

// bracketed compares what stands in brackets: intervals and tuples in their order, sets in any. Brackets around one of
// the two only do not count; brackets of different kinds do, since they are those of intervals.
func bracketed(a, b string, depth int) (same, decided bool) {
	if x, y := strings.Split(a, `\cup`), strings.Split(b, `\cup`); len(x) > 1 || len(y) > 1 {
		return len(x) == len(y) && listed(x, y, depth), true
	}
	openA, innerA, closeA := brackets(a)
	openB, innerB, closeB := brackets(b)
	if openA == "" && openB == "" {
		return false, false
	}
	if openA != "" && openB != "" && (openA != openB || closeA != closeB) {
		return false, true
	}
	x, y := parts(innerA), parts(innerB)
	if len(x) != len(y) || len(x) > most {
		return false, true
	}
	if len(x) == 1 {
		if equal(innerA, innerB, depth+1) {
			return true, true
		}
		return false, openA == "{" || openB == "{"
	}
	if openA == "{" || openB == "{" {
		return listed(x, y, depth), true
	}
	for i := range x {
		if !equal(x[i], y[i], depth+1) {
			return false, true
		}
	}
	return true, true
}

// brackets takes a text apart that brackets enclose as a whole; "" where they do not. Those of sets may be written \{.
func brackets(s string) (opening, inner, closing string) {
	if t, ok := strings.CutPrefix(s, `\{`); ok {
		if t, ok = strings.CutSuffix(t, `\}`); ok {
			return "{", t, "}"
		}
		return "", s, ""
	}
	if len(s) < 2 || !strings.ContainsRune("([{", rune(s[0])) {
		return "", s, ""
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
			if depth == 0 && i < len(s)-1 {
				return "", s, ""
			}
		}
	}
	if depth != 0 || !strings.ContainsRune(")]}", rune(s[len(s)-1])) {
		return "", s, ""
	}
	return s[:1], s[1 : len(s)-1], s[len(s)-1:]
}

// equations compares equations by the difference of their sides, whatever the factor. The left side of one that stands
// against an expression does not count.
func equations(a, b string, depth int) (same, decided bool) {
	leftA, rightA, isA := strings.Cut(a, "=")
	leftB, rightB, isB := strings.Cut(b, "=")
	switch {
	case isA && isB:
		if strings.Contains(rightA, "=") || strings.Contains(rightB, "=") {
			return false, true
		}
		return proportional("("+leftA+")-("+rightA+")", "("+leftB+")-("+rightB+")"), true
	case isA && len(leftA) <= 2:
		return equal(rightA, b, depth+1), true
	case isB && len(leftB) <= 2:
		return equal(a, rightB, depth+1), true
	}
	return false, false
}

// matrices compares matrices entry by entry.
func matrices(a, b string, depth int, equal func(a, b string, depth int) bool) (same, decided bool) {
	x, okA := rows(a)
	y, okB := rows(b)
	if !okA || !okB {
		return false, okA != okB
	}
	if len(x) != len(y) {
		return false, true
	}
	for i := range x {
		if len(x[i]) != len(y[i]) {
			return false, true
		}
		for j := range x[i] {
			if !equal(x[i][j], y[i][j], depth+1) {
				return false, true
			}
		}
	}
	return true, true
}

func rows(s string) (list [][]string, ok bool) {
	s, ok = strings.CutPrefix(s, `\begin{pmatrix}`)
	if !ok {
		return nil, false
	}
	if s, ok = strings.CutSuffix(s, `\end{pmatrix}`); !ok {
		return nil, false
	}
	for row := range strings.SplitSeq(strings.TrimSuffix(s, `\\`), `\\`) {
		list = append(list, strings.Split(row, "&"))
	}
	return list, true
}

// points are how many points of variables expressions are compared at.
const points = 6

// sameValue reports whether two expressions have the same values.
func sameValue(a, b string) bool {
	p, okP := parse(a)
	q, okQ := parse(b)
	return okP && okQ && same(p, q, near)
}

// same reports whether two expressions have the same values; those of constants may be off by some amount.
func same(p, q node, off float64) bool {
	compared := 0
	ok := atPoints(p, q, func(x, y complex128, constant bool) bool {
		compared++
		by := cmplx.Abs(x - y)
		return by <= 1e-9*max(1, cmplx.Abs(x), cmplx.Abs(y)) || constant && by <= off
	})
	return ok && compared > 0
}

// proportional reports whether one expression is a multiple of the other one.
func proportional(a, b string) bool {
	p, okP := parse(a)
	q, okQ := parse(b)
	if !okP || !okQ {
		return false
	}
	var ratio complex128
	compared := 0
	ok := atPoints(p, q, func(x, y complex128, _ bool) bool {
		if cmplx.Abs(y) < 1e-9 || cmplx.Abs(x) < 1e-9 {
			return cmplx.Abs(x) < 1e-9 && cmplx.Abs(y) < 1e-9
		}
		if compared++; compared == 1 {
			ratio = x / y
			return true
		}
		return cmplx.Abs(x/y-ratio) <= 1e-6*cmplx.Abs(ratio)
	})
	return ok && compared > 0
}

// atPoints calls a function with the values of two expressions at several points, until it returns false. Points at
// which none of them has a value do not count.
func atPoints(p, q node, each func(x, y complex128, constant bool) bool) bool {
	for i := range points {
		varies := false
		at := func(name string) complex128 {
			varies = true
			return point(name, i)
		}
		x, y := p.value(at), q.value(at)
		if isNumber(x) != isNumber(y) || isNumber(x) && !each(x, y, !varies) {
			return false
		}
		if !varies {
			break
		}
	}
	return true
}

func isNumber(x complex128) bool { return !cmplx.IsNaN(x) && !cmplx.IsInf(x) }

// point is the value of a variable at a point: a complex number of no simple relation to that of another variable.
func point(name string, i int) complex128 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h = (h ^ uint64(i+1)) * 1099511628211
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	side := func(bits uint64) float64 { return 4*float64(bits)/(1<<32) - 2 }
	return complex(side(h>>32), side(h&(1<<32-1)))
}

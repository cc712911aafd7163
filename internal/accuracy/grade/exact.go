package grade

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

type exactRules struct {
	text, joiner, script, boxed, word, bare, spaced, grouped, base, symbol, decimal *regexp.Regexp
	plain                                                                           *strings.Replacer
}

var ofExact = sync.OnceValue(func() *exactRules {
	return &exactRules{
		text:    regexp.MustCompile(`\\(?:text|mbox|mathrm|text..|operatorname)\{([^{}]*)\}(\^\{?[0-9]\}?)?`),
		script:  regexp.MustCompile(`([_^])([0-9A-Za-z]) `),
		boxed:   regexp.MustCompile(`^\\boxed\{(.*)\}$`),
		word:    regexp.MustCompile(`\\(?:text|mbox|mathrm)`),
		joiner:  regexp.MustCompile(`,?\\text\{[ ,]*(?:and|or) *\}|\\(?:lor|land|vee)\b`),
		bare:    regexp.MustCompile(` (?:and|or) `),
		spaced:  regexp.MustCompile(`([0-9])(?: |\\,|\\ |~)+([0-9])`),
		grouped: regexp.MustCompile(`^-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$`),
		base:    regexp.MustCompile(`^(-?[0-9.]+)_\{?[0-9]+\}?$`),
		symbol:  regexp.MustCompile(`^(?:\\?[A-Za-z]+|[A-Za-z](?:\^\{-1\})?\([A-Za-z]\))(?:_\{?[A-Za-z0-9]+\}?)?$`),
		decimal: regexp.MustCompile(`^-?[0-9]*\.[0-9]+$`),
		plain: strings.NewReplacer(`\!`, "", `\,`, "", `\;`, "", `\:`, "", `\ `, "", "~", " ", `\left`, "", `\right`, "",
			`\$`, "", "$", "", `\(`, "", `\)`, "", `\[`, "", `\]`, "", "{,}", ",", `^{\circ}`, "", `^\circ`, "", `\degree`, "",
			"°", "", "−", "-", "–", "-", "×", `\times`, "÷", `\div`, "π", `\pi`, "∞", `\infty`, "·", `\cdot`, "≤", `\le`,
			"≥", `\ge`, "≠", `\ne`, "∪", `\cup`, `\%`, "%"),
	}
})

// exactly reports whether two results are the same as the extractive graders see it: numbers to five decimals, with
// roots and other irrational values exact; lists and sets in any order; percent signs as hundredths; letters of another
// case differ.
func exactly(answer, gold string) bool {
	if len(answer) > longest || len(gold) > longest {
		return strings.TrimSpace(answer) == strings.TrimSpace(gold)
	}
	a, b := tidy(answer), tidy(gold)
	if a == b || strings.EqualFold(a, b) && ofExact().word.MatchString(answer) != ofExact().word.MatchString(gold) {
		return a != ""
	}
	return a != "" && b != "" && sameResult(a, b, 0)
}

// tidy returns a result without layout and remarks; ";" stands between the parts of a list that words join.
func tidy(text string) string {
	r, n := ofExact(), normalRules()
	s := strings.TrimRight(strings.TrimSpace(strings.ReplaceAll(text, "\n", " ")), ". ")
	s = n.commands.Replace(r.boxed.ReplaceAllString(s, "$1"))
	s = arrays().ReplaceAllString(s, `\$1{pmatrix}`)
	s = r.joiner.ReplaceAllString(s, ";")
	s = r.bare.ReplaceAllString(s, ";")
	s = strings.ReplaceAll(s, `\\`, "\x00")
	s = r.script.ReplaceAllString(s, "$1{$2}")
	s = r.spaced.ReplaceAllString(s, `$1\cdot$2`)
	s = r.plain.Replace(s)
	s = n.box.ReplaceAllString(s, "$1")
	if m := r.text.FindStringIndex(s); m != nil && strings.TrimSpace(s[:m[0]]) != "" {
		s = r.text.ReplaceAllString(s, "")
	} else {
		s = r.text.ReplaceAllString(s, "$1")
	}
	s = strings.ReplaceAll(withoutBlanks(s), "\x00", `\\`)
	s = n.sqrt.ReplaceAllStringFunc(s, func(m string) string { // in LaTeX the root is that of one character
		m = strings.TrimPrefix(strings.TrimPrefix(m, `\sqrt`), " ")
		return `\sqrt{` + m[:1] + "}" + m[1:]
	})
	s = n.frac.ReplaceAllString(s, `\frac{$1}{$2}`)
	s = n.leadDot.ReplaceAllString(s, "${1}0.$2")
	s = n.sign.ReplaceAllString(s, "$1")
	s = infinity(r.base.ReplaceAllString(s, "$1"))
	if m := n.member.FindString(s); m != "" {
		s = strings.TrimSpace(s[1+len(commandAt(s[1:])):])
	}
	if p, ok := strings.CutSuffix(s, "%"); ok && p != "" && !strings.Contains(p, "%") {
		s = `\frac{` + p + "}{100}"
	}
	return s
}

// pieces are the parts of a list, with those of ± apart.
func pieces(s string) []string {
	if ofExact().grouped.MatchString(s) {
		return []string{strings.ReplaceAll(s, ",", "")}
	}
	var out []string
	for half := range strings.SplitSeq(s, ";") {
		list := parts(half)
		if len(list) > most {
			return []string{s}
		}
		for _, one := range list {
			if l, r, ok := strings.Cut(one, `\pm`); ok && l != "" && !strings.Contains(r, `\pm`) {
				r = strings.TrimSpace(r)
				out = append(out, l+"+"+r, l+"-"+r)
			} else if one != "" {
				out = append(out, one)
			}
		}
	}
	return out
}

// sameResult compares an answer a with the gold result b by the form of b: as unions, lists and sets, tuples and
// intervals, whose brackets count where both have them, relations, equations, or numbers. depth bounds the time.
func sameResult(a, b string, depth int) bool {
	if a == b {
		return true
	}
	if depth > deepest || a == "" || b == "" {
		return false
	}
	if v := bare(a); v != a && !strings.Contains(b, "=") && strings.ContainsAny(v, "([{") {
		a = v
	}
	if same, decided := matrices(a, b, depth, sameResult); decided {
		return same
	}
	if x, y := strings.Split(a, `\cup`), strings.Split(b, `\cup`); len(x) > 1 || len(y) > 1 {
		return len(x) <= most && anyOrder(x, y, depth)
	}
	openA, innerA, closeA := brackets(a)
	openB, innerB, closeB := brackets(b)
	x, y := pieces(innerA), pieces(innerB)
	if len(x) > 1 || len(y) > 1 || openA == "{" || openB == "{" {
		ordered := openB == "(" || openB == "["
		if ordered && (openA == "(" || openA == "[") && !sameEnds(openA, closeA, innerA, openB, closeB, innerB) {
			return false
		}
		if ordered {
			return inOrder(x, y, depth)
		}
		if openB == "" && len(y) == 1 && strings.Contains(a, `\pm`) {
			return slices.ContainsFunc(x, func(one string) bool { return sameResult(one, y[0], depth+1) })
		}
		if openB == "" && len(y) == 1 { // an inequality
			return sameRange(a, b, depth)
		}
		return anyOrder(x, y, depth)
	}
	if openA == "(" || openA == "[" || openB == "(" || openB == "[" {
		return sameResult(innerA, innerB, depth+1)
	}
	if _, _, sign := relation(b); sign != "" || strings.ContainsAny(b, "<>") {
		return sameRelation(a, b, depth)
	}
	if same, decided := sameEquation(a, b, depth); decided {
		return same
	}
	return sameNumber(a, b)
}

func inOrder(x, y []string, depth int) bool {
	if len(x) != len(y) || len(x) > most {
		return false
	}
	for i := range x {
		if !sameResult(x[i], y[i], depth+1) {
			return false
		}
	}
	return true
}

func anyOrder(x, y []string, depth int) bool {
	if len(x) != len(y) || len(x) > most {
		return false
	}
	y = slices.Clone(y)
	for _, one := range x {
		i := slices.IndexFunc(y, func(other string) bool { return sameResult(bare(one), bare(other), depth+1) })
		if i < 0 {
			return false
		}
		y = slices.Delete(y, i, i+1)
	}
	return true
}

// bare is the value that a part of a list assigns.
func bare(s string) string {
	if l, r, ok := strings.Cut(s, "="); ok && ofExact().symbol.MatchString(l) {
		return r
	}
	return s
}

// sameEnds reports whether two intervals include the same ends; an infinite one is never included.
func sameEnds(openA, closeA, innerA, openB, closeB, innerB string) bool {
	return (openA == openB || strings.HasPrefix(innerB, `-\infty`) || strings.HasPrefix(innerA, `-\infty`)) &&
		(closeA == closeB || strings.HasSuffix(innerB, `\infty`) || strings.HasSuffix(innerA, `\infty`))
}

// sameRange compares an interval with the inequality of the gold answer.
func sameRange(interval, inequality string, depth int) bool {
	lesser, greater, sign := relation(inequality)
	open, shut := "(", ")"
	if sign == `\le` {
		open, shut = "[", "]"
	}
	s := ofExact().symbol
	switch {
	case sign == "" || sign == `\ne`:
		l := strings.FieldsFunc(strings.NewReplacer(`\le`, "\x01", `\ge`, "\x02", "<", "\x03", ">", "\x04").Replace(inequality),
			func(c rune) bool { return c > 0 && c < 5 })
		if len(l) != 3 {
			return false
		}
		if strings.Contains(inequality, ">") || strings.Contains(inequality, `\ge`) {
			slices.Reverse(l)
		}
		if strings.ContainsAny(inequality, "<>") {
			open, shut = "(", ")"
		} else {
			open, shut = "[", "]"
		}
		return sameResult(interval, open+strings.TrimSpace(l[0])+","+strings.TrimSpace(l[2])+shut, depth+1)
	case s.MatchString(lesser):
		return sameResult(interval, `(-\infty,`+greater+shut, depth+1)
	case s.MatchString(greater):
		return sameResult(interval, open+lesser+`,\infty)`, depth+1)
	}
	return false
}

// sameRelation compares inequalities, whichever way round they are written.
func sameRelation(a, b string, depth int) bool {
	lessA, moreA, signA := relation(a)
	lessB, moreB, signB := relation(b)
	if signA != "" && signA == signB {
		return sameResult(lessA, lessB, depth+1) && sameResult(moreA, moreB, depth+1)
	}
	x, y := chain(a), chain(b)
	return len(x) == 3 && inOrder(x, y, depth)
}

// chain takes an inequality with two signs of one kind apart, the least part first.
func chain(s string) []string {
	for _, pair := range [...][2]string{{`\le`, `\ge`}, {"<", ">"}} {
		for i, sign := range pair {
			if l := strings.Split(s, sign); len(l) == 3 {
				for j := range l {
					l[j] = strings.TrimSpace(l[j])
				}
				if i == 1 {
					slices.Reverse(l)
				}
				return l
			}
		}
	}
	return nil
}

// sameEquation compares equations. One that assigns to a symbol stands for its value where the other result is none.
func sameEquation(a, b string, depth int) (same, decided bool) {
	partsA, partsB := strings.Split(a, "="), strings.Split(b, "=")
	switch n, m := len(partsA), len(partsB); {
	case n == 1 && m == 1:
		return false, false
	case n > most || m > most:
		return false, true
	case n > 1 && m > 1:
		if inOrder(partsA, partsB, depth) {
			return true, true
		}
		if n == 2 && m == 2 {
			return proportional("("+partsA[0]+")-("+partsA[1]+")", "("+partsB[0]+")-("+partsB[1]+")"), true
		}
		return sameResult(partsA[n-1], partsB[m-1], depth+1), true
	case n > 1:
		if s := ofExact().symbol; sameResult(partsA[n-1], b, depth+1) {
			return true, true
		} else if s.MatchString(partsA[0]) || s.MatchString(partsA[n-1]) {
			return false, true
		}
		return sameResult(partsA[0], b, depth+1), true
	default:
		return ofExact().symbol.MatchString(partsB[0]) && sameResult(a, partsB[m-1], depth+1), true
	}
}

// places is a tenth power: numbers are compared to five decimals.
const places = 1e5

// sameNumber compares expressions. A decimal number equals a rational one that it rounds to, but no whole number and no
// irrational one unless it is the number itself.
func sameNumber(a, b string) bool {
	p, okA := parse(a)
	q, okB := parse(b)
	if !okA || !okB {
		return false
	}
	varies := false
	at := func(string) complex128 { varies = true; return 1 }
	x, y := p.value(at), q.value(at)
	if varies || imag(x) != 0 || imag(y) != 0 {
		return same(p, q, 0)
	}
	if !isNumber(x) || !isNumber(y) {
		return false
	}
	f, g := real(x), real(y)
	isA, isB := isDecimal(a), isDecimal(b)
	switch {
	case !isA && !isB:
		return math.Abs(f-g) <= 1e-9*max(1, math.Abs(g))
	case whole(g) || whole(f):
		return math.Abs(f-g) <= 1e-12*max(1, math.Abs(g))
	case !isB && !rational(g) || !isA && !rational(f):
		return math.Abs(f-g) <= 1e-14*math.Abs(g)
	}
	return math.Round(f*places) == math.Round(g*places)
}

func isDecimal(s string) bool { return ofExact().decimal.MatchString(s) }
func whole(x float64) bool    { return math.Abs(x-math.Round(x)) <= 1e-12*max(1, math.Abs(x)) }

// rational reports whether a number is a fraction with a small denominator.
func rational(x float64) bool {
	h0, h1, k0, k1 := 0.0, 1.0, 1.0, 0.0
	r := math.Abs(x)
	for range 30 {
		n := math.Floor(r)
		h0, h1 = h1, n*h1+h0
		k0, k1 = k1, n*k1+k0
		if k1 > 1e5 {
			return false
		}
		if math.Abs(h1/k1-math.Abs(x)) <= 1e-14*math.Abs(x) {
			return true
		}
		r = 1 / (r - n)
	}
	return false
}

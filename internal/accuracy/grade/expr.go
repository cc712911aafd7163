package grade

import (
	"math"
	"math/cmplx"
	"strconv"
	"strings"
)

// node is an expression.
type node interface {
	value(at func(name string) complex128) complex128
}

type (
	constant complex128
	variable string
	// apply is a function of its arguments.
	apply struct {
		of   func(x []complex128) complex128
		args []node
	}
)

func (c constant) value(func(string) complex128) complex128    { return complex128(c) }
func (v variable) value(at func(string) complex128) complex128 { return at(string(v)) }
func (f *apply) value(at func(name string) complex128) complex128 {
	var buffer [4]complex128
	x := buffer[:0]
	for _, a := range f.args {
		x = append(x, a.value(at))
	}
	return f.of(x)
}

// deep is how deep expressions may be nested.
const deep = 60

// parser reads an expression in LaTeX or in plain notation from a text without blanks.
type parser struct {
	text  string
	at    int
	depth int
	bad   bool
}

// parse reads an expression; false where a part of the text is not understood.
func parse(text string) (node, bool) {
	if x, ok := Decimal(text); ok {
		return constant(complex(x, 0)), true
	}
	p := parser{text: text}
	n := p.sum()
	return n, !p.bad && p.at == len(text)
}

func (p *parser) fail() node {
	p.bad = true
	return constant(0)
}

func (p *parser) rest() string { return p.text[p.at:] }

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) accept(s string) bool {
	if !strings.HasPrefix(p.rest(), s) {
		return false
	}
	if n := p.at + len(s); s[0] == '\\' && len(s) > 2 && n < len(p.text) && isLetter(p.text[n]) {
		return false
	}
	p.at += len(s)
	p.blank()
	return true
}

// blank skips the blank that ends the name of a command.
func (p *parser) blank() {
	if p.peek() == ' ' {
		p.at++
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func binary(of func(a, b complex128) complex128, a, b node) node {
	return &apply{func(x []complex128) complex128 { return of(x[0], x[1]) }, []node{a, b}}
}

func unary(of func(complex128) complex128, a node) node {
	return &apply{func(x []complex128) complex128 { return of(x[0]) }, []node{a}}
}

func minus(a complex128) complex128       { return -a }
func plus(a, b complex128) complex128     { return a + b }
func times(a, b complex128) complex128    { return a * b }
func less(a, b complex128) complex128     { return a - b }
func quotient(a, b complex128) complex128 { return a / b }

// sum is terms with signs.
func (p *parser) sum() node {
	if p.depth++; p.depth > deep {
		return p.fail()
	}
	defer func() { p.depth-- }()
	var n node
	switch {
	case p.accept("-"):
		n = unary(minus, p.product())
	case p.accept("+"):
		n = p.product()
	default:
		n = p.product()
	}
	for !p.bad {
		switch {
		case p.accept("+"):
			n = binary(plus, n, p.product())
		case p.accept("-"):
			n = binary(less, n, p.product())
		default:
			return n
		}
	}
	return n
}

// product is factors, with or without a sign between them.
func (p *parser) product() node {
	n := p.factor()
	for !p.bad {
		switch {
		case p.accept(`\cdot`), p.accept(`\times`), p.accept(`\ast`), p.accept("*"):
			n = binary(times, n, p.signed())
		case p.accept(`\div`), p.accept("/"):
			n = binary(quotient, n, p.signed())
		case p.begins():
			n = binary(times, n, p.factor())
		default:
			return n
		}
	}
	return n
}

func (p *parser) signed() node {
	if p.accept("-") {
		return unary(minus, p.factor())
	}
	p.accept("+")
	return p.factor()
}

// begins reports whether a factor begins here.
func (p *parser) begins() bool {
	switch c := p.peek(); {
	case isLetter(c), isDigit(c), c == '(', c == '{', c == '[', c == '.':
		return true
	case c == '\\':
		command := commandAt(p.rest())
		_, isFunction := functions[command[1:]]
		return isFunction || letterNames[command[1:]] || command == `\frac` || command == `\sqrt` || command == `\pi` ||
			command == `\infty` || command == `\lfloor` || command == `\lceil` || command == `\binom`
	}
	return false
}

// factor is an operand with its powers and factorials.
func (p *parser) factor() node {
	n := p.operand()
	for !p.bad {
		switch {
		case p.accept("^"), p.accept("**"):
			n = binary(power, n, p.exponent())
		case p.accept("!"):
			n = unary(factorial, n)
		default:
			return n
		}
	}
	return n
}

func (p *parser) exponent() node {
	if p.peek() == '{' {
		return p.group('{', '}')
	}
	if p.accept("-") {
		return unary(minus, p.operand())
	}
	if isDigit(p.peek()) && p.text[max(0, p.at-1)] == '^' && strings.Contains(p.text, `\`) {
		p.at++ // in LaTeX the exponent is one character
		return constant(complex(float64(p.text[p.at-1]-'0'), 0))
	}
	return p.operand()
}

// group is an expression in brackets.
func (p *parser) group(opening, closing byte) node {
	if p.peek() != opening {
		return p.fail()
	}
	p.at++
	n := p.sum()
	if p.peek() != closing {
		return p.fail()
	}
	p.at++
	return n
}

func (p *parser) operand() node {
	switch c := p.peek(); {
	case isDigit(c), c == '.':
		return p.number()
	case c == '(':
		return p.group('(', ')')
	case c == '[':
		return p.group('[', ']')
	case c == '{':
		return p.group('{', '}')
	case c == '|':
		p.at++
		n := p.sum()
		if !p.accept("|") {
			return p.fail()
		}
		return unary(absolute, n)
	case c == '\\':
		return p.command()
	case isLetter(c):
		return p.word()
	}
	return p.fail()
}

// number parses a number, with commas that group thousands, or a mixed one.
func (p *parser) number() node {
	from := p.at
	for isDigit(p.peek()) || p.peek() == '.' || p.peek() == ',' && groupOfThree(p.text[p.at+1:]) {
		p.at++
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(p.text[from:p.at], ",", ""), 64)
	if err != nil {
		return p.fail()
	}
	// A whole number before a fraction is added to it: 2\frac{1}{2}.
	if n := p.text[from:p.at]; !strings.Contains(n, ".") && strings.HasPrefix(p.rest(), `\frac{`) {
		at := p.at
		top, bottom := p.fracNumbers()
		if top != nil {
			return constant(complex(x + *top / *bottom, 0))
		}
		p.at = at
	}
	return constant(complex(x, 0))
}

// fracNumbers reads a fraction of whole numbers; nil where there is another one.
func (p *parser) fracNumbers() (top, bottom *float64) {
	p.at += len(`\frac`)
	read := func() *float64 {
		if !p.accept("{") {
			return nil
		}
		end := strings.IndexByte(p.rest(), '}')
		if end < 1 {
			return nil
		}
		x, err := strconv.Atoi(p.rest()[:end])
		if err != nil || x <= 0 {
			return nil
		}
		p.at += end + 1
		f := float64(x)
		return &f
	}
	if top = read(); top == nil {
		return nil, nil
	}
	if bottom = read(); bottom == nil || *top >= *bottom {
		return nil, nil
	}
	return top, bottom
}

func groupOfThree(s string) bool {
	return len(s) >= 3 && isDigit(s[0]) && isDigit(s[1]) && isDigit(s[2]) && (len(s) == 3 || !isDigit(s[3]))
}

// letterNames are commands that name a variable.
var letterNames = map[string]bool{
	"alpha": true, "beta": true, "gamma": true, "delta": true, "epsilon": true, "theta": true, "lambda": true, "mu": true,
	"nu": true, "rho": true, "sigma": true, "tau": true, "phi": true, "omega": true, "Delta": true, "Omega": true,
	"varphi": true, "ell": true,
}

var functions = map[string]func(complex128) complex128{
	"sin": cmplx.Sin, "cos": cmplx.Cos, "tan": cmplx.Tan, "cot": cmplx.Cot,
	"sec":    func(x complex128) complex128 { return 1 / cmplx.Cos(x) },
	"csc":    func(x complex128) complex128 { return 1 / cmplx.Sin(x) },
	"arcsin": cmplx.Asin, "arccos": cmplx.Acos, "arctan": cmplx.Atan, "asin": cmplx.Asin, "acos": cmplx.Acos,
	"atan": cmplx.Atan, "sinh": cmplx.Sinh, "cosh": cmplx.Cosh, "tanh": cmplx.Tanh,
	"ln": cmplx.Log, "log": cmplx.Log10, "lg": cmplx.Log10, "exp": cmplx.Exp, "sqrt": cmplx.Sqrt, "abs": absolute,
}

// command parses a command of LaTeX with its arguments. Floor and ceiling allow for the error of what is computed
// inside: a sum that comes out just below a whole number is that number.
func (p *parser) command() node {
	command := commandAt(p.rest())
	name := strings.TrimPrefix(command, `\`)
	p.at += len(command)
	p.blank()
	switch name {
	case "frac":
		top := p.argument()
		return binary(quotient, top, p.argument())
	case "binom":
		top := p.argument()
		return binary(binomial, top, p.argument())
	case "sqrt":
		if p.peek() == '[' {
			root := p.group('[', ']')
			return binary(func(x, n complex128) complex128 { return rootOf(x, n) }, p.argument(), root)
		}
		return unary(cmplx.Sqrt, p.argument())
	case "pi":
		return constant(complex(math.Pi, 0))
	case "infty":
		return constant(complex(math.Inf(1), 0))
	case "lfloor", "lceil":
		of, end := math.Floor, `\rfloor`
		if name == "lceil" {
			of, end = math.Ceil, `\rceil`
		}
		n := p.sum()
		if !p.accept(end) {
			return p.fail()
		}
		return unary(func(x complex128) complex128 { return complex(of(real(x)+1e-12), 0) }, n)
	case "{":
		n := p.sum()
		if !p.accept(`\}`) {
			return p.fail()
		}
		return n
	}
	if letterNames[name] {
		return p.subscript(name)
	}
	if of, ok := functions[name]; ok {
		return p.function(name, of)
	}
	return p.fail()
}

// argument is what a command takes: a group, or one character.
func (p *parser) argument() node {
	switch c := p.peek(); {
	case c == '{':
		return p.group('{', '}')
	case isDigit(c):
		p.at++
		return constant(complex(float64(c-'0'), 0))
	case isLetter(c):
		p.at++
		return named(c)
	}
	return p.operand()
}

// named is what a letter stands for.
func named(c byte) node {
	switch c {
	case 'e':
		return constant(complex(math.E, 0))
	case 'i':
		return constant(1i)
	}
	return variable(string(c))
}

// function is a function's name with its base and power, and its argument.
func (p *parser) function(name string, of func(complex128) complex128) node {
	var base, exponent node
	if p.accept("_") {
		base = p.argument()
	}
	if p.accept("^") {
		exponent = p.exponent()
	}
	var x node
	if c := p.peek(); c == '(' || c == '{' || c == '[' {
		x = p.operand()
	} else {
		x = p.factor()
		for !p.bad && p.begins() && p.peek() != '(' && p.peek() != '\\' {
			x = binary(times, x, p.factor())
		}
	}
	n := unary(of, x)
	if base != nil && name == "log" {
		n = binary(quotient, unary(cmplx.Log, x), unary(cmplx.Log, base))
	} else if base != nil {
		return p.fail()
	}
	if exponent != nil {
		n = binary(power, n, exponent)
	}
	return n
}

// word is a name in plain notation: a function, pi, e, i, or a variable of one letter.
func (p *parser) word() node {
	end := p.at
	for end < len(p.text) && isLetter(p.text[end]) {
		end++
	}
	name := p.text[p.at:end]
	for _, known := range [...]string{"sqrt", "arcsin", "arccos", "arctan", "sin", "cos", "tan", "log", "ln", "exp"} {
		if strings.HasPrefix(name, known) {
			p.at += len(known)
			if known == "log" { // plain notation is that of programs
				return p.function(known, cmplx.Log)
			}
			return p.function(known, functions[known])
		}
	}
	if strings.HasPrefix(name, "pi") {
		p.at += 2
		return constant(complex(math.Pi, 0))
	}
	if len(name) > 3 {
		return p.fail() // a word, not a product of variables
	}
	p.at++
	if c := name[0]; c == 'e' || c == 'i' {
		return named(c)
	}
	return p.subscript(name[:1])
}

// subscript adds the subscript of a variable to its name.
func (p *parser) subscript(name string) node {
	if !p.accept("_") {
		return variable(name)
	}
	if p.peek() == '{' {
		end := strings.IndexByte(p.rest(), '}')
		if end < 0 {
			return p.fail()
		}
		name += "_" + p.rest()[1:end]
		p.at += end + 1
		return variable(name)
	}
	if c := p.peek(); isLetter(c) || isDigit(c) {
		p.at++
		return variable(name + "_" + string(c))
	}
	return p.fail()
}

func absolute(x complex128) complex128 { return complex(cmplx.Abs(x), 0) }

// power prefers the real value: that of a negative number to an integer, and roots of positive numbers.
func power(x, n complex128) complex128 {
	if imag(x) == 0 && imag(n) == 0 {
		if y := math.Pow(real(x), real(n)); !math.IsNaN(y) {
			return complex(y, 0)
		}
	}
	return cmplx.Pow(x, n)
}

// rootOf is the n-th root: the real one of a negative number if n is odd.
func rootOf(x, n complex128) complex128 {
	if imag(x) == 0 && imag(n) == 0 && real(x) < 0 && math.Mod(real(n), 2) == 1 {
		return complex(-math.Pow(-real(x), 1/real(n)), 0)
	}
	return power(x, 1/n)
}

// factorial is Γ(x+1).
func factorial(x complex128) complex128 {
	if imag(x) == 0 {
		y := math.Gamma(real(x) + 1)
		if real(x) == math.Trunc(real(x)) {
			y = math.Round(y)
		}
		return complex(y, 0)
	}
	return gamma(x + 1)
}

// lanczos are the coefficients of the approximation of Γ by Lanczos for g = 7.
var lanczos = [...]float64{0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
	-176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7}

func gamma(z complex128) complex128 {
	if real(z) < 0.5 {
		return math.Pi / (cmplx.Sin(math.Pi*z) * gamma(1-z))
	}
	z--
	sum := complex(lanczos[0], 0)
	for i, c := range lanczos[1:] {
		sum += complex(c, 0) / (z + complex(float64(i+1), 0))
	}
	t := z + 7.5
	return complex(math.Sqrt(2*math.Pi), 0) * cmplx.Pow(t, z+0.5) * cmplx.Exp(-t) * sum
}

func binomial(n, k complex128) complex128 {
	return factorial(n) / (factorial(k) * factorial(n-k))
}

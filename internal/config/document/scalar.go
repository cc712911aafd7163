package document

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/base/pattern"
)

// The spellings of numbers without quotes: decimal, octal with 0 or 0o, hexadecimal, binary, with underscores. As in
// PyYAML, an exponent needs a point: 1e3 is a text.
var (
	intForm   = pattern.New(`^[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$`)
	floatForm = pattern.New(`^[-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?$`)
)

// plain gives a scalar without quotes its type. Words such as yes and off stay texts: only who reads a boolean knows
// that one is meant.
func plain(text string) (Kind, any) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Null, nil
	case "true", "True", "TRUE":
		return Bool, true
	case "false", "False", "FALSE":
		return Bool, false
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return Float, math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return Float, math.Inf(-1)
	case ".nan", ".NaN", ".NAN":
		return Float, math.NaN()
	}
	if c := text[0]; c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') {
		return Text, text
	}
	digits := strings.ReplaceAll(text, "_", "")
	switch {
	case intForm.MatchString(text):
		return integer(digits, text)
	case floatForm.MatchString(text):
		if v, err := strconv.ParseFloat(digits, 64); err == nil {
			return Float, v
		}
	}
	return Text, text
}

// coerce makes of a node what a substituted text means: a boolean, a whole number, a number, else a text. Written keeps
// the text, for who wants one.
func (n *Node) coerce(text string) {
	n.Kind, n.Scalar, n.Written = Text, text, text
	switch word := strings.TrimSpace(text); {
	case strings.EqualFold(word, "true"), strings.EqualFold(word, "false"):
		n.Kind, n.Scalar = Bool, strings.EqualFold(word, "true")
	case decimal.MatchString(word):
		n.Kind, n.Scalar = number(strings.ReplaceAll(word, "_", ""))
	}
}

// decimal is a number as Python reads one, without the words for what is no number.
var decimal = pattern.New(
	`^[-+]?([0-9]+(_[0-9]+)*(\.([0-9]+(_[0-9]+)*)?)?|\.[0-9]+(_[0-9]+)*)([eE][-+]?[0-9]+)?$`)

func number(digits string) (Kind, any) {
	if v, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return Int, v
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return Text, digits
	}
	return Float, v
}

// integer reads the digits of a whole number; one beyond 64 bits is a Float.
func integer(digits, text string) (Kind, any) {
	// The base 0 of ParseInt knows 0x, 0o, 0b and the leading 0 of octal numbers.
	if v, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return Int, v
	}
	if v, err := strconv.ParseFloat(digits, 64); err == nil && !strings.ContainsAny(digits, "xXoObB") {
		return Float, v
	}
	return Text, text
}

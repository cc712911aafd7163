package prom

import (
	"bytes"
	"errors"
	"strconv"
)

// pow10 are the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

const (
	maxExact  = 1 << 53 // integers up to here are exact in a float64
	maxDigits = 18      // so many digits always fit a uint64
)

// endsToken reports whether c ends a value.
func endsToken(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// number reads the value at pos and returns it and the position behind it. Numbers with few digits,
// which nearly all are, come from one multiplication or division of exact floats, so that they are
// rounded once, as strconv does.
func number(b []byte, pos int) (v float64, end int, ok bool) {
	i, negative := pos, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	var mantissa uint64
	first := i
	for i < len(b) && b[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		i++
	}
	digits, exponent := i-first, 0
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for i < len(b) && b[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			i++
		}
		digits += i - point
		exponent = point - i
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		e, after := smallInt(b, i+1)
		if after < 0 {
			return slowNumber(b, pos)
		}
		exponent, i = exponent+e, after
	}
	if digits == 0 || digits > maxDigits || mantissa > maxExact || exponent < -22 || exponent > 22 ||
		i < len(b) && !endsToken(b[i]) {
		return slowNumber(b, pos)
	}
	v = float64(mantissa)
	if exponent < 0 {
		v /= pow10[-exponent]
	} else {
		v *= pow10[exponent]
	}
	if negative {
		v = -v
	}
	return v, i, true
}

// smallInt reads an exponent of at most three digits; after is -1 if there is none.
func smallInt(b []byte, i int) (n, after int) {
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	first := i
	for i < len(b) && b[i]-'0' <= 9 && i-first < 4 {
		n = n*10 + int(b[i]-'0')
		i++
	}
	if i == first || i-first > 3 {
		return 0, -1
	}
	if negative {
		n = -n
	}
	return n, i
}

// slowNumber reads what number does not: many digits, NaN, infinities, and what is not a number. A number
// beyond the range of a float64 is an infinity.
func slowNumber(b []byte, pos int) (v float64, end int, ok bool) {
	end = pos
	for end < len(b) && !endsToken(b[end]) {
		end++
	}
	token := b[pos:end]
	if bytes.ContainsAny(token, "xXpP_") {
		return 0, end, false // hexadecimal and digit groups are Go's, not the format's
	}
	v, err := strconv.ParseFloat(string(token), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, end, false
	}
	return v, end, true
}

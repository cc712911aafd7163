package metrics

import (
	"bytes"

	"aiperf/internal/measure/record"
)

// Told is what a metric of a line tells of a record: a fact, the gaps, or nothing.
type Told struct {
	tag  string
	fact *mirror
}

// ToldBy returns what the metric of a tag tells.
func ToldBy(tag string) Told {
	t := Told{tag: tag}
	if m, ok := mirrors[tag]; ok {
		t.fact = &m
	}
	return t
}

// Scan reads the value at text[at:] into a record if it is written as lines usually have it: without white space,
// sign or exponent. It returns the position after it, or -1 with the record as it was, and the value is then for
// [RestoreMetric], which makes the same of it.
func (t *Told) Scan(rec *record.Record, text []byte, at int) int {
	if t.tag == listTag {
		return scanGaps(rec, text, at)
	}
	d, end := scanDecimal(text, at)
	if end < 0 || t.fact == nil {
		return end
	}
	switch {
	case !d.point && t.fact.toInternal == 1:
		rec.Facts[t.fact.field] = d.digits
	case d.point && t.fact.toInternal == million:
		n, ok := d.millionths()
		if !ok {
			return -1
		}
		rec.Facts[t.fact.field] = n
	default:
		return -1
	}
	return end
}

// million is the factor from milliseconds to nanoseconds.
const million = 1e6

// scanGaps reads the list of gaps in milliseconds into nanoseconds, and counts the contents that they lie between. It
// fails with the record as it was. Room for the list is made once, by the bytes up to its end.
func scanGaps(rec *record.Record, text []byte, at int) int {
	if listToInternal != million || at >= len(text) || text[at] != '[' {
		return -1
	}
	const usual = 8 // bytes of a gap and its comma, at least
	gaps := make([]int64, 0, max(0, bytes.IndexByte(text[at:], ']'))/usual+1)
	for at++; ; at++ {
		d, end := scanDecimal(text, at)
		if end < 0 || end >= len(text) {
			return -1
		}
		n, ok := d.millionths()
		if !ok {
			return -1
		}
		gaps = append(gaps, n)
		if at = end; text[at] == ']' {
			break
		}
		if text[at] != ',' {
			return -1
		}
	}
	rec.GapsNS = gaps
	rec.Facts[record.Contents] = int64(len(gaps)) + 1
	return at + 1
}

// decimal is a number without sign and exponent: digits × 10^-fraction.
type decimal struct {
	digits   int64
	fraction int
	point    bool
}

// maxDigits are those that an int64 holds.
const maxDigits = 18

// scanDecimal reads a JSON number without sign and exponent; end is -1 where there is anything else or more digits.
func scanDecimal(text []byte, at int) (d decimal, end int) {
	start := at
	for at < len(text) && text[at]-'0' <= 9 {
		d.digits = d.digits*10 + int64(text[at]-'0')
		at++
	}
	size := at - start
	if size == 0 || size > maxDigits || size > 1 && text[start] == '0' {
		return d, -1
	}
	if at < len(text) && text[at] == '.' {
		d.point = true
		point := at
		for at++; at < len(text) && text[at]-'0' <= 9; at++ {
			d.digits = d.digits*10 + int64(text[at]-'0')
		}
		d.fraction = at - point - 1
		if d.fraction == 0 || size+d.fraction > maxDigits {
			return d, -1
		}
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		return d, -1
	}
	return d, at
}

var powers = func() (p [maxDigits + 1]int64) {
	p[0] = 1
	for i := range maxDigits {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// millionths returns round(v × 10^6) for the float v that is nearest to the decimal, without making it. Below 2^48 the
// rounding of v and of the product move it by less than a sixteenth, so that only a decimal near the middle of two
// whole numbers is in doubt: false then.
func (d decimal) millionths() (int64, bool) {
	const bound = int64(1) << 48
	shift := d.fraction - 6
	if shift == 0 {
		return d.digits, d.digits < bound // what whole nanoseconds mostly come to, without a division
	}
	if shift < 0 {
		return d.digits * powers[-shift], d.digits < bound/powers[-shift]
	}
	unit := powers[shift]
	n, rest := d.digits/unit, d.digits%unit
	if rest > unit/2 {
		n, rest = n+1, unit-rest
	}
	return n, n < bound && rest <= unit/4
}

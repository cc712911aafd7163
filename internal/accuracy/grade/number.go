package grade

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Invalid stands for the answer of a text without a number.
const Invalid = "[invalid]"

var (
	afterHashes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#### (-?[0-9.,]+)`) })
	anyNumber   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(-?[0-9][0-9.,]*|-?\.[0-9]+)`) })
)

// GSM8K compares the number after "#### ", without commas; as a fallback the last number of the text.
func GSM8K(answer, gold string) Verdict {
	v := Verdict{Gold: Invalid, Extracted: Invalid}
	if g, ok := earliest(afterHashes(), gold); ok {
		v.Gold = strings.ReplaceAll(g, ",", "")
	}
	found, ok := earliest(afterHashes(), answer)
	if !ok {
		v.Unparsed = true
		found, ok = last(anyNumber(), answer)
	}
	if ok {
		v.Extracted = strings.ReplaceAll(found, ",", "")
	}
	if v.Extracted != Invalid && v.Gold != Invalid {
		a, okA := number(v.Extracted)
		b, okB := number(v.Gold)
		if okA && okB {
			v.Correct = math.Abs(a-b) < 1e-6
		} else {
			v.Correct = v.Extracted == v.Gold
		}
	}
	if v.Extracted == Invalid {
		v.Reason = "no number was found"
		return v
	}
	return v.explain("the number is the gold number", "the number differs from the gold number")
}

// number reads a decimal number; trailing dots are those of sentences.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimRight(text, "."), 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

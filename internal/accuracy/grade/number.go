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
)

// GSM8K compares the number after "#### ", without commas; as a fallback the last number of the text.
func GSM8K(answer, gold string) Verdict {
	v := Verdict{Gold: Invalid, Extracted: Invalid}
	if g, ok := hashed(gold); ok {
		v.Gold = strings.ReplaceAll(g, ",", "")
	}
	found, ok := hashed(answer)
	if !ok {
		v.Unparsed = true
		found, ok = anyNumber(answer)
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

// hashed returns the first number behind hashes.
func hashed(text string) (string, bool) {
	at := strings.Index(text, "####")
	if at < 0 {
		return "", false
	}
	return earliest(afterHashes(), text[at:min(len(text), at+tail)])
}

// anyNumber returns the last number of a text: digits with dots and commas between and behind them, or .5.
func anyNumber(text string) (string, bool) {
	text = ending(text)
	from, to := -1, -1
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) && !(text[i] == '.' && i+1 < len(text) && isDigit(text[i+1])) {
			continue
		}
		from = i
		if i > 0 && text[i-1] == '-' {
			from--
		}
		dot := text[i] == '.'
		for i++; i < len(text) && (isDigit(text[i]) || !dot && (text[i] == '.' || text[i] == ',')); i++ {
		}
		to = i
		i--
	}
	if from < 0 {
		return "", false
	}
	return text[from:to], true
}

// number reads a decimal number; trailing dots are those of sentences.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimRight(text, "."), 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

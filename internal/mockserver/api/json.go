package api

import (
	"fmt"
	"math"
	"strconv"

	"aiperf/internal/base/jsonscan"
)

// maxJSONDepth bounds the nesting of a request body.
const maxJSONDepth = 1000

func scan(body []byte) jsonscan.Scanner {
	return jsonscan.Scanner{Text: body, Depth: jsonscan.MaxDepth - maxJSONDepth}
}

// faults describe what is wrong with a body; that it is an object is known.
var faults = [...]string{
	jsonscan.WantKey: "expected a member name", jsonscan.WantColon: "expected :",
	jsonscan.WantValue: "expected a value",
	jsonscan.WantBrace: "expected , or }", jsonscan.WantBracket: "expected , or ]",
	jsonscan.WantEnd:         "unexpected text after the value",
	jsonscan.MalformedNumber: "malformed number", jsonscan.InvalidEscape: "invalid escape in a string",
	jsonscan.ControlCharacter: "control character in a string", jsonscan.UnterminatedString: "unterminated string",
	jsonscan.TooDeep: "too deeply nested",
}

// ended returns an error unless the body was read to its end without a fault.
func ended(s *jsonscan.Scanner) error {
	if s.End(); s.At >= 0 {
		return nil
	}
	at, fault := jsonscan.FaultOf(s.At)
	return fmt.Errorf("the body is not valid JSON: %s at byte %d", faults[fault], at)
}

// integer returns the value of a number's text if that is a whole number (1e2 and 50.0 are).
func integer(text []byte) (int, bool) {
	n := 0
	for _, b := range text {
		if b < '0' || b > '9' || n > math.MaxInt32 {
			f, err := strconv.ParseFloat(string(text), 64)
			if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
				return 0, false
			}
			return int(f), true
		}
		n = n*10 + int(b-'0')
	}
	return n, n <= math.MaxInt32
}

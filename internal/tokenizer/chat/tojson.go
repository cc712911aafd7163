package chat

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/nikolalohinski/gonja/v2/exec"
)

// toJSON is the filter as chat templates know it: nothing escaped, a blank behind commas and colons.
func toJSON(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	if in.IsError() {
		return in
	}
	indent := 0
	if v, ok := params.KwArgs["indent"]; ok && v.IsInteger() {
		indent = max(0, min(16, v.Integer()))
	} else if len(params.Args) > 0 && params.Args[0].IsInteger() {
		indent = max(0, min(16, params.Args[0].Integer()))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent > 0 {
		e.SetIndent("", strings.Repeat(" ", indent))
	}
	if err := e.Encode(in.ToGoSimpleType(false)); err != nil {
		return exec.AsValue(err)
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if indent == 0 {
		text = spaced(text)
	}
	return exec.AsSafeValue(text)
}

// spaced puts a blank behind the commas and colons of compact JSON.
func spaced(text string) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		b.WriteByte(c)
		switch {
		case inString && c == '\\':
			i++
			b.WriteByte(text[i])
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

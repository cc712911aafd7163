// Package grade decides whether an answer of a model is right.
//
// A grader extracts the answer that a text gives and compares it with the gold answer of its problem. Graders are pure
// functions: no clock, no network, no state, so that any number of goroutines may use them. The exception is code, which
// must be run to be graded; package sandbox does that.
//
// Every grader takes any text: its time grows linearly with the text, and what is too long or too deep to be understood
// is compared as text.
package grade

import (
	"slices"
	"strings"
)

// Verdict is what a grader found.
type Verdict struct {
	Correct bool
	// Unparsed reports that the answer was not given in the form that was asked for: it was found by a fallback, or not
	// at all. An unparsed answer can be correct.
	Unparsed bool
	// Extracted is the answer that was found in the text, Gold the one that it was compared with.
	Extracted, Gold string
	// Reason is a sentence.
	Reason string
}

// Confidence is 1 for a correct answer and 0 for another one: no grader is in doubt.
func (v *Verdict) Confidence() float64 {
	if v.Correct {
		return 1
	}
	return 0
}

// Func grades an answer against the gold answer of its problem.
type Func func(answer, gold string) Verdict

// Grader is a row of the table of graders.
type Grader struct {
	Name, About string
	// Grade is nil for the grader that runs code.
	Grade Func
}

// CodeExecution is the name of the grader that runs code.
const CodeExecution = "code_execution"

// Graders returns all graders, by name.
func Graders() []Grader {
	return []Grader{
		{CodeExecution, "The code of the last Python fence passes all tests of the problem.", nil},
		{"exact_match", "The whole answer, trimmed, is the gold text.", ExactMatch},
		{"lighteval_expr", "The boxed or last expression equals the gold expression.", Expression},
		{"lighteval_gpqa", "The letter from A to D is the gold letter.", Letter},
		{"lighteval_gsm8k", "The number after #### equals that of the gold text.", GSM8K},
		{"lighteval_latex", "The boxed or last expression equals that of the gold solution.", LaTeX},
		{"math", "The boxed, stated or last result equals the gold result.", Math},
		{"mmlu_pro", "The letter from A to J is the gold letter.", MMLUPro},
		{"multiple_choice", "The letter from A to D is the gold letter.", MultipleChoice},
	}
}

// Named returns the grader of a name.
func Named(name string) (Grader, bool) {
	all := Graders()
	if i := slices.IndexFunc(all, func(g Grader) bool { return g.Name == name }); i >= 0 {
		return all[i], true
	}
	return Grader{}, false
}

// ExactMatch compares the whole text; letters of another case differ. An empty answer is never correct.
func ExactMatch(answer, gold string) Verdict {
	v := Verdict{Extracted: strings.TrimSpace(answer), Gold: strings.TrimSpace(gold)}
	v.Correct = v.Extracted != "" && v.Extracted == v.Gold
	v.Unparsed = v.Extracted == "" && v.Gold != ""
	return v.explain("the answer is the gold text", "the answer differs from the gold text")
}

// explain fills in the reason.
func (v Verdict) explain(right, wrong string) Verdict {
	switch {
	case v.Correct:
		v.Reason = right
	case v.Extracted == "":
		v.Reason = "no answer was found"
	default:
		v.Reason = wrong
	}
	if v.Unparsed && v.Extracted != "" {
		v.Reason += "; it was found by a fallback"
	}
	return v
}

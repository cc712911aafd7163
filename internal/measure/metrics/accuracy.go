package metrics

import (
	"strings"
)

// AccuracyOverall is the share of all graded answers that are right, AccuracyUnparsed that of those which are not in
// the form asked for. Followed by their task, AccuracyTask and AccuracyUnparsedTask are those of one task.
// AccuracyVaried is the share of the problems with several answers that got different ones, AccuracyFlipped that of
// those with right and wrong ones.
const (
	AccuracyOverall      = "accuracy.overall"
	AccuracyUnparsed     = "accuracy.unparsed"
	AccuracyTask         = "accuracy.task."
	AccuracyUnparsedTask = "accuracy.unparsed.task."
	AccuracyVaried       = "accuracy.varied"
	AccuracyFlipped      = "accuracy.flipped"
)

// IsAccuracy reports whether a tag is a share of graded answers. They are not in the table, since what tasks there are
// is known to the benchmark; [Lookup] knows them.
func IsAccuracy(tag string) bool {
	_, ok := accuracy(tag)
	return ok
}

// accuracy returns the metric of a tag; false if it is not about graded answers.
func accuracy(tag string) (Definition, bool) {
	d := Definition{Tag: tag, Kind: KindDerived, Unit: Ratio, Display: Ratio, Group: GroupNone,
		Absent: "no answer was graded"}
	right := func(of, header string) {
		d.Header, d.Short, d.Flags = header, header, LargerIsBetter
		d.Doc, d.Formula = "The share of right answers"+of+".", "right answers / graded answers"
	}
	unparsed := func(of, header string) {
		d.Header, d.Short = header, header
		d.Doc = "The share of answers" + of + " that are not in the form asked for."
		d.Formula = "unparsed answers / graded answers"
	}
	if task, ok := strings.CutPrefix(tag, AccuracyTask); ok && task != "" {
		right(" to the task", "Accuracy: "+task)
		return d, true
	}
	if task, ok := strings.CutPrefix(tag, AccuracyUnparsedTask); ok && task != "" {
		unparsed(" to the task", "Unparsed Answers: "+task)
		return d, true
	}
	switch tag {
	case AccuracyOverall:
		right("", "Accuracy")
		return d, true
	case AccuracyUnparsed:
		unparsed("", "Unparsed Answers")
		return d, true
	case AccuracyVaried:
		d.Header, d.Short = "Problems with Different Answers", "Different Answers"
		d.Doc = "The share of the problems asked several times that got different answers."
		d.Formula = "problems with different answers / problems with several answers"
		d.Absent = "no problem was graded more than once"
		return d, true
	case AccuracyFlipped:
		d.Header, d.Short = "Problems Right and Wrong", "Right and Wrong"
		d.Doc = "The share of the problems asked several times that were right at least once and wrong at least once."
		d.Formula = "problems right and wrong / problems with several answers"
		d.Absent = "no problem was graded more than once"
		return d, true
	}
	return Definition{}, false
}

// AccuracyResult returns the result of a tag of [IsAccuracy]: n of so many.
func AccuracyResult(tag string, n, of int64) Metric {
	d, _ := accuracy(tag)
	r := Metric{Tag: tag, Header: d.Header, Short: d.Short, Unit: string(d.Display), Group: d.Group, Flags: d.Flags,
		Stats: Stats{Sum: float64(n), Count: of}}
	if of > 0 {
		r.Stats.Avg = float64(n) / float64(of)
	}
	return r
}

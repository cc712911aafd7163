package metrics

import (
	"math"

	"aiperf/internal/measure/record"
)

// nsToSeconds converts by one multiplication, as every conversion of units does.
const nsToSeconds = 1e-09

type (
	integerFormula = func(*record.Facts) (int64, bool)
	floatFormula   = func(*record.Facts) (float64, bool)
)

// fact returns the formula that reads one fact as it is; a negative duration or count is none.
func fact(i record.Field) integerFormula {
	return func(f *record.Facts) (int64, bool) {
		v := f[i]
		return v, v >= 0
	}
}

// between returns the formula of the time from one instant to a later one.
func between(from, to record.Field) integerFormula {
	return func(f *record.Facts) (int64, bool) {
		a, b := f[from], f[to]
		if a == record.Absent || b == record.Absent || b < a {
			return 0, false
		}
		return b - a, true
	}
}

var (
	timeToFirstToken   = fact(record.FirstContent)
	timeToSecondToken  = between(record.FirstContent, record.SecondContent)
	requestLatency     = fact(record.LastContent)
	decodeDuration     = between(record.FirstContent, record.LastContent)
	fullDecodeDuration = between(record.FirstContent, record.End)
	inputLength        = fact(record.InputTokens)
	reasoningTokens    = fact(record.ReasoningTokens)
	requestedLength    = fact(record.RequestedTokens)
	usagePrompt        = fact(record.UsagePrompt)
	usageCompletion    = fact(record.UsageCompletion)
	usageReasoning     = fact(record.UsageReasoning)
)

// outputTokenCount has no value at zero, unlike the sequence length.
func outputTokenCount(f *record.Facts) (int64, bool) {
	n := f[record.OutputTokens]
	return n, n > 0
}

func outputLength(f *record.Facts) (int64, bool) {
	output, hasOutput := f.Get(record.OutputTokens)
	reasoning, hasReasoning := f.Get(record.ReasoningTokens)
	switch {
	case hasOutput && hasReasoning:
		return output + reasoning, true
	case hasOutput:
		return output, true
	default:
		return reasoning, hasReasoning
	}
}

// perToken spreads a duration over the tokens after the first.
func perToken(duration integerFormula, f *record.Facts) (float64, bool) {
	d, ok := duration(f)
	n, counted := outputLength(f)
	if !ok || !counted || n < 2 {
		return 0, false
	}
	return float64(d) / float64(n-1), true
}

// interTokenLatency counts the tokens of the first chunk where the server reports them; elsewhere it is one.
func interTokenLatency(f *record.Facts) (float64, bool) {
	if f[record.Contents] < 2 {
		return 0, false
	}
	d, ok := decodeDuration(f)
	n, counted := outputLength(f)
	if !ok || !counted || n < 2 {
		return 0, false
	}
	first := int64(1)
	if told := f[record.FirstChunkTokens]; told > 0 && told < n {
		first = told
	}
	return float64(d) / float64(n-first), true
}

func fullResponseInterTokenLatency(f *record.Facts) (float64, bool) {
	return perToken(fullDecodeDuration, f)
}

// measurable reports whether a duration is long enough to divide by: one below the error of an instant is noise, and so
// would the rate be.
func measurable(ns int64) bool { return ns >= int64(record.InstantError) }

// rateOf returns the formula of 1 / latency, the latency in seconds, which is a part of the time between responses.
func rateOf(latency floatFormula, whole integerFormula) floatFormula {
	return func(f *record.Facts) (float64, bool) {
		ns, ok := latency(f)
		if all, timed := whole(f); !ok || !timed || !f.Tells(all) {
			return 0, false
		}
		return 1 / (ns * nsToSeconds), true
	}
}

// perSecond returns the formula of a count over a duration in seconds.
func perSecond(count, duration integerFormula) floatFormula {
	return func(f *record.Facts) (float64, bool) {
		n, counted := count(f)
		ns, timed := duration(f)
		if !counted || !timed || !measurable(ns) {
			return 0, false
		}
		return float64(n) / (float64(ns) * nsToSeconds), true
	}
}

// creditDropLatency has no value at zero.
func creditDropLatency(f *record.Facts) (int64, bool) {
	ns := f[record.CreditDrop]
	return ns, ns > 0
}

func thinkingEfficiency(f *record.Facts) (float64, bool) {
	output, ok := outputTokenCount(f)
	reasoning, thought := reasoningTokens(f)
	if !ok || !thought {
		return 0, false
	}
	return float64(reasoning) / float64(output), true
}

// floatFact returns the formula that reads a fact that holds the bits of a float.
func floatFact(i record.Field) floatFormula {
	return func(f *record.Facts) (float64, bool) {
		bits, ok := f.Get(i)
		if !ok {
			return 0, false
		}
		v := math.Float64frombits(uint64(bits))
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
}

// differencePercent returns the formula of |reported − counted| / counted × 100.
func differencePercent(reported, counted integerFormula) floatFormula {
	return func(f *record.Facts) (float64, bool) {
		theirs, ok := reported(f)
		ours, counts := counted(f)
		if !ok || !counts || ours == 0 {
			return 0, false
		}
		return math.Abs(float64(theirs-ours)) / float64(ours) * 100, true
	}
}

var (
	promptDifference     = differencePercent(usagePrompt, inputLength)
	completionDifference = differencePercent(textCompletion, outputLength)
	reasoningDifference  = differencePercent(usageReasoning, reasoningTokens)
)

// textCompletion is the server's count of completion tokens without those of sound, which the client cannot count.
func textCompletion(f *record.Facts) (int64, bool) {
	n, ok := usageCompletion(f)
	if sound, heard := f.Get(record.UsageCompletionAudio); heard {
		n = max(0, n-sound)
	}
	return n, ok
}

func lengthMismatch(f *record.Facts) (float64, bool) {
	got, ok := outputLength(f)
	asked, limited := requestedLength(f)
	if !ok || !limited || asked == 0 {
		return 0, false
	}
	return float64(got-asked) / float64(asked) * 100, true
}

// sumOf returns the formula of a sum of trace phases, of which none may be missing.
func sumOf(parts ...record.Field) integerFormula {
	return func(f *record.Facts) (int64, bool) {
		var total int64
		for _, i := range parts {
			if f[i] < 0 {
				return 0, false
			}
			total += f[i]
		}
		return total, true
	}
}

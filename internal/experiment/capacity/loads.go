package capacity

import (
	"fmt"

	"aiperf/internal/config"
	"aiperf/internal/result/answer"
)

// The names of what can be searched.
const (
	// Concurrency is the number of requests in flight, Rate that of requests per second.
	Concurrency = "concurrency"
	Rate        = "rate"
	// Users is the number of users, each of whom holds conversations at a pace of their own, see Question.Interval.
	Users = "users"
	// ISL and OSL are the lengths of prompts and of replies in tokens, under a load that does not change.
	ISL = "isl"
	OSL = "osl"
)

// kind is what a search over a load needs to know of it.
type kind struct {
	path string
	// real loads need not be whole numbers.
	real bool
	// lo and hi are the range where none is given.
	lo, hi float64
}

// Ranges of lengths where none is given: a prompt shorter than 16 tokens is none, a reply of one token has no time
// between tokens. The upper ends count where the server does not say how long its context is.
const (
	shortest      = 16
	longestPrompt = 32768
	longestReply  = 4096
)

var kinds = map[string]kind{
	Concurrency: {path: "phases.profiling.concurrency", lo: 1, hi: 1000},
	Rate:        {path: "phases.profiling.rate", real: true, lo: 1, hi: 1000},
	Users:       {path: "phases.profiling.users", lo: 1, hi: 1000},
	ISL:         {path: "dataset.prompts.isl", lo: shortest, hi: longestPrompt},
	OSL:         {path: "dataset.prompts.osl", lo: shortest, hi: longestReply},
}

// Loads returns the names of what can be searched.
func Loads() []string { return []string{Concurrency, Rate, Users, ISL, OSL} }

// Length reports whether the lengths of requests are searched, under a load that stays the same.
func (q *Question) Length() bool { return q.Over == ISL || q.Over == OSL }

// Path returns the path of the load in a configuration.
func (q *Question) Path() string { return kinds[q.Over].path }

// real reports whether the load need not be a whole number.
func (q *Question) real() bool { return kinds[q.Over].real }

// FitRange sets the ends of the range that are not given, which are below 0. other is the number of tokens of a request
// that a search over a length does not choose: those of the reply for ISL, of the prompt for OSL.
func (q *Question) FitRange(other float64) {
	k := kinds[q.Over]
	if q.Min < 0 {
		q.Min = k.lo
	}
	if q.Max >= 0 {
		return
	}
	q.Max = k.hi
	if room := float64(q.Context) - other; q.Length() && q.Context > 0 && room > q.Min {
		q.Max = room
	}
}

// Check returns what of a question cannot be asked.
func (q *Question) Check() error {
	whole := !q.real()
	switch {
	case len(q.Limits) == 0:
		return fmt.Errorf("no limit is given: add at least one of --ttft, --itl, --e2e, such as --ttft p99:300")
	case q.Min == 0, whole && q.Min >= 0 && q.Min < 1:
		return fmt.Errorf("--min %v must be above 0, and at least 1 for %s", q.Min, q.Over)
	case whole && (q.Min != float64(int64(q.Min)) || q.Max != float64(int64(q.Max))):
		return fmt.Errorf("--min %v and --max %v must be whole numbers with --over %s", q.Min, q.Max, q.Over)
	}
	return q.checkRange()
}

// checkRange returns an error for a range without a load. What is not given is not known yet.
func (q *Question) checkRange() error {
	fitted := *q
	fitted.FitRange(0)
	if !(fitted.Max > fitted.Min) {
		return fmt.Errorf("--max %v must be above --min %v", fitted.Max, fitted.Min)
	}
	return nil
}

// load is what is searched.
func (q *Question) load() answer.Parameter { return answer.NewParameter(q.Path()) }

// paced gives users their pace: the rate of a phase is that of all of them together.
func (q *Question) paced(p *config.Phase) {
	if q.Over == Users {
		p.Rate = float64(p.Users) / q.Interval.Seconds()
	}
}

const (
	// promptTokens bounds the tokens of the generated prompts of a probe over ISL, which are made before it starts:
	// 2000 prompts of 32,768 tokens would be some 260 MB. minPrompts is the least number all the same, so that a
	// prefix cache does not answer from the prompts of the same probe.
	promptTokens = 4_000_000
	minPrompts   = 32
)

// fewerPrompts bounds the prompts of a probe whose prompts are long, unless their number was asked for.
func (q *Question) fewerPrompts(cfg *config.Run) {
	if q.Over != ISL || cfg.Dataset.Kind != config.SyntheticDataset || q.KeepEntries {
		return
	}
	each := max(cfg.Dataset.ISL.Expected(), 1)
	cfg.Dataset.Entries = min(cfg.Dataset.Entries, max(minPrompts, int(promptTokens/each)))
}

// minReached is the share of the asked length that replies must have for a probe over OSL to count: below it the server
// ended them by itself, and their latency says nothing of the length asked for.
const minReached = 0.9

// tooShort says how the replies of a probe over OSL were too short, "" if they were not or that is not known.
func (q *Question) tooShort(asked, got float64) string {
	if q.Over != OSL || !(got < minReached*asked) {
		return ""
	}
	return fmt.Sprintf("the replies ended after %.0f of %.0f tokens on average; --extra-inputs ignore_eos:true or "+
		"min_tokens:%.0f makes many servers write on", got, asked, asked)
}

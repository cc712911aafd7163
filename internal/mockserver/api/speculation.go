package api

import (
	"cmp"
	"strconv"

	"aiperf/internal/base/random"
)

// MaxSpecTokens is how many tokens a step may draft.
const MaxSpecTokens = 8

// Where a reply reports its speculative decoding.
const (
	specInChoice = "choice" // speculative_decoding_stats of the choice
	specAtRoot   = "root"   // metrics.speculative_decoding of the document
	specNowhere  = "none"
)

// SpeculationOptions describes speculative decoding.
type SpeculationOptions struct {
	// Tokens is how many tokens each step drafts, 0 = none; Acceptance the share of them that is accepted where those
	// before it were.
	Tokens     int
	Acceptance float64
	// Place is where replies report it: one of [SpecPlaces], "" = the first.
	Place string
}

// SpecPlaces returns the values of Place.
func SpecPlaces() []string { return []string{specInChoice, specAtRoot, specNowhere} }

// Speculation is how a reply was made by steps that draft tokens: each accepts some of them and adds one of the
// target model. The tokens are those of the plan: accepted + steps.
type Speculation struct {
	Steps, Accepted, Drafted int
	// Buckets are the steps by how many of their drafted tokens were accepted.
	Buckets [MaxSpecTokens + 1]int
	// Advances are the tokens that each step makes.
	Advances []uint8
}

// speculate makes n tokens by steps that draft so many, each of which is accepted with a probability if those before
// it were.
func speculate(r random.Rand, n, draft int, share float64) Speculation {
	var s Speculation
	for left := n; left > 0; {
		accepted := 0
		for accepted < draft && accepted < left-1 && r.Float64() < share {
			accepted++
		}
		s.Steps++
		s.Accepted += accepted
		s.Drafted += draft
		s.Buckets[accepted]++
		s.Advances = append(s.Advances, uint8(accepted+1))
		left -= accepted + 1
	}
	return s
}

// appendSpeculation reports the reply's speculative decoding, if this is the place for it.
func (r *Reply) appendSpeculation(b []byte, place string) []byte {
	o, s := &r.gen.opts.Speculation, &r.Spec
	if o.Tokens == 0 || cmp.Or(o.Place, specInChoice) != place || s.Steps == 0 {
		return b
	}
	if place == specAtRoot {
		b = append(b, `,"metrics":{"speculative_decoding":`...)
	} else {
		b = append(b, `,"speculative_decoding_stats":`...)
	}
	b = append(b, `{"engine":"vllm","mean_acceptance_length":`...)
	b = strconv.AppendFloat(b, 1+float64(s.Accepted)/float64(s.Steps), 'f', -1, 64)
	b = append(b, `,"draft_acceptance_rate":`...)
	b = strconv.AppendFloat(b, float64(s.Accepted)/float64(s.Drafted), 'f', -1, 64)
	b = append(b, `,"acceptance_histogram":{`...)
	first := true
	for accepted, steps := range s.Buckets[:o.Tokens+1] {
		if steps == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(strconv.AppendInt(append(b, '"'), int64(accepted), 10), `":`...)
		b = strconv.AppendInt(b, int64(steps), 10)
	}
	for _, m := range [...]struct {
		name  string
		value int
	}{
		{`},"num_accepted_draft_tokens":`, s.Accepted}, {`,"num_draft_tokens":`, s.Drafted},
		{`,"num_spec_steps":`, s.Steps},
		{`,"num_spec_tokens":`, o.Tokens}, {`,"completion_tokens":`, r.Plan.Tokens()},
	} {
		b = strconv.AppendInt(append(b, m.name...), int64(m.value), 10)
	}
	b = append(b, '}')
	if place == specAtRoot {
		b = append(b, '}')
	}
	return b
}

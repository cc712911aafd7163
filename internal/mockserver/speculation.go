package mockserver

import (
	"cmp"
	"slices"
	"strconv"

	"aiperf/internal/base/random"
)

// maxSpecTokens is how many tokens a step may draft.
const maxSpecTokens = 8

// Where a reply reports its speculative decoding.
const (
	specInChoice = "choice" // speculative_decoding_stats of the choice
	specAtRoot   = "root"   // metrics.speculative_decoding of the document
	specNowhere  = "none"
)

// SpecPlaces lists the values of Options.SpecStats.
func SpecPlaces() []string { return []string{specInChoice, specAtRoot, specNowhere} }

// speculation is how a reply was made by steps that draft tokens: each accepts some of them and adds one of the
// target model. The tokens are those of the plan: accepted + steps.
type speculation struct {
	steps, accepted, drafted int
	// buckets are the steps by how many of their drafted tokens were accepted.
	buckets [maxSpecTokens + 1]int
}

// speculate makes n tokens by steps that draft so many, each of which is accepted with a probability if those before
// it were.
func speculate(r random.Rand, n, draft int, share float64) speculation {
	var s speculation
	for left := n; left > 0; {
		accepted := 0
		for accepted < draft && accepted < left-1 && r.Float64() < share {
			accepted++
		}
		s.steps++
		s.accepted += accepted
		s.drafted += draft
		s.buckets[accepted]++
		left -= accepted + 1
	}
	return s
}

// speculate decides how the reply is made, where the server drafts at all.
func (c *conn) speculate() {
	o := &c.srv.opts
	if o.SpecTokens > 0 {
		c.x.spec = speculate(c.srv.drafts.At(c.x.plan.draw), c.x.plan.tokens(), o.SpecTokens, o.SpecAcceptance)
	}
}

// appendSpeculation reports the reply's speculative decoding, if this is the place for it.
func (c *conn) appendSpeculation(b []byte, place string) []byte {
	o, s := &c.srv.opts, &c.x.spec
	if o.SpecTokens == 0 || cmp.Or(o.SpecStats, specInChoice) != place || s.steps == 0 {
		return b
	}
	if place == specAtRoot {
		b = append(b, `,"metrics":{"speculative_decoding":`...)
	} else {
		b = append(b, `,"speculative_decoding_stats":`...)
	}
	b = append(b, `{"engine":"vllm","mean_acceptance_length":`...)
	b = strconv.AppendFloat(b, 1+float64(s.accepted)/float64(s.steps), 'f', -1, 64)
	b = append(b, `,"draft_acceptance_rate":`...)
	b = strconv.AppendFloat(b, float64(s.accepted)/float64(s.drafted), 'f', -1, 64)
	b = append(b, `,"acceptance_histogram":{`...)
	first := true
	for accepted, steps := range s.buckets[:o.SpecTokens+1] {
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
		{`},"num_accepted_draft_tokens":`, s.accepted}, {`,"num_draft_tokens":`, s.drafted},
		{`,"num_spec_steps":`, s.steps},
		{`,"num_spec_tokens":`, o.SpecTokens}, {`,"completion_tokens":`, c.x.plan.tokens()},
	} {
		b = strconv.AppendInt(append(b, m.name...), int64(m.value), 10)
	}
	b = append(b, '}')
	if place == specAtRoot {
		b = append(b, '}')
	}
	return b
}

// countSpeculation enters it in the books. The shard is locked.
func (c *conn) countSpeculation(s *shard) {
	x := &c.x.spec
	if x.steps == 0 {
		return
	}
	s.count[cDrafts] += int64(x.steps)
	s.count[cDrafted] += int64(x.drafted)
	s.count[cAccepted] += int64(x.accepted)
	// Position i was accepted in each step that accepted more than i.
	beyond := int64(0)
	for i := maxSpecTokens; i > 0; i-- {
		beyond += int64(x.buckets[i])
		s.count[cAcceptedAt+counter(i-1)] += beyond
	}
}

// speculating adds what servers that draft tokens show of it.
func speculating(pages []page, draft int) {
	share := func(above, below counter, plus float64) func(*totals) float64 {
		return func(t *totals) float64 {
			if t.count[below] == 0 {
				return 0
			}
			return plus + float64(t.count[above])/float64(t.count[below])
		}
	}
	positions := make([]series, draft)
	for i := range positions {
		positions[i] = where("position", strconv.Itoa(i), sum(cAcceptedAt+counter(i)))
	}
	for name, families := range map[string][]family{
		"vllm": {
			total("vllm:spec_decode_num_drafts", "Steps that drafted tokens.", sum(cDrafts)),
			total("vllm:spec_decode_num_draft_tokens", "Tokens drafted.", sum(cDrafted)),
			total("vllm:spec_decode_num_accepted_tokens", "Drafted tokens that were accepted.", sum(cAccepted)),
			split("vllm:spec_decode_num_accepted_tokens_per_pos", kCounter,
				"Accepted tokens by their place in the draft.", positions...),
		},
		"sglang": {
			gauge("sglang:spec_accept_length", "Tokens per step of the target model.", share(cAccepted, cDrafts, 1)),
			gauge("sglang:spec_accept_rate", "Share of the drafted tokens that were accepted.",
				share(cAccepted, cDrafted, 0)),
		},
	} {
		i := slices.IndexFunc(pages, func(p page) bool { return p.name == name })
		pages[i].families = append(pages[i].families, families...)
	}
}

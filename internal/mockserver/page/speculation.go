package page

import (
	"slices"
	"strconv"
)

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

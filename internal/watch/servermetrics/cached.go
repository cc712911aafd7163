package servermetrics

import "slices"

// Cached says which part of the prompts a server took from its prefix cache, by its own counters.
type Cached struct {
	// Metric is the counter.
	Metric string
	// Share is the part of the prompt tokens, from 0 to 1.
	Share float64
	// Repeats is the largest part that a cache can have held because the run itself had sent it before, with the chat
	// template, which all prompts share; negative = unknown.
	Repeats float64
}

const (
	// warmMargin is by how much the share must exceed what the run itself repeats: texts are compared, not tokens, and a
	// cache holds whole blocks.
	warmMargin = 0.1
	// templateTokens of each prompt may be those of a chat template where no count shows how many are.
	templateTokens = 64
)

// Warm reports whether more of the prompts was in the cache than the run itself had put there.
func (c *Cached) Warm() bool { return c != nil && c.Repeats >= 0 && c.Share > c.Repeats+warmMargin }

// CachedShare returns the part of the prompt tokens that came from a cache, from 0 to 1, and the counter that says so;
// "" where the server does not count both.
func (s *ServerTotals) CachedShare() (share float64, metric string) {
	cached, prompt := s.total(CachedTokens), s.total(PromptTokens)
	if cached == nil || prompt == nil || cached.Absent != "" || prompt.Absent != "" {
		return 0, ""
	}
	all := prompt.Value
	if prompt.WithoutCached {
		all += cached.Value
	}
	if !Countable(all) || !Countable(cached.Value) || all == 0 {
		return 0, ""
	}
	return min(1, cached.Value/all), cached.Metric
}

// Cached returns how much of the prompts came from the server's prefix cache; nil where the server does not count it,
// and where requests of others are in its counters. repeats is the part of the prompts' text that the run had sent
// before; negative = unknown.
func (r *Reconciliation) Cached(repeats float64) *Cached {
	share, metric := r.Server.CachedShare()
	if metric == "" || slices.Contains(r.Causes, OtherClients) {
		return nil
	}
	c := &Cached{Metric: metric, Share: share, Repeats: repeats}
	prompt, requests := r.total(PromptTokens).Value, float64(r.Client.Succeeded)
	if t := r.total(Requests); t != nil && t.Absent == "" {
		requests = t.Value
	}
	if repeats >= 0 && prompt > 0 {
		template := min(1, r.templateOf()*requests/prompt)
		c.Repeats = template + repeats*(1-template)
	}
	return c
}

// templateOf returns how many tokens of a prompt are not those of its text.
func (r *Reconciliation) templateOf() float64 {
	row := r.Row(PromptTokens)
	switch {
	case row.Status == Absent:
	case row.Tokenized:
		return max(0, row.PerRequest)
	case row.Own > 0 && r.Client.Succeeded > 0:
		return max(0, row.Client-row.Own) / float64(r.Client.Succeeded)
	}
	return templateTokens
}

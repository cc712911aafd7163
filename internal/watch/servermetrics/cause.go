package servermetrics

import (
	"math"
	"slices"
)

// Cause is the likely reason of a difference.
type Cause string

// The causes.
const (
	OtherClients  Cause = "other_clients"
	Replicas      Cause = "replicas"
	WarmUp        Cause = "warm_up"
	Dropped       Cause = "dropped"
	Cancelled     Cause = "cancelled"
	Resent        Cause = "resent"
	Failed        Cause = "failed"
	Several       Cause = "several_per_request"
	Truncated     Cause = "truncated"
	Template      Cause = "chat_template"
	Added         Cause = "added_tokens"
	Tokenizer     Cause = "tokenizer"
	CachedPrompts Cause = "cached_prompts"
	Late          Cause = "late"
	Unexplained   Cause = "unexplained"
)

// causes are in order of weight: those that put the figures in doubt come first. Words follow a count in the line,
// advice is what to do. A quiet one is not logged.
var causes = [...]struct {
	code          Cause
	words, advice string
	quiet         bool
}{
	{OtherClients, "likely other clients of the server",
		"exclude them and repeat the run: its latencies include their load", false},
	{Replicas, "likely not all servers that answered were scraped",
		"name the page of each replica with --server-metrics", false},
	{Unexplained, "unknown cause",
		"compare the rows of reconciliation in the JSON summary with server_metrics_export.json", false},
	{WarmUp, "requests of the warm-up: there was no scrape between it and the profiling phase",
		"the server's page did not answer in time; see logs/aiperf.log", false},
	{Dropped, "requests that this client gave up and the server worked on",
		"their work is in the server's figures and not in these; raise --request-timeout-seconds or lower the load",
		false},
	{Resent, "requests sent again after their connection ended, served twice",
		"raise the server's keep-alive timeout, or use --connection-reuse-strategy never", false},
	{Truncated, "the server cut the prompts, as truncate_prompt_tokens asks for, or has quite another tokenizer",
		"lengths and rates of the input are this client's count, not what the server worked on; " +
			"--use-server-token-count takes the server's counts", false},
	{Failed, "requests that failed at this client and not at the server",
		"see error_summary in the JSON summary", false},
	{Cancelled, "requests that this client cancelled, as it was asked to", "their work is in the server's figures and not " +
		"in these", true},
	{CachedPrompts, "prompt tokens from a cache, which the counter leaves out",
		"turn the prefix cache off to compare", true},
	{Late, "the rest after the last scrape", "", true},
	{Several, "one request of this client is several for the server: inputs of a batch, passages, or choices",
		"compare the token rows instead", true},
	{Template, "its chat template", "--use-server-token-count takes the server's counts", true},
	{Added, "special tokens, or the query once more with each passage",
		"--use-server-token-count takes the server's counts", true},
	{Tokenizer, "another tokenizer, or tokens without text", "--use-server-token-count takes the server's counts",
		true},
}

// Words returns the text of the cause, for the middle of a sentence.
func (c Cause) Words() string { return causes[c.weight()].words }

// Advice returns what to do about the cause.
func (c Cause) Advice() string { return causes[c.weight()].advice }

func (c Cause) weight() int {
	for i := range causes {
		if causes[i].code == c {
			return i
		}
	}
	panic("reconcile: no cause " + string(c))
}

// Quiet reports whether all causes are harmless to the figures.
func (r *Reconciliation) Quiet() bool {
	return !slices.ContainsFunc(r.Causes, func(c Cause) bool { return !causes[c.weight()].quiet })
}

// judge determines the status of each row, and the verdict.
func (r *Reconciliation) judge() {
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Status != "" {
			continue
		}
		if row.within(0, row.Tolerance) {
			row.Status = Agrees
			continue
		}
		switch row.Quantity {
		case Requests:
			row.Status, row.Cause = r.ofRequests(row)
		default:
			row.Status, row.Cause = r.ofTokens(row)
		}
	}
	r.severalPerRequest()
	if row := r.Row(PromptTokens); row.truncated() {
		row.Status, row.Cause = Explained, Truncated
	}
	r.conclude()
}

// truncated reports that prompts are so much shorter for the server than for the client that another tokenizer does not
// explain it, though nothing is wrong with the number of requests.
func (row *Row) truncated() bool {
	switch {
	case row.Server == 0 || row.Status != Agrees && row.Cause != Tokenizer:
		return false
	case row.Tokenized:
		return row.Server < (1-generous)*row.Client
	}
	return row.Client < (1-generous)*row.Own
}

// within reports whether the difference is from low to high, half a unit apart at most: servers keep floats.
func (row *Row) within(low, high float64) bool {
	return row.Difference > low-0.5 && row.Difference < high+0.5
}

// extras returns how many requests more the server may have finished than the client, each with its cause.
func (r *Reconciliation) extras() (n int64, cause Cause) {
	for _, of := range []struct {
		n     int64
		cause Cause
	}{{r.Client.WarmUp, WarmUp}, {r.Client.Dropped, Dropped},
		{r.Client.Cancelled, Cancelled}, {r.Client.Resent, Resent}, {r.Client.Failed, Failed}} {
		if of.n > 0 && cause == "" {
			cause = of.cause
		}
		n += of.n
	}
	return n, cause
}

func (r *Reconciliation) ofRequests(row *Row) (ReconcileStatus, Cause) {
	switch {
	case row.within(-r.late(), 0):
		return Agrees, Late
	case row.Difference < 0:
		return Differs, Replicas
	}
	if n, cause := r.extras(); cause != "" && row.within(0, row.Tolerance+float64(n)) {
		return Explained, cause
	}
	return Differs, OtherClients
}

// The share of requests that a server may count after the last scrape, and from how many requests on that may be one.
const lateShare, lateFrom = 0.01, 10

// late returns how many requests a server may count when their replies are already whole: some do after the last byte.
func (r *Reconciliation) late() float64 {
	n := float64(r.Client.Succeeded)
	if n < lateFrom {
		return 0
	}
	return max(1, math.Floor(n*lateShare))
}

// ofTokens judges a row of tokens by that of the requests, or where the server has none by that of the prompts.
func (r *Reconciliation) ofTokens(row *Row) (ReconcileStatus, Cause) {
	requests := r.Row(Requests)
	known := requests.Status != Absent
	first := requests
	if !known {
		first = r.Row(PromptTokens)
	}
	// What is wrong with the requests is wrong with their tokens, if the difference has the same direction.
	if first != row && first.Status == Differs && (first.Difference > 0) == (row.Difference > 0) {
		return Differs, first.Cause
	}
	largest := r.figure(row.Quantity).Max
	n, cause := r.extras()
	if cause != "" && row.within(0, row.Tolerance+float64(n)*largest) {
		return Explained, cause
	}
	maybeLate := requests.Cause == Late || !known && !row.Tokenized
	if maybeLate && row.within(-r.late()*largest, 0) {
		return Agrees, Late
	}
	if !row.Tokenized {
		return r.ofReported(row, known)
	}
	if !known && r.strangers(row) {
		return Differs, OtherClients
	}
	switch {
	case row.Server == 0:
		return Differs, Replicas
	case row.Quantity == PromptTokens && row.Difference > 0:
		return Explained, r.addition()
	}
	return Explained, Tokenizer
}

// addition is what makes prompts longer for the server: the APIs that generate nothing have no chat template.
func (r *Reconciliation) addition() Cause {
	if r.generates() {
		return Template
	}
	return Added
}

// generates reports whether the run has generated tokens.
func (r *Reconciliation) generates() bool {
	f := r.figure(GeneratedTokens)
	return f == nil || f.Absent == ""
}

// ofReported judges a row whose tokens the server itself reported in its replies: they should be the same.
func (r *Reconciliation) ofReported(row *Row, known bool) (ReconcileStatus, Cause) {
	t := r.total(row.Quantity)
	switch {
	case row.Quantity == PromptTokens && row.Difference < 0 && t.WithoutCached && row.Server > 0:
		return Explained, CachedPrompts
	case row.Difference < 0 && (!known || row.Server == 0):
		return Differs, Replicas
	case row.Difference > 0: // requests of others that had not ended, where those that had are not more
		return Differs, OtherClients
	}
	return Differs, Unexplained
}

// generous is by which share two tokenizers may differ in what they count of the same replies.
const generous = 0.25

// strangers reports whether more was generated than another tokenizer explains, where nothing else shows requests of
// others from longer ones.
func (r *Reconciliation) strangers(row *Row) bool {
	generated := r.Row(GeneratedTokens)
	if generated.Status == Absent {
		return row.Quantity != PromptTokens && row.Difference > 0
	}
	return generated.Difference > generous*generated.Client+float64(r.Client.Succeeded)
}

// severalPerRequest takes requests back that the server counts by their inputs, passages or choices: with the same
// tokens, and a whole multiple where something is generated. Requests that generate nothing may each have another number
// of inputs; that the server reported all prompt tokens that it counted excludes other clients. Servers that work on each
// choice as a request count its prompt, too: these tokens are the same multiple then, while those generated agree.
func (r *Reconciliation) severalPerRequest() {
	row := r.Row(Requests)
	if row.Status != Differs || row.Client == 0 || row.Difference < 0 || r.Pages > 1 {
		return
	}
	prompt, generated := r.Row(PromptTokens), r.Row(GeneratedTokens)
	if !r.generates() && prompt.Status == Agrees && !prompt.Tokenized {
		row.Status, row.Cause = Explained, Several
		return
	}
	times := row.Server / row.Client
	if times != math.Trunc(times) {
		return
	}
	agrees := func(row *Row) bool { return row.Status == Absent || row.Status == Agrees }
	switch {
	case !agrees(generated):
	case agrees(prompt) && (prompt.Status == Agrees || generated.Status == Agrees):
		row.Status, row.Cause = Explained, Several
	case generated.Status == Agrees && math.Abs(prompt.Server-times*prompt.Client) < 0.5+times*prompt.Tolerance:
		for _, several := range []*Row{row, prompt} {
			several.Status, several.Cause = Explained, Several
		}
	}
}

// conclude determines the verdict and the causes of the whole.
func (r *Reconciliation) conclude() {
	r.Verdict = VerdictNotCompared
	rank := []string{VerdictNotCompared, VerdictAgree, VerdictExplained, VerdictDiffer}
	verdicts := map[ReconcileStatus]string{Agrees: VerdictAgree, Explained: VerdictExplained, Differs: VerdictDiffer}
	for i := range r.Rows {
		row := &r.Rows[i]
		if v, judged := verdicts[row.Status]; judged && slices.Index(rank, v) > slices.Index(rank, r.Verdict) {
			r.Verdict = v
		}
		if row.Status != Agrees && row.Cause != "" && !slices.Contains(r.Causes, row.Cause) {
			r.Causes = append(r.Causes, row.Cause)
		}
	}
	slices.SortStableFunc(r.Causes, func(a, b Cause) int { return a.weight() - b.weight() })
}

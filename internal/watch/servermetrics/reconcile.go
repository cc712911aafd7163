package servermetrics

import "math"

// Quantity is something that both sides count.
type Quantity string

// The quantities, in the order of the rows. Times are sums in seconds.
const (
	Requests        Quantity = "requests"
	AbortedRequests Quantity = "aborted_requests"
	PromptTokens    Quantity = "prompt_tokens"
	CachedTokens    Quantity = "cached_prompt_tokens"
	GeneratedTokens Quantity = "generated_tokens"
	TTFT            Quantity = "time_to_first_token"
	Latency         Quantity = "request_latency"
)

// quantities are all of them in order, each with its unit and whether it is shown without being judged: servers measure
// times from and to other instants, and disagree on what to count as aborted and as cached.
var quantities = [...]struct {
	name        Quantity
	unit        string
	informative bool
}{
	{Requests, "requests", false},
	{AbortedRequests, "requests", true},
	{PromptTokens, "tokens", false},
	{CachedTokens, "tokens", true},
	{GeneratedTokens, "tokens", false},
	{TTFT, "sec", true},
	{Latency, "sec", true},
}

// ServerTotals is what the pages of a server counted between two scrapes.
type ServerTotals struct {
	// Kind is the name of the server, e.g. vLLM.
	Kind string `json:"kind"`
	// Pages have counters of the kind; Silent endpoints were configured and delivered no page.
	Pages  int `json:"pages"`
	Silent int `json:"silent,omitempty"`
	// Alike: several pages grew by the same in every counter. They may be pages of one server.
	Alike bool `json:"alike,omitempty"`
	// FromNS and ToNS are the instants of the first and the last scrape, wall epoch ns; 0 = unknown.
	FromNS int64 `json:"from_ns,omitempty"`
	ToNS   int64 `json:"to_ns,omitempty"`
	// Totals are sums over the pages, one for each quantity that the kind of server counts.
	Totals []Total `json:"totals"`
}

// Total is what a server counted of one quantity.
type Total struct {
	Quantity Quantity `json:"quantity"`
	// Metric names what was read, as exports call it.
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	// Count is the number of observations that Value is the sum of; 0 = unknown.
	Count float64 `json:"count,omitempty"`
	// WithoutCached: prompt tokens that came from a cache are not in Value.
	WithoutCached bool `json:"without_cached,omitempty"`
	// Absent is why there is no value; "" where there is one.
	Absent string `json:"absent,omitempty"`
}

// Uncountable is why a total is absent that no server can have counted.
const Uncountable = "the counter grew by more than a server can count"

// Countable reports whether a value may be a total.
func Countable(v float64) bool { return v >= 0 && v < 1e15 }

// ClientTotals is what the run counted, and what it knows of its course.
type ClientTotals struct {
	// Succeeded requests had a whole reply. Of the others Dropped ran out of time at the client, Cancelled it cancelled
	// because the run is meant to, and Failed did in another way. CutOff are those that the end of the run cut off.
	Succeeded, Dropped, Cancelled, Failed, CutOff int64
	// Resent requests were sent once more on another connection.
	Resent int64
	// InFlight requests of the warm-up were out when the profiling phase began. WarmUp requests may have ended after
	// the first scrape: there was none between the phases.
	InFlight, WarmUp int64
	// Figures are the totals of the successful requests.
	Figures []ClientTotal
}

// ClientTotal is a total of the client.
type ClientTotal struct {
	Quantity Quantity
	// Metric is the tag of what was summed.
	Metric string
	// Value is the sum, Max the largest of one request, Count how many requests have one.
	Value, Max float64
	Count      int64
	// Tokenized: the client counted the tokens itself, the server did not report them.
	Tokenized bool
	// Own is what the client's tokenizer counted where Value is what the server reported; 0 = unknown.
	Own float64
	// Absent is why there is no value; "" where there is one.
	Absent string
}

// ReconcileStatus is what is to be thought of a row.
type ReconcileStatus string

// The statuses.
const (
	// Agrees: the difference is none, or not larger than what was in flight at the borders.
	Agrees ReconcileStatus = "agrees"
	// Explained: the difference is what the causes of the row lead one to expect.
	Explained ReconcileStatus = "explained"
	// Differs: something is not as the run knows it.
	Differs ReconcileStatus = "differs"
	// Informative: shown and not judged.
	Informative ReconcileStatus = "informative"
	// Absent: one side has no count.
	Absent ReconcileStatus = "absent"
)

// Row is one quantity with both counts.
type Row struct {
	Quantity Quantity
	Unit     string
	Status   ReconcileStatus
	// Client and Server are the counts, ClientMetric and ServerMetric where they come from. An absent row has that of
	// the server where only the client's is missing.
	Client, Server             float64
	ClientMetric, ServerMetric string
	// Tokenized: the client counted tokens with its own tokenizer. Own is its count where Client is what the server
	// reported in its replies; 0 = unknown.
	Tokenized bool
	Own       float64
	// Difference is the server's count less the client's, PerRequest the same for a request on average; Tolerance is
	// what was in flight at the borders.
	Difference, PerRequest, Tolerance float64
	// Cause is that of a difference; "" without one.
	Cause Cause
	// Reason is why the row is absent.
	Reason string
}

// The verdicts on the whole.
const (
	VerdictAgree       = "agree"
	VerdictExplained   = "explained"
	VerdictDiffer      = "differ"
	VerdictNotCompared = "not_compared"
)

// Reconciliation is the comparison of both sides.
type Reconciliation struct {
	// Verdict is the worst of the rows.
	Verdict string
	Server  ServerTotals
	// Pages are those whose counters are in the rows: one where all pages are of one server.
	Pages  int
	Client ClientTotals
	Rows   []Row
	// Causes are those of the rows that do not agree, the weightiest first.
	Causes []Cause
}

// Reconcile puts both sides next to each other.
func Reconcile(s *ServerTotals, c *ClientTotals) *Reconciliation {
	r := &Reconciliation{Server: *s, Pages: s.Pages, Client: *c}
	if s.Alike && s.Pages > 1 && r.onePage() {
		r.Pages = 1
	}
	for _, q := range quantities {
		row := Row{Quantity: q.name, Unit: q.unit}
		r.fill(&row)
		if row.Status == "" && q.informative {
			row.Status = Informative
		}
		r.Rows = append(r.Rows, row)
	}
	r.judge()
	return r
}

// CaughtUp reports whether the server has counted all that the client knows to be over: each quantity that is counted
// exactly on both sides is as large at the server, and there is one. Requests of a warm-up at the border might stand for
// those that are missing: with any it is not known.
func (r *Reconciliation) CaughtUp() bool {
	if r == nil || r.Client.InFlight > 0 || r.Client.WarmUp > 0 {
		return false
	}
	compared := false
	for _, q := range []Quantity{Requests, PromptTokens, GeneratedTokens} {
		row := r.Row(q)
		if row == nil || row.Status == Absent || row.Tokenized {
			continue
		}
		if row.Server < row.Client-0.5 {
			return false
		}
		compared = true
	}
	return compared
}

// onePage reports whether one of several equal pages fits the client better than their sum.
func (r *Reconciliation) onePage() bool {
	for _, q := range []Quantity{Requests, PromptTokens, GeneratedTokens} {
		t, f := r.total(q), r.figure(q)
		if t == nil || t.Absent != "" || f == nil || f.Absent != "" || t.Value == 0 {
			continue
		}
		return math.Abs(t.Value/float64(r.Pages)-f.Value) < math.Abs(t.Value-f.Value)
	}
	return false
}

func (r *Reconciliation) total(q Quantity) *Total { return r.Server.total(q) }

func (s *ServerTotals) total(q Quantity) *Total {
	for i := range s.Totals {
		if s.Totals[i].Quantity == q {
			return &s.Totals[i]
		}
	}
	return nil
}

func (r *Reconciliation) figure(q Quantity) *ClientTotal {
	for i := range r.Client.Figures {
		if r.Client.Figures[i].Quantity == q {
			return &r.Client.Figures[i]
		}
	}
	return nil
}

// Row returns the row of a quantity.
func (r *Reconciliation) Row(q Quantity) *Row {
	for i := range r.Rows {
		if r.Rows[i].Quantity == q {
			return &r.Rows[i]
		}
	}
	return nil
}

// fill sets both counts, or why there is one missing.
func (r *Reconciliation) fill(row *Row) {
	t, f := r.total(row.Quantity), r.figure(row.Quantity)
	switch {
	case t == nil:
		row.absent(r.Server.Kind + " has no counter of it")
		return
	case t.Absent != "":
		row.absent(t.Absent)
		return
	case !Countable(t.Value) || !Countable(t.Count):
		row.absent(Uncountable)
		return
	}
	row.Server, row.ServerMetric = t.Value, t.Metric
	if r.Pages != r.Server.Pages {
		row.Server *= float64(r.Pages) / float64(r.Server.Pages)
	}
	switch {
	case f == nil:
		row.absent("the client has no such figure")
		return
	case f.Absent != "":
		row.absent(f.Absent)
		return
	}
	row.Client, row.ClientMetric, row.Tokenized, row.Own = f.Value, f.Metric, f.Tokenized, f.Own
	if t.WithoutCached && row.Quantity == PromptTokens {
		if cached := r.figure(CachedTokens); cached != nil && cached.Absent == "" {
			row.Client -= cached.Value
			row.ClientMetric += " - " + cached.Metric
		}
	}
	row.Difference = row.Server - row.Client
	if n := float64(r.Client.Succeeded); n > 0 {
		row.PerRequest = row.Difference / n
	}
	if row.Quantity == TTFT || row.Quantity == Latency {
		// Means are compared: the server may have observed another number of requests.
		if t.Count > 0 && f.Count > 0 {
			row.PerRequest = t.Value/t.Count - f.Value/float64(f.Count)
		}
		return
	}
	row.Tolerance = float64(r.Client.InFlight + r.Client.CutOff)
	if row.Unit == "tokens" {
		row.Tolerance *= f.Max
	}
}

func (row *Row) absent(why string) { row.Status, row.Reason = Absent, why }

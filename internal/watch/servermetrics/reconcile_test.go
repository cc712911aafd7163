package servermetrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// run returns a client with 100 requests of 50 prompt and 20 generated tokens, which the server reported.
func run() *ClientTotals {
	return &ClientTotals{Succeeded: 100, Figures: []ClientTotal{
		{Quantity: Requests, Metric: "request_count", Value: 100, Max: 1, Count: 100},
		{Quantity: AbortedRequests, Metric: "given up", Value: 0, Max: 1},
		{Quantity: PromptTokens, Metric: "usage_prompt_tokens", Value: 5000, Max: 60, Count: 100},
		{Quantity: CachedTokens, Metric: "usage_prompt_cache_read_tokens", Value: 1000, Max: 30, Count: 100},
		{Quantity: GeneratedTokens, Metric: "usage_completion_tokens", Value: 2000, Max: 20, Count: 100},
		{Quantity: TTFT, Metric: "time_to_first_token", Value: 2, Max: 0.1, Count: 100},
	}}
}

// tokenized returns the same without usage in the replies.
func tokenized() *ClientTotals {
	c := run()
	for i := range c.Figures {
		f := &c.Figures[i]
		switch f.Quantity {
		case PromptTokens, GeneratedTokens:
			f.Metric, f.Tokenized = "own", true
		case CachedTokens:
			f.Absent = "the run has none"
		}
	}
	return c
}

// counting returns a server with these counters; a negative one it does not have.
func counting(requests, prompt, generated float64) *ServerTotals {
	s := &ServerTotals{Kind: "vLLM", Pages: 1}
	for _, t := range []Total{
		{Quantity: Requests, Metric: "requests", Value: requests},
		{Quantity: PromptTokens, Metric: "prompt", Value: prompt},
		{Quantity: GeneratedTokens, Metric: "generated", Value: generated},
		{Quantity: TTFT, Metric: "ttft", Value: 1, Count: max(requests, 100)},
	} {
		if t.Value >= 0 {
			s.Totals = append(s.Totals, t)
		}
	}
	return s
}

func TestCausesOfDifferences(t *testing.T) {
	with := func(c *ClientTotals, change func(*ClientTotals)) *ClientTotals { change(c); return c }
	pages := func(s *ServerTotals, n int) *ServerTotals { s.Pages, s.Alike = n, n > 1; return s }
	for _, c := range []struct {
		name    string
		server  *ServerTotals
		client  *ClientTotals
		verdict string
		causes  []Cause
		line    string
	}{
		{"nothing", counting(100, 5000, 2000), run(), VerdictAgree, nil,
			"counted 100 of 100 requests; prompt and generated tokens agree"},
		{"half a token", counting(100, 5000.4, 1999.6), run(), VerdictAgree, nil, ""},
		{"other clients", counting(150, 7500, 3000), run(), VerdictDiffer, []Cause{OtherClients},
			"counted 150 requests, this client 100: likely other clients of the server; prompt tokens +50 %; " +
				"generated tokens +50 %"},
		{"other clients of a server that counts no requests", counting(-1, 7500, 3000), run(), VerdictDiffer,
			[]Cause{OtherClients},
			"counted prompt tokens +25 a request: likely other clients of the server"},
		{"other clients of one that sent requests again", counting(-1, 8000, 2200),
			with(run(), func(c *ClientTotals) { c.Resent = 15 }), VerdictDiffer, []Cause{OtherClients}, ""},
		{"other clients, without usage", counting(-1, 7500, 3000), tokenized(), VerdictDiffer, []Cause{OtherClients},
			""},
		{"a chat template", counting(100, 5900, 2000), tokenized(), VerdictExplained, []Cause{Template},
			"counted 100 of 100 requests; generated tokens agree; prompt tokens +9 a request: its chat template"},
		{"a chat template, where requests are not counted", counting(-1, 5900, 2100), tokenized(), VerdictExplained,
			[]Cause{Template, Tokenizer}, ""},
		{"a chat template in usage", counting(100, 5000, 2000),
			with(run(), func(c *ClientTotals) { c.Figures[2].Own = 4100 }), VerdictAgree, nil,
			"counted 100 of 100 requests; prompt and generated tokens agree; prompt tokens +9 a request over this " +
				"client's count: its chat template"},
		{"truncated prompts", counting(100, 5000, 2000),
			with(run(), func(c *ClientTotals) { c.Figures[2].Own = 30000 }), VerdictExplained, []Cause{Truncated},
			"counted 100 of 100 requests; generated tokens agree; prompt tokens -250 a request under this client's count: " +
				"the server cut the prompts"},
		{"truncated prompts, without usage", counting(100, 1000, 2000), tokenized(), VerdictExplained, []Cause{Truncated},
			"prompt tokens -40 a request under this client's count: the server cut the prompts"},
		{"a somewhat shorter tokenizer", counting(100, 5000, 2000),
			with(run(), func(c *ClientTotals) { c.Figures[2].Own = 6000 }), VerdictAgree, nil, "prompt and generated tokens agree"},
		{"another tokenizer", counting(100, 4800, 2350), tokenized(), VerdictExplained, []Cause{Tokenizer},
			"prompt tokens -2 a request: another tokenizer"},
		{"requests sent again", counting(103, 5150, 2060), with(run(), func(c *ClientTotals) { c.Resent = 3 }),
			VerdictExplained, []Cause{Resent}, ""},
		{"more than those sent again", counting(104, 5150, 2060), with(run(), func(c *ClientTotals) { c.Resent = 3 }),
			VerdictDiffer, []Cause{OtherClients}, ""},
		{"one replica of two", counting(50, 2500, 1000), run(), VerdictDiffer, []Cause{Replicas},
			"counted 50 of 100 requests: likely not all servers that answered were scraped; prompt tokens -50 %"},
		{"one replica of two that count no requests", counting(-1, 2500, 1000), run(), VerdictDiffer, []Cause{Replicas},
			""},
		{"a page of a server that was not asked", counting(0, 0, 0), run(), VerdictDiffer, []Cause{Replicas},
			"counted 0 of 100 requests"},
		{"requests that the client gave up", counting(110, 5500, 2200), with(run(), func(c *ClientTotals) { c.Dropped = 12 }),
			VerdictExplained, []Cause{Dropped},
			"counted 110 requests, this client 100: requests that this client gave up"},
		{"requests that the client cancelled on purpose", counting(110, 5500, 2200),
			with(run(), func(c *ClientTotals) { c.Cancelled = 12 }), VerdictExplained, []Cause{Cancelled},
			"counted 110 requests, this client 100: requests that this client cancelled, as it was asked to"},
		{"some on purpose and some out of time", counting(110, 5500, 2200),
			with(run(), func(c *ClientTotals) { c.Cancelled, c.Dropped = 8, 4 }), VerdictExplained, []Cause{Dropped}, ""},
		{"prompts of requests that the client gave up", counting(100, 5500, 2100),
			with(run(), func(c *ClientTotals) { c.Dropped = 12 }), VerdictExplained, []Cause{Dropped}, ""},
		{"requests that failed here", counting(101, 5050, 2020), with(run(), func(c *ClientTotals) { c.Failed = 1 }),
			VerdictExplained, []Cause{Failed}, ""},
		{"requests cut off at the end", counting(104, 5200, 2080), with(run(), func(c *ClientTotals) { c.CutOff = 8 }),
			VerdictAgree, nil,
			"counted 104 requests, this client 100: in flight at the borders of the window; prompt tokens +2 a " +
				"request; generated"},
		{"a warm-up that is still in flight", counting(104, 5200, 2080),
			with(run(), func(c *ClientTotals) { c.InFlight = 8 }), VerdictAgree, nil, ""},
		{"a warm-up inside the window", counting(120, 6000, 2400), with(run(), func(c *ClientTotals) { c.WarmUp = 20 }),
			VerdictExplained, []Cause{WarmUp}, ""},
		{"counted too late", counting(99, 4950, 1980), run(), VerdictAgree, nil, "the rest after the last scrape"},
		{"several inputs in each request", counting(400, 5000, -1), run(), VerdictExplained, []Cause{Several}, ""},
		{"another number of passages in each request", counting(437, 5000, 0),
			with(run(), func(c *ClientTotals) { c.Figures[2].Own, c.Figures[4].Absent = 4000, "none" }),
			VerdictExplained, []Cause{Several}, "several for the server: inputs of a batch, passages, or choices; prompt " +
				"tokens agree; prompt tokens +10 a request over this client's count: special tokens, or the query once " +
				"more with each passage"},
		{"passages, until the time is over", counting(450, 5200, 0),
			with(run(), func(c *ClientTotals) { c.CutOff, c.Figures[4].Absent = 8, "none" }),
			VerdictExplained, []Cause{Several}, ""},
		{"passages, and another client", counting(537, 6000, 0),
			with(run(), func(c *ClientTotals) { c.Figures[4].Absent = "none" }), VerdictDiffer, []Cause{OtherClients}, ""},
		{"special tokens", counting(100, 5200, 0),
			with(tokenized(), func(c *ClientTotals) { c.Figures[4].Absent = "none" }), VerdictExplained, []Cause{Added},
			"prompt tokens +2 a request: special tokens"},
		{"several choices, each with its prompt", counting(200, 10000, 2000), run(), VerdictExplained, []Cause{Several},
			"counted 200 requests, this client 100: one request of this client is several for the server: inputs of a " +
				"batch, passages, or choices; generated tokens agree; prompt tokens +100 %"},
		{"another client that gets no tokens", counting(200, 9900, 2000), run(), VerdictDiffer, []Cause{OtherClients}, ""},
		{"another client that does the same", counting(200, 10000, 4000), run(), VerdictDiffer, []Cause{OtherClients}, ""},
		{"pages of one server", pages(counting(200, 10000, 4000), 2), run(), VerdictAgree, nil,
			"counted 100 of 100 requests"},
		{"two replicas that did the same", pages(counting(100, 5000, 2000), 2), run(), VerdictAgree, nil, ""},
		{"requests of other clients that have not ended", counting(100, 5100, 2100), run(), VerdictDiffer,
			[]Cause{OtherClients},
			"counted 100 of 100 requests; prompt tokens +1 a request: likely other clients of the server; generated " +
				"tokens +1 a request"},
		{"what nothing explains", counting(100, 4100, 2000), run(), VerdictDiffer, []Cause{Unexplained}, ""},
		{"no counters", counting(-1, -1, -1), run(), VerdictNotCompared, nil,
			"totals are not compared: vLLM has no counter of it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Reconcile(c.server, c.client)
			if r.Verdict != c.verdict || !slices.Equal(r.Causes, c.causes) || !strings.Contains(r.Sentence(), c.line) {
				t.Errorf("%s %v: %s\n%+v", r.Verdict, r.Causes, r.Sentence(), r.Rows)
			}
			if message, advice, found := r.Finding(); found != (c.causes != nil) || found &&
				(message == "" || advice == "") {
				t.Errorf("finding %t: %q, %q", found, message, advice)
			}
		})
	}
}

// The end of a run waits until the server has caught up.
func TestAServerCatchesUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		server *ServerTotals
		client *ClientTotals
		want   bool
	}{
		{"all is counted", counting(100, 5000, 2000), run(), true},
		{"half a token", counting(100, 5000, 1999.6), run(), true},
		{"requests of others, too", counting(150, 7500, 3000), run(), true},
		{"a request is missing", counting(99, 5000, 2000), run(), false},
		{"tokens are missing", counting(100, 5000, 1980), run(), false},
		{"no counter of requests", counting(-1, -1, 2000), run(), true},
		{"nothing to compare", counting(-1, -1, -1), run(), false},
		{"tokens by another tokenizer", counting(100, 4000, 1000), tokenized(), true},
		{"only such tokens", counting(-1, 5000, 2000), tokenized(), false},
	} {
		if got := Reconcile(c.server, c.client).CaughtUp(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	border := run()
	border.InFlight = 1
	if Reconcile(counting(100, 5000, 2000), border).CaughtUp() {
		t.Error("a request of the warm-up may stand for one that is missing")
	}
	var none *Reconciliation
	if none.CaughtUp() {
		t.Error("there is nothing to compare")
	}
}

func TestPagesThatDidNotAnswerAreNamed(t *testing.T) {
	s := counting(50, 2500, 1000)
	s.Silent = 1
	if _, advice, _ := Reconcile(s, run()).Finding(); !strings.HasPrefix(advice,
		"1 of the configured pages did not answer") {
		t.Errorf("%q", advice)
	}
}

func TestCausesThatMatterLittleAreQuiet(t *testing.T) {
	cancelled := run()
	cancelled.Cancelled = 12
	if !Reconcile(counting(110, 5500, 2200), cancelled).Quiet() {
		t.Error("cancellations that were asked for are a warning")
	}
	if !Reconcile(counting(100, 5900, 2000), tokenized()).Quiet() || Reconcile(counting(150, 7500, 3000), run()).Quiet() {
		t.Error("a chat template is a warning, or other clients are none")
	}
}

// A counter that decreased has no row, whatever the number would be.
func TestTrapCountersThatWentBackAreAbsent(t *testing.T) {
	s := counting(100, 5000, 2000)
	for i := range s.Totals {
		s.Totals[i].Value, s.Totals[i].Absent = -3900, "the server's counters decreased"
	}
	r := Reconcile(s, run())
	for _, row := range r.Rows {
		if row.Status != Absent || row.Reason == "" || row.Server != 0 {
			t.Errorf("%+v", row)
		}
	}
	if want := "totals are not compared: the server's counters decreased"; r.Verdict != VerdictNotCompared ||
		r.Sentence() != want {
		t.Errorf("%s: %s", r.Verdict, r.Sentence())
	}
	if _, _, found := r.Finding(); found {
		t.Error("it is a finding")
	}
}

// llama.cpp's older counter leaves cached prompt tokens out: the client's are taken off, if it knows them.
func TestCachedPromptTokensAreTakenOff(t *testing.T) {
	s := counting(-1, 4000, 2000)
	s.Totals[0].WithoutCached = true
	r := Reconcile(s, run())
	if row := r.Row(PromptTokens); r.Verdict != VerdictAgree || row.Client != 4000 ||
		row.ClientMetric != "usage_prompt_tokens - usage_prompt_cache_read_tokens" {
		t.Errorf("%s: %+v", r.Verdict, row)
	}
	unknown := run()
	unknown.Figures[3].Absent = "the run has none"
	if r := Reconcile(s, unknown); !slices.Equal(r.Causes, []Cause{CachedPrompts}) || !r.Quiet() {
		t.Errorf("%v", r.Causes)
	}
}

func TestTimesAreComparedByTheirMeans(t *testing.T) {
	s := counting(200, 5000, 2000)
	row := Reconcile(s, run()).Row(TTFT)
	if row.Status != Informative || fmt.Sprintf("%.4f %.1f", row.PerRequest, row.Difference) != "-0.0150 -1.0" {
		t.Errorf("%+v", row)
	}
}

// Whatever the counts, a row has a status, and a cause exactly where it needs one.
func FuzzRowsHaveACause(f *testing.F) {
	f.Add(100.0, 5000.0, 2000.0, int64(0), int64(0), int64(0), false)
	f.Add(-1.0, 9000.0, -1.0, int64(3), int64(1), int64(7), true)
	f.Fuzz(func(t *testing.T, requests, prompt, generated float64, dropped, resent, cutOff int64, own bool) {
		c := run()
		if own {
			c = tokenized()
		}
		c.Dropped, c.Resent, c.CutOff = dropped&0xff, resent&0xff, cutOff&0xff
		r := Reconcile(counting(requests, prompt, generated), c)
		for _, row := range r.Rows {
			for _, v := range []float64{row.Server, row.Difference, row.PerRequest, row.Tolerance} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%+v", row)
				}
			}
			needs := row.Status == Explained || row.Status == Differs
			if row.Status == "" || needs && row.Cause == "" || (row.Status == Absent) != (row.Reason != "") {
				t.Errorf("%+v", row)
			}
		}
		if r.Sentence() == "" || r.Verdict == "" {
			t.Errorf("%+v", r)
		}
	})
}

package servermetrics

import (
	"slices"
	"strings"

	"aiperf/internal/watch/prom"
)

// counted is where a kind of server counts a quantity. Names are as exported, without the prefix.
type counted struct {
	quantity Quantity
	// names are alternatives: the first that a page has counts. Of a histogram the sum does.
	names []string
	// plus is added where a page has it.
	plus string
	// label and values pick series; no label picks all. A counter of requests may lack the label.
	label  string
	values []string
	// scale turns the value into tokens or seconds; 0 = 1.
	scale float64
	// whole: the counter takes in what came from a cache, also without plus.
	whole bool
}

// ledger is where a kind of server counts.
type ledger struct {
	kind     string
	prefixes []string
	rows     []counted
}

// ledgers are the counters of each kind of server. Where pages of several kinds are scraped the first one counts: a
// front end before its workers.
var ledgers = []ledger{
	{"Dynamo", []string{"dynamo_frontend_"}, []counted{
		{quantity: Requests, names: []string{"requests"},
			label: "status", values: []string{"success"}},
		{quantity: AbortedRequests, names: []string{"requests"},
			label: "error_type", values: []string{"cancelled"}},
		{quantity: PromptTokens, names: []string{"input_sequence_tokens"}, whole: true},
		{quantity: CachedTokens, names: []string{"cached_tokens"}},
		{quantity: GeneratedTokens, names: []string{"output_tokens", "output_sequence_tokens"}},
		{quantity: TTFT, names: []string{"time_to_first_token_seconds"}},
		{quantity: Latency, names: []string{"request_duration_seconds"}},
	}},
	{"vLLM", []string{"vllm:"}, []counted{
		{quantity: Requests, names: []string{"request_success"},
			label: "finished_reason", values: []string{"stop", "length", "repetition"}},
		{quantity: AbortedRequests, names: []string{"request_success"},
			label: "finished_reason", values: []string{"abort"}},
		{quantity: PromptTokens, names: []string{"prompt_tokens"}, whole: true},
		{quantity: CachedTokens, names: []string{"prompt_tokens_cached", "prefix_cache_hits"}},
		{quantity: GeneratedTokens, names: []string{"generation_tokens"}},
		{quantity: TTFT, names: []string{"time_to_first_token_seconds"}},
		{quantity: Latency, names: []string{"e2e_request_latency_seconds"}},
	}},
	{"SGLang", []string{"sglang:"}, []counted{
		{quantity: Requests, names: []string{"num_requests"}},
		{quantity: AbortedRequests, names: []string{"num_aborted_requests"}},
		{quantity: PromptTokens, names: []string{"prompt_tokens"}, whole: true},
		{quantity: CachedTokens, names: []string{"cached_tokens"}},
		{quantity: GeneratedTokens, names: []string{"generation_tokens"}},
		{quantity: TTFT, names: []string{"time_to_first_token_seconds"}},
		{quantity: Latency, names: []string{"e2e_request_latency_seconds"}},
	}},
	{"TensorRT-LLM", []string{"trtllm_", "trtllm:"}, []counted{
		{quantity: Requests, names: []string{"request_success", "num_requests_completed"},
			label: "finished_reason", values: []string{"stop", "length"}},
		{quantity: AbortedRequests, names: []string{"request_success"},
			label: "finished_reason", values: []string{"cancelled", "timeout"}},
		{quantity: PromptTokens, names: []string{"prompt_tokens"}, whole: true},
		{quantity: GeneratedTokens, names: []string{"generation_tokens"}},
		{quantity: TTFT, names: []string{"time_to_first_token_seconds"}},
		{quantity: Latency, names: []string{"e2e_request_latency_seconds"}},
	}},
	{"Triton", []string{"nv_"}, []counted{
		{quantity: Requests, names: []string{"inference_request_success"}},
		{quantity: AbortedRequests, names: []string{"inference_request_failure"},
			label: "reason", values: []string{"CANCELED"}},
		{quantity: TTFT, names: []string{"inference_first_response_histogram_ms"}, scale: 1e-3},
		{quantity: Latency, names: []string{"inference_request_duration_us"}, scale: 1e-6},
	}},
	{"llama.cpp", []string{"llamacpp:"}, []counted{
		{quantity: PromptTokens, names: []string{"prompt_tokens"}, plus: "prompt_tokens_cached"},
		{quantity: CachedTokens, names: []string{"prompt_tokens_cached"}},
		{quantity: GeneratedTokens, names: []string{"tokens_predicted"}},
	}},
}

// modelLabels name the model that a series is about.
var modelLabels = []string{modelLabel, "model"}

// The reasons why a total is absent.
const (
	noFirstScrape = "there was no scrape before the first request"
	noLastScrape  = "there was no scrape after the last request"
	wentBack      = "the server's counters decreased: it was restarted"
)

// Totals returns what the server counted from the last scrape before the phase to the last one after it; nil where no
// page is of a known kind. Of pages about several models the benchmarked ones count. The collection must be over.
func Totals(store *Store, phase Window, models []string) *ServerTotals {
	again := store.again()
	endpoints := slices.DeleteFunc(store.Endpoints(), func(e *EndpointStore) bool { return again[e] != nil })
	for i := range ledgers {
		ledger := &ledgers[i]
		var pages []ledgerPage
		for _, e := range endpoints {
			for _, prefix := range ledger.prefixes {
				if page := readLedger(e, prefix, ledger.rows, phase, models); page.found {
					pages = append(pages, page)
				}
			}
		}
		// A page that several servers answer in turn counts for nothing beside the pages of each.
		if slices.ContainsFunc(pages, func(p ledgerPage) bool { return !p.mixed }) {
			pages = slices.DeleteFunc(pages, func(p ledgerPage) bool { return p.mixed })
		}
		if len(pages) > 0 {
			return sumLedgers(ledger.kind, ledger.rows, pages)
		}
	}
	return nil
}

// ledgerPage is what one endpoint counted, by row; the metric of a row is "" where the page lacks it.
type ledgerPage struct {
	found        bool
	mixed        bool // several servers answered it in turn
	totals       []Total
	fromNS, toNS int64
}

// readLedger returns what an endpoint counted during a phase: for each row the first of its names that the page has, so
// that a server is read by its newest counter. Names are compared without the "_total" that exporters add or not.
func readLedger(e *EndpointStore, prefix string, rows []counted, phase Window, models []string) ledgerPage {
	families := map[string][]*Series{}
	for _, s := range e.Series() {
		name := strings.TrimSuffix(s.Family.Name, "_total") // which a family without a type keeps
		if rest, ours := strings.CutPrefix(name, prefix); ours {
			families[rest] = append(families[rest], s)
		}
	}
	r := ledgerReader{info: e.Info(), window: e.Window(phase), phase: phase}
	page := ledgerPage{totals: make([]Total, len(rows)), mixed: r.info.NoTotals != ""}
	for i := range rows {
		row := &rows[i]
		total := &page.totals[i]
		total.Quantity = row.quantity
		at := slices.IndexFunc(row.names, func(name string) bool { return families[name] != nil })
		if at < 0 {
			continue
		}
		page.found = true
		total.Metric, total.Absent = prefix+row.names[at], r.info.NoTotals
		r.add(total, row, ofModels(families[row.names[at]], models))
		if more := families[row.plus]; more != nil {
			total.Metric += " + " + prefix + row.plus
			r.add(total, row, ofModels(more, models))
		} else {
			total.WithoutCached = row.quantity == PromptTokens && !row.whole
		}
	}
	page.fromNS, page.toNS = r.fromNS, r.toNS
	return page
}

// ofModels leaves out the series of other models, where there are some of a benchmarked one.
func ofModels(series []*Series, models []string) []*Series {
	ours := slices.DeleteFunc(slices.Clone(series), func(s *Series) bool { return !isOf(s.Labels, models) })
	if len(ours) == 0 {
		return series
	}
	return ours
}

// ledgerReader reads the counters of one endpoint.
type ledgerReader struct {
	info          Info
	phase, window Window
	samples       Samples
	fromNS, toNS  int64 // of the scrapes that count
}

// add adds the growth of series to a total.
func (r *ledgerReader) add(total *Total, row *counted, series []*Series) {
	for _, s := range series {
		if row.picks(s) && total.Absent == "" {
			r.addOne(total, row, s)
		}
	}
}

// picks reports whether a series counts: the series for the total of others of its name does not.
func (c *counted) picks(s *Series) bool {
	labelled := c.label == ""
	for _, l := range s.Labels {
		if l.Name == "cache_source" && l.Value == "total" || l.Name == c.label && !slices.Contains(c.values, l.Value) {
			return false
		}
		labelled = labelled || l.Name == c.label
	}
	return labelled || c.quantity == Requests
}

// addOne adds the growth of one series over the phase. It needs a scrape before the phase and one after it, and a
// counter that never fell: a total that lacks a part is worse than none, since it is compared with the client's own.
func (r *ledgerReader) addOne(total *Total, row *counted, series *Series) {
	s := &r.samples
	series.Read(s, r.window)
	last := s.Len() - 1
	switch {
	case r.info.FirstFetchNS >= r.phase.StartNS:
		total.Absent = noFirstScrape
		return
	case r.info.LastFetchNS < r.phase.EndNS:
		total.Absent = noLastScrape
		return
	case last < 0:
		return
	case s.TimestampNS(last) < r.info.LastFetchNS:
		total.Absent = wentBack // the series is gone: its server has not counted since it was restarted
		return
	}
	value, count := s.Value, func(int) float64 { return 0 }
	if series.Family.Type == prom.Histogram {
		value, count = s.Sum, s.Count
		if resets, _ := growth(s, count); resets > 0 {
			total.Absent = wentBack
			return
		}
	} else if resets, _ := growth(s, value); resets > 0 {
		total.Absent = wentBack
		return
	}
	r.toNS = max(r.toNS, s.TimestampNS(last))
	grown, observed := value(last), count(last)
	if s.Reference { // else it is of no type, and began at 0: there was a scrape before the phase
		grown, observed = grown-value(0), observed-count(0)
		if r.fromNS == 0 || s.TimestampNS(0) < r.fromNS {
			r.fromNS = s.TimestampNS(0)
		}
	}
	if row.scale != 0 {
		grown *= row.scale
	}
	total.Value += grown
	total.Count += observed
}

// sumLedgers adds pages up. A quantity that no page counts is left out.
func sumLedgers(kind string, rows []counted, pages []ledgerPage) *ServerTotals {
	server := &ServerTotals{Kind: kind, Pages: len(pages), Alike: len(pages) > 1}
	for i := range rows {
		sum := Total{Quantity: rows[i].quantity}
		for p := range pages {
			t := &pages[p].totals[i]
			server.Alike = server.Alike && *t == pages[0].totals[i]
			if t.Metric == "" {
				continue
			}
			sum.Metric = t.Metric
			sum.Value, sum.Count = sum.Value+t.Value, sum.Count+t.Count
			sum.WithoutCached = sum.WithoutCached || t.WithoutCached
			if sum.Absent == "" {
				sum.Absent = t.Absent
			}
		}
		if sum.Absent == "" && (!Countable(sum.Value) || !Countable(sum.Count)) {
			sum.Absent = Uncountable
		}
		if sum.Absent != "" {
			sum = Total{Quantity: sum.Quantity, Metric: sum.Metric, Absent: sum.Absent}
		}
		if sum.Metric != "" {
			server.Totals = append(server.Totals, sum)
		}
	}
	for _, page := range pages {
		if page.fromNS != 0 && (server.FromNS == 0 || page.fromNS < server.FromNS) {
			server.FromNS = page.fromNS
		}
		server.ToNS = max(server.ToNS, page.toNS)
	}
	return server
}

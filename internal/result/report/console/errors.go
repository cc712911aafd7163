package console

import (
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// maxMessage is the longest message that is shown, in characters: the body of an error response may
// be a whole page. The files have all of it.
const maxMessage = 4096

// errorTable appends the kinds of errors of the run with their counts.
func (p *page) errorTable(r *summary.Result) {
	if len(r.Errors) == 0 {
		return
	}
	t := table{
		title: product + " | Error Summary", titleStyle: alert,
		columns: []column{
			{header: "Code", style: yellow},
			{header: "Type", style: yellow},
			{header: "Message", style: yellow, left: true, wraps: true},
			{header: "Count", style: yellow},
		},
	}
	kinds := r.ErrorKinds()
	for i := range kinds {
		e := &kinds[i].Error
		code, kind := cell{notAvailable, dim}, cell{notAvailable, dim}
		if e.HasCode {
			code = cell{text: strconv.Itoa(e.Code)}
		}
		if e.Type != "" {
			kind = cell{text: strings.ReplaceAll(safe(e.Type), "\n", " ")}
		}
		t.rows = append(t.rows, []cell{code, kind, {text: errorMessage(e.Message) + errorDetails(e.Details) +
			errorDetails(kinds[i].Texts())}, {text: integer(kinds[i].Count)}})
	}
	t.print(p)
	p.errorLatency(r)
}

// errorLatency appends how long failed requests took, which no latency of the tables holds.
func (p *page) errorLatency(r *summary.Result) {
	m, ok := r.Find("error_latency")
	if !ok {
		return
	}
	s := &m.Stats
	ranks := &s.Percentiles
	p.remark(fmt.Sprintf("Failed after (%s): avg %s, min %s, max %s, p99 %s, p50 %s", m.Unit,
		fixed2(s.Avg), fixed2(s.Min), fixed2(s.Max), fixed2(ranks.At(99)), fixed2(ranks.At(50))), plain)
}

// errorDetails returns the details of the first error of its kind, on a line of its own.
func errorDetails(s string) string {
	if s == "" {
		return ""
	}
	return "\n" + strings.ReplaceAll(errorMessage(s), "\n", " ")
}

func errorMessage(s string) string {
	n := 0
	for i := range s {
		if n == maxMessage {
			s = s[:i] + "…"
			break
		}
		n++
	}
	return strings.TrimSpace(safe(s))
}

// hints appends what to try against the errors of the run.
func (p *page) hints(r *summary.Result, urls []string) {
	var failures []*record.Error
	for i := range r.Errors {
		failures = append(failures, &r.Errors[i].Error)
	}
	list := hint.ForAll(failures)
	if len(list) == 0 {
		return
	}
	var body []string
	if len(urls) > 0 {
		body = append(body, "Asked: "+safe(strings.Join(urls, ", ")), "")
	}
	for _, h := range list {
		body = append(body, "  • "+h.Cause+":", "    "+h.Try+".")
	}
	p.panel("What to Try", body...)
}

// incomplete says that the figures below are not those of the whole run.
func (p *page) incomplete(r *summary.Result) {
	if r.Incomplete == "" {
		return
	}
	p.line(span{product + " | INCOMPLETE RESULTS", alert})
	for _, text := range []string{r.Incomplete, judge.PartOnly} {
		for _, line := range wrap(safe(text), p.width) {
			p.line(span{line, yellow})
		}
	}
}

// allFailed says that there is nothing but errors, and reports whether it is so.
func (p *page) allFailed(r *summary.Result) bool {
	c := &r.Counts
	if !c.AllFailed() {
		return false
	}
	text := fmt.Sprintf("All %s requests failed.", integer(c.Completed()))
	if c.Completed() == 1 {
		text = "The only request failed."
	}
	p.blank(1)
	p.remark(text+" No latency or throughput could be measured.", alert)
	return true
}

// maxTokensInsight explains the rejection of max_completion_tokens by servers that only know
// max_tokens.
func (p *page) maxTokensInsight(r *summary.Result) {
	for i := range r.Errors {
		message := r.Errors[i].Error.Message
		if !strings.Contains(message, "extra_forbidden") || !strings.Contains(message, "max_completion_tokens") ||
			!strings.Contains(message, "Extra inputs are not permitted") {
			continue
		}
		p.panel("Unsupported Parameter: max_completion_tokens",
			"The server refused the field max_completion_tokens, which limits the length of the output.",
			"",
			"Possible Causes:",
			"  • The server follows an older form of the API that only knows max_tokens.",
			"  • The server validates request bodies strictly and refuses every field it does not know.",
			"",
			"Investigation Steps:",
			"  1. Look up in the server's documentation which output limit its chat API accepts.",
			"  2. Send one request by hand with max_tokens in place of max_completion_tokens.",
			"",
			"Suggested Fixes:",
			"  • Leave the limit out: drop --output-tokens-mean.",
			`  • Send the older field: --extra-inputs "max_tokens:<value>".`,
			"  • Use the older field in every request: --use-legacy-max-tokens.",
		)
		return
	}
}

package servermetrics

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
)

// Sentence returns in one line what the server counted, without a subject: "counted 4,000 of 4,000 requests; …", or
// "totals are not compared: …".
func (r *Reconciliation) Sentence() string {
	var parts []string
	said := map[string]bool{}
	why := func(row *Row) string {
		text := because(row)
		if said[text] {
			return ""
		}
		said[text] = true
		return text
	}
	if row := r.Row(Requests); row.Status != Absent {
		text := reconcileCounted + whole(row.Server) + " of " + whole(row.Client) + " requests"
		if row.Difference > 0 {
			text = reconcileCounted + whole(row.Server) + " requests, this client " + whole(row.Client)
		}
		parts = append(parts, text+why(row))
	}
	var agreeing, others []string
	for _, of := range []struct {
		quantity Quantity
		name     string
	}{{PromptTokens, "prompt"}, {GeneratedTokens, "generated"}} {
		row := r.Row(of.quantity)
		switch {
		case row.Status == Absent:
		case row.Cause == Truncated:
			others = append(others, of.name+" tokens "+signed(r.cut(row))+" a request under this client's count: "+
				Truncated.Words())
		case row.Status == Agrees && math.Abs(row.Difference) < 0.5:
			agreeing = append(agreeing, of.name)
			if more := r.template(row); more != 0 {
				text := of.name + " tokens " + signed(more) + " a request over this client's count: "
				others = append(others, text+r.addition().Words())
			}
		case row.Cause != "" && r.Row(Requests).Cause == row.Cause && row.Client > 0: // said there
			others = append(others, of.name+" tokens "+signed(100*row.Difference/row.Client)+" %")
		default:
			others = append(others, of.name+" tokens "+signed(row.PerRequest)+" a request"+why(row))
		}
	}
	tokens := strings.Join(agreeing, " and ") + " tokens"
	switch {
	case len(agreeing) > 0 && len(parts) > 0:
		parts = append(parts, tokens+" agree")
	case len(agreeing) > 0:
		parts = append(parts, reconcileCounted+"the "+tokens+" of this run")
	case len(parts) == 0 && len(others) > 0:
		others[0] = reconcileCounted + others[0]
	}
	if parts = append(parts, others...); len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	return "totals are not compared: " + r.notCompared()
}

// reconcileCounted begins the sentence.
const reconcileCounted = "counted "

// Summary returns the sentence with its subject.
func (r *Reconciliation) Summary() string {
	text := r.Sentence()
	if strings.HasPrefix(text, reconcileCounted) {
		return "the server " + text
	}
	return "the server's " + text
}

// template returns by how many tokens a request is longer for the server than for the client's tokenizer.
func (r *Reconciliation) template(row *Row) float64 {
	if row.Quantity != PromptTokens || row.Own == 0 || row.Own >= row.Client || r.Client.Succeeded == 0 {
		return 0
	}
	return (row.Client - row.Own) / float64(r.Client.Succeeded)
}

// cut returns by how many tokens a request is shorter for the server than for the client's tokenizer, below 0.
func (r *Reconciliation) cut(row *Row) float64 {
	if row.Tokenized || r.Client.Succeeded == 0 {
		return row.PerRequest
	}
	return (row.Client - row.Own) / float64(r.Client.Succeeded)
}

// notCompared returns why no row that is judged has two counts: the first reason that is more than a missing counter.
func (r *Reconciliation) notCompared() string {
	for _, q := range []Quantity{Requests, PromptTokens, GeneratedTokens} {
		if t := r.total(q); t != nil && t.Absent != "" {
			return t.Absent
		}
	}
	return r.Row(Requests).Reason
}

// because returns why the counts of a row are not the same.
func because(row *Row) string {
	switch {
	case row.Cause != "":
		return ": " + row.Cause.Words()
	case math.Abs(row.Difference) >= 0.5:
		return ": in flight at the borders of the window"
	}
	return ""
}

// whole returns a count.
func whole(v float64) string {
	return artifact.GroupThousands(strconv.FormatFloat(math.Round(v), 'f', 0, 64))
}

// signed returns a difference with its sign and at most one decimal.
func signed(v float64) string {
	text := strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64)
	if v > 0 {
		text = "+" + text
	}
	return text
}

// Line returns the comparison for the report, where it is not a finding.
func (r *Reconciliation) Line() string { return "Server: " + r.Sentence() }

// Finding returns what the reader of the figures should know; false where both sides agree, or nothing was compared.
func (r *Reconciliation) Finding() (message, advice string, found bool) {
	if len(r.Causes) == 0 {
		return "", "", false
	}
	advice = r.Causes[0].Advice()
	if n := r.Server.Silent; n > 0 && r.Causes[0] == Replicas {
		advice = strconv.Itoa(n) + " of the configured pages did not answer: see the log; " + advice
	}
	return r.Summary(), advice, true
}

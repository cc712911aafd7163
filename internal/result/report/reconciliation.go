package report

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/servermetrics"
)

// reconciliation is the comparison of the run's totals with the server's.
func reconciliation(r *servermetrics.Reconciliation) artifact.Object {
	o := artifact.Object{{Key: "verdict", Value: r.Verdict}, {Key: "summary", Value: r.Summary()}}
	if len(r.Causes) > 0 {
		causes := make([]any, len(r.Causes))
		for i, c := range r.Causes {
			causes[i] = artifact.Object{
				{Key: "code", Value: string(c)}, {Key: "message", Value: c.Words()}, {Key: "advice", Value: c.Advice()},
			}
		}
		o = append(o, artifact.Member{Key: "causes", Value: causes})
	}
	server := artifact.Object{{Key: "kind", Value: r.Server.Kind}, {Key: "pages", Value: r.Pages}}
	if r.Pages != r.Server.Pages {
		server = append(server, artifact.Member{Key: "pages_alike", Value: r.Server.Pages})
	}
	server = appendCount(server, "pages_missing", int64(r.Server.Silent))
	server = appendCount(server, "first_scrape_ns", r.Server.FromNS)
	server = appendCount(server, "last_scrape_ns", r.Server.ToNS)
	c := &r.Client
	client := artifact.Object{{Key: "requests_succeeded", Value: c.Succeeded}}
	for _, of := range []struct {
		key string
		n   int64
	}{
		{"requests_given_up", c.Dropped}, {"requests_cancelled", c.Cancelled},
		{"requests_failed", c.Failed}, {"requests_cut_off", c.CutOff},
		{"requests_resent", c.Resent}, {"warmup_in_flight", c.InFlight}, {"warmup_requests", c.WarmUp},
	} {
		client = appendCount(client, of.key, of.n)
	}
	rows := make([]any, len(r.Rows))
	for i := range r.Rows {
		rows[i] = reconciliationRow(&r.Rows[i])
	}
	return append(o, artifact.Member{Key: "server", Value: server}, artifact.Member{Key: "client", Value: client},
		artifact.Member{Key: "rows", Value: rows})
}

// appendCount appends a number that is not 0.
func appendCount(o artifact.Object, key string, n int64) artifact.Object {
	if n == 0 {
		return o
	}
	return append(o, artifact.Member{Key: key, Value: n})
}

// prefixCache is how much of the prompts came from the server's prefix cache.
func prefixCache(c *servermetrics.Cached) artifact.Object {
	o := artifact.Object{{Key: "share", Value: c.Share}, {Key: "server_metric", Value: c.Metric}}
	if c.Repeats >= 0 {
		o = append(o, artifact.Member{Key: "repeats_share", Value: c.Repeats})
	}
	return o
}

func reconciliationRow(row *servermetrics.Row) artifact.Object {
	o := artifact.Object{
		{Key: "quantity", Value: string(row.Quantity)}, {Key: "unit", Value: row.Unit},
		{Key: "status", Value: string(row.Status)},
	}
	if row.Status == servermetrics.Absent {
		o = append(o, artifact.Member{Key: "reason", Value: row.Reason})
		if row.ServerMetric != "" {
			o = append(o, artifact.Member{Key: "server", Value: row.Server},
				artifact.Member{Key: "server_metric", Value: row.ServerMetric})
		}
		return o
	}
	o = append(o,
		artifact.Member{Key: "client", Value: row.Client}, artifact.Member{Key: "server", Value: row.Server},
		artifact.Member{Key: "client_metric", Value: row.ClientMetric},
		artifact.Member{Key: "server_metric", Value: row.ServerMetric},
		artifact.Member{Key: "difference", Value: row.Difference},
		artifact.Member{Key: "per_request", Value: row.PerRequest},
	)
	for _, of := range []struct {
		key   string
		value float64
	}{{"tolerance", row.Tolerance}, {"client_tokenizer", row.Own}} {
		if of.value != 0 {
			o = append(o, artifact.Member{Key: of.key, Value: of.value})
		}
	}
	if row.Cause != "" {
		o = append(o, artifact.Member{Key: "cause", Value: string(row.Cause)})
	}
	return o
}

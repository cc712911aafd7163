package report

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

// reconciliation is the comparison of the run's totals with the server's.
func reconciliation(r *servermetrics.Reconciliation) *summary.ReconciliationDocument {
	s, c := &r.Server, &r.Client
	d := &summary.ReconciliationDocument{
		Verdict: r.Verdict, Summary: r.Summary(),
		Server: summary.ReconciledServer{Kind: s.Kind, Pages: r.Pages, Missing: s.Silent, FromNS: s.FromNS, ToNS: s.ToNS},
		Client: summary.ReconciledClient{Succeeded: c.Succeeded, GivenUp: c.Dropped, Cancelled: c.Cancelled,
			Failed: c.Failed, CutOff: c.CutOff, Resent: c.Resent, InFlight: c.InFlight, WarmUp: c.WarmUp},
	}
	if r.Pages != s.Pages {
		d.Server.Alike = &s.Pages
	}
	for _, of := range r.Causes {
		d.Causes = append(d.Causes, summary.CauseDocument{Code: of, Message: of.Words(), Advice: of.Advice()})
	}
	for i := range r.Rows {
		d.Rows = append(d.Rows, reconciliationRow(&r.Rows[i]))
	}
	return d
}

// prefixCache is how much of the prompts came from the server's prefix cache.
func prefixCache(c *servermetrics.Cached) *summary.PrefixCacheDocument {
	d := &summary.PrefixCacheDocument{Share: artifact.Known(c.Share), Metric: c.Metric}
	if c.Repeats >= 0 {
		d.Repeats = artifact.Known(c.Repeats)
	}
	return d
}

func reconciliationRow(row *servermetrics.Row) summary.ReconciliationRowDocument {
	d := summary.ReconciliationRowDocument{Quantity: row.Quantity, Unit: row.Unit, Status: row.Status}
	if row.Status == servermetrics.Absent {
		d.Reason = &row.Reason
		if row.ServerMetric != "" {
			d.Server, d.ServerMetric = artifact.Known(row.Server), &row.ServerMetric
		}
		return d
	}
	d.Client, d.Server = artifact.Known(row.Client), artifact.Known(row.Server)
	d.ClientMetric, d.ServerMetric = &row.ClientMetric, &row.ServerMetric
	d.Difference, d.PerRequest = artifact.Known(row.Difference), artifact.Known(row.PerRequest)
	d.Tolerance, d.Own, d.Cause = row.Tolerance, row.Own, row.Cause
	return d
}

package export

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// LegacyJSON writes server_metrics_export_legacy.json, the flat layout that was before schema 1.0.
type LegacyJSON struct {
	Path string
	Run  *Collection
}

// Name implements Exporter.
func (LegacyJSON) Name() string { return "Server Metrics Legacy JSON Export" }

// Target implements Exporter.
func (j LegacyJSON) Target() string { return j.Path }

// Export implements Exporter.
func (j LegacyJSON) Export(ctx context.Context) error {
	if j.Run.empty() {
		return nil
	}
	return artifact.WriteStream(j.Path, func(w *bufio.Writer) error { return j.Write(ctx, w) })
}

// Write writes the file to w.
func (j LegacyJSON) Write(ctx context.Context, w io.Writer) error {
	r := j.Run
	d := &document{ctx: ctx, w: w}
	d.open('{')
	d.key("summary")
	d.open('{')
	d.texts("endpoints_configured", shortEndpoints(r.Info.Configured))
	d.texts("endpoints_successful", shortEndpoints(r.Info.Successful))
	d.phase(&r.Info)
	d.key("endpoint_info")
	d.open('{')
	for _, e := range byURL(r.Store) {
		d.key(shortEndpoint(e.URL()))
		d.open('{')
		d.text("endpoint_url", e.URL())
		d.values(e.LegacyInfo())
		d.close('}')
	}
	d.close('}')
	d.close('}')
	d.key("metrics")
	d.open('{')
	for _, f := range legacyFamilies(r.Results) {
		info := isInfo(&f.Family)
		d.key(f.Name)
		d.open('{')
		d.text("type", f.Type.String())
		d.text("description", f.Help)
		if unit := legacyUnit(&f.Family, info); unit != "" {
			d.text("unit", unit)
		}
		d.key("series")
		d.open('[')
		for k := range f.Series {
			s := &f.Series[k]
			d.item()
			d.open('{')
			d.text("endpoint", shortEndpoint(s.EndpointURL))
			d.text("endpoint_url", s.EndpointURL)
			d.labels(s.Labels)
			if !info {
				d.values(s.Legacy())
			}
			d.close('}')
		}
		d.close(']')
		d.close('}')
	}
	d.close('}')
	d.close('}')
	return d.finish()
}

// legacyFamilies returns all families by name, summaries among them.
func legacyFamilies(r *servermetrics.Results) []*servermetrics.FamilyStats {
	var list []*servermetrics.FamilyStats
	for _, families := range [][]servermetrics.FamilyStats{r.Families, r.Summaries} {
		for i := range families {
			list = append(list, &families[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *servermetrics.FamilyStats) int { return strings.Compare(a.Name, b.Name) })
	// a key stands once
	return slices.CompactFunc(list, func(a, b *servermetrics.FamilyStats) bool { return a.Name == b.Name })
}

func legacyUnit(f *prom.Family, info bool) string {
	if info {
		return "info"
	}
	return prom.InferUnit(f.Name, f.Help)
}

func shortEndpoints(urls []string) []string {
	short := make([]string, len(urls))
	for i, url := range urls {
		short[i] = shortEndpoint(url)
	}
	return short
}

package export

import (
	"bufio"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// phaseVersion is the version of the layout of the metrics of one phase.
const phaseVersion = 1

// PhaseMetrics is what the servers said in one phase of a run.
type PhaseMetrics struct {
	servermetrics.PhaseID
	// Object says which phase it is and when it ran.
	Object artifact.Object
	// Window is the phase up to the scrape at its end.
	Window  servermetrics.Window
	Results *servermetrics.Results
	// Errors are the scrapes that failed in the phase: objects of the error and its count.
	Errors []any
}

// WritePhase writes the server metrics of a phase, the members of all objects in the order of their keys.
func WritePhase(ctx context.Context, path string, r *Collection, p *PhaseMetrics) error {
	return artifact.WriteStream(path, func(w *bufio.Writer) error {
		d := &document{ctx: ctx, w: w, byKey: true}
		d.open('{')
		d.key("data")
		d.phaseData(r, p)
		d.value("phase", p.Object.Sorted())
		d.integer("schema_version", phaseVersion)
		d.texts("warnings", p.Results.Warnings)
		d.close('}')
		return d.finish()
	})
}

// phaseData writes the document of one phase. Its members stand in alphabetical order, as the original sorts them. The
// span is that of the scrapes that belong to the phase, not of the phase.
func (d *document) phaseData(r *Collection, p *PhaseMetrics) {
	endpoints := byURL(r.Store)
	infos := map[string]servermetrics.Info{}
	var span servermetrics.Window
	for _, e := range endpoints {
		i := e.InfoWithin(p.Window)
		if i.TotalFetches == 0 {
			continue
		}
		infos[e.URL()] = i
		span.StartNS = min(cmp.Or(span.StartNS, i.FirstFetchNS), i.FirstFetchNS)
		span.EndNS = max(span.EndNS, i.LastFetchNS)
	}
	d.open('{')
	if r.Info.BenchmarkID != "" {
		d.text("benchmark_id", r.Info.BenchmarkID)
	}
	d.integer("end_ns", span.EndNS)
	d.key("endpoint_summaries")
	d.open('{')
	urls := slices.Collect(maps.Keys(infos))
	names := summaryNames(urls)
	slices.SortFunc(urls, func(a, b string) int { return strings.Compare(names[a], names[b]) })
	for _, url := range urls {
		d.key(names[url])
		d.open('{')
		d.text("endpoint_url", url)
		d.key("info")
		d.object()
		d.endpointInfo(infos[url])
		d.end()
		d.key("metrics")
		d.open('{')
		for i := range p.Results.Families {
			d.familyOf(&p.Results.Families[i], url)
		}
		d.close('}')
		d.close('}')
	}
	d.close('}')
	d.texts("endpoints_configured", r.Info.Configured)
	d.texts("endpoints_successful", r.Info.Successful)
	d.value("error_summary", artifact.Sorted(append([]any{}, p.Errors...)))
	d.text("phase", p.Kind)
	d.integer("phase_index", int64(p.Index))
	d.text("phase_kind", p.Kind)
	d.text("phase_name", p.Name)
	d.value("phase_results", []any{})
	if p.Profiling >= 0 {
		d.integer("profiling_index", int64(p.Profiling))
	}
	d.integer("start_ns", span.StartNS)
	d.close('}')
}

// summaryNames are the names of endpoints as tables show them, or the whole URLs where these are the same.
func summaryNames(urls []string) map[string]string {
	count := map[string]int{}
	for _, url := range urls {
		count[prom.Display(url)]++
	}
	names := map[string]string{}
	for _, url := range urls {
		names[url] = prom.Display(url)
		if count[names[url]] > 1 {
			names[url] = url
		}
	}
	return names
}

// familyOf writes the series of one endpoint; a family without one there is left out.
func (d *document) familyOf(f *servermetrics.FamilyStats, url string) {
	begun := false
	for i := range f.Series {
		s := &f.Series[i]
		if s.EndpointURL != url {
			continue
		}
		if !begun {
			begun = true
			d.key(f.Name)
			d.open('{')
			d.text("description", f.Help)
			d.key("series")
			d.open('[')
		}
		d.item()
		d.object()
		d.series(s, f.Type)
		d.end()
	}
	if begun {
		d.close(']')
		d.text("type", f.Type.String())
		d.close('}')
	}
}

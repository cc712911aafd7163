// Package console renders the final report of a run as lines of text: warnings, error table, metric
// tables and footer.
//
// A report is a function of the result and of Options: it is rendered once for the terminal, with
// styles, and once as plain text for profile_export_console.txt. Widths are display columns, so that
// wide characters keep the boxes straight. Numbers are never cut; texts wrap.
package console

import (
	"cmp"
	"context"
	"io"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

// The widths of a report.
const (
	// DefaultWidth is the width where there is no terminal.
	DefaultWidth = 140
	// MinTerminalWidth is what a narrower terminal is treated as, UnknownWidth that of a terminal that does not tell.
	MinTerminalWidth = 20
	UnknownWidth     = 80
)

// Width is the width of a report: a terminal's own; elsewhere the given export width, or DefaultWidth when that is 0.
func Width(terminal bool, columns, export int) int {
	if terminal {
		return max(cmp.Or(columns, UnknownWidth), MinTerminalWidth)
	}
	if export > 0 {
		return export
	}
	return DefaultWidth
}

// Options configure a report.
type Options struct {
	// Width in columns; 0 is DefaultWidth.
	Width int
	// Styles asks for colours and other escape sequences.
	Styles bool
	// Screen fits tables to a terminal: columns without any value are left out, and tables that are too wide are
	// written as a block for each row.
	Screen bool
	// ASCII draws plots without braille patterns and other characters that a terminal may lack.
	ASCII bool
	// Groups are the metric groups that are printed; nil means DefaultGroups.
	Groups []metrics.Group
	// ShowTrace asks for the HTTP trace table.
	ShowTrace  bool
	Thresholds Thresholds
	// ServerMetrics are the key figures of the servers; none when the run does not show them.
	ServerMetrics []servermetrics.Highlight
	// Speculation is what the servers said of speculative decoding.
	Speculation []servermetrics.Speculation
	// GPU is nil when the run does not show GPUs.
	GPU *GPU
	// Notes are lines between the tables and the footer.
	Notes []string
	// URLs are what was asked, without secrets; errors name them.
	URLs []string
	// Searches are what phases found that searched their load.
	Searches []summary.Search
	Files    Files
	// Dir is the folder of the files, which the short report names.
	Dir string
	// Earlier says what became of the results of earlier runs; "" where there were none.
	Earlier string
	// Whole reports that the replies of a sweep's runs came whole though they could have been streamed.
	Whole bool
	// Part leaves out of the short report what the report of a series says at its end.
	Part bool
	// More are the last lines of the short report.
	More []Fact
}

// Thresholds are the limits that the warning panels quote.
type Thresholds struct {
	// UsagePercent is the difference between server and client token counts that is tolerated.
	UsagePercent float64
	// OSLPercent and OSLTokens bound the tolerated difference between asked and received output.
	OSLPercent float64
	OSLTokens  int64
}

// DefaultGroups are the groups printed unless the user names others: all of them, the headline figures first.
func DefaultGroups() []metrics.Group {
	return []metrics.Group{
		metrics.GroupDefault, metrics.GroupEffective, metrics.GroupActive, metrics.GroupUsage, metrics.GroupCache,
		metrics.GroupPrediction, metrics.GroupAudio, metrics.GroupReasoning,
	}
}

// Files are the paths of the footer; an empty one has no line.
type Files struct {
	CSV, JSON, HTML                      string
	Parquet, Raw, Outputs                string
	ServerMetricsCSV, ServerMetricsJSON  string
	TimesliceCSV, TimesliceJSON, LogFile string
	// Text is the report itself as a file, which only the short report names.
	Text string
}

// Render writes the report.
func Render(w io.Writer, r *summary.Result, o Options) error {
	_, err := w.Write(render(r, o).bytes(o.Styles))
	return err
}

// Export writes the plain text of the report to a file.
type Export struct {
	Path    string
	Options Options
}

// Name implements report.Exporter.
func (Export) Name() string { return "console report" }

// Export implements report.Exporter.
func (e Export) Export(_ context.Context, r *summary.Result) error {
	return artifact.WriteFile(e.Path, render(r, e.Options).bytes(false))
}

// render renders the sections in their fixed order.
func render(r *summary.Result, o Options) *page {
	if o.Groups == nil {
		o.Groups = DefaultGroups()
	}
	p := newPage(&o)
	p.incomplete(r)
	p.maxTokensInsight(r)
	p.errorTable(r)
	p.hints(r, o.URLs)
	if p.allFailed(r) {
		o.Groups = []metrics.Group{} // whose figures would be zeros
	}
	p.flaggedTable(r, metrics.Experimental, product+" | Experimental Metrics")
	if o.ShowTrace {
		p.traceTable(r)
	}
	p.flaggedTable(r, metrics.Internal, product+" | Internal Metrics")
	p.metricTables(r, o.Groups)
	p.accuracyTable(r.Accuracy)
	p.twinTable(r)
	p.phaseTable(r)
	p.searches(o.Searches)
	p.jobTable(r)
	p.specDecodeTable(r)
	p.gpuPlatform(o.GPU)
	p.efficiencyTables(r, o.GPU)
	p.speculationTable(o.Speculation)
	p.gpuTables(o.GPU)
	p.serverMetricsTable(o.ServerMetrics)
	p.usageWarning(r, o.Thresholds)
	p.outputLengthWarning(r, o.Thresholds)
	p.notes(o.Notes)
	p.footer(r, &o.Files)
	return p
}

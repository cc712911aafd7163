// Package files writes the files of a result: those of a run that has just ended, and those that aiperf report computes
// again. Both go through [Write], so that the same result and state give the same bytes.
//
// It decides which files there are, and which ones the footer of the console's report names. It must never know whether
// the result comes from a live run or from recordings. Its tests are in package recompute, beside those of the whole
// way from recordings to files.
package files

import (
	"context"
	"errors"
	"os"

	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/report"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/report/html"
	"aiperf/internal/result/summary"
)

// Options say where the files go, and which files are written in addition to those of every result.
type Options struct {
	// From is the folder of the run, with its recordings and the files that are not written again; To is where the
	// files go, which may be the same.
	From, To config.Artifacts
	// Outputs makes the file of the generated texts from its spool, if there is one; nil leaves the file as it is.
	Outputs *report.OutputsJSON
	// Parquet asks for the records as Parquet.
	Parquet bool
	// Page asks for the HTML report. It holds what was collected alongside the requests; Write adds what the state has.
	Page *html.Run
	// Width is that of the console's report in its file; 0 is the default.
	Width int
}

// Write writes the files, and returns how the console shows the result. One that cannot be written does not stop the
// others: the error joins all failures.
func Write(ctx context.Context, r *summary.Result, s *summary.State, o Options) (console.Options, error) {
	exporters := []report.Exporter{
		report.SummaryCSV{Path: o.To.Path(config.SummaryCSV)},
		report.TimeslicesJSON{Path: o.To.Path(config.TimeslicesJSON)},
		report.TimeslicesCSV{Path: o.To.Path(config.TimeslicesCSV)},
		report.AccuracyCSV{Path: o.To.Path(config.AccuracyCSV)},
	}
	outputs := o.From
	if o.Outputs != nil {
		exporters = append(exporters, *o.Outputs)
		if exists(o.Outputs.Spool) {
			outputs = o.To
		}
	}
	if o.Parquet {
		exporters = append(exporters, report.RecordsParquet{Lines: o.From.Path(config.RecordsJSONL),
			Path: o.To.Path(config.RecordsParquet)})
	}
	if o.Page != nil {
		exporters = append(exporters, html.Export{Path: o.To.Path(config.HTMLReport), Run: pageOf(r, s, o.From, *o.Page)})
	}
	tables := report.ExportAll(ctx, r, exporters...)
	shown := consoleOptions(s)
	shown.Files = o.footer(outputs, len(r.Slices) > 0)
	plain := shown
	plain.Width = console.Width(false, 0, o.Width)
	text := report.ExportAll(ctx, r, console.Export{Path: o.To.Path(config.ConsoleText), Options: plain})
	if text == nil {
		shown.Files.Text = o.To.Path(config.ConsoleText)
	}
	var whole error
	if !o.To.NoSummaryJSON { // the last one: whoever finds it takes the run for complete
		whole = report.ExportAll(ctx, r, report.SummaryJSON{Path: o.To.Path(config.SummaryJSON)})
		if whole != nil {
			shown.Files.JSON = ""
		}
	}
	return shown, errors.Join(tables, text, whole)
}

// Page returns the HTML report, of which run holds what was collected alongside the requests, and writes nothing. From is
// the folder of the run.
func Page(r *summary.Result, s *summary.State, from config.Artifacts, run html.Run) ([]byte, error) {
	run = pageOf(r, s, from, run)
	return html.Render(r, &run)
}

// shownAnswers is how many wrong answers, and how many problems with different answers, the page shows.
const shownAnswers = 50

// pageOf adds what the state and the graded answers have to what the page shows.
func pageOf(r *summary.Result, s *summary.State, from config.Artifacts, page html.Run) html.Run {
	if r.Accuracy != nil {
		// Without a readable file the page shows the counts alone.
		page.Answers, _ = summary.ReadNotable(from.Path(config.AccuracyJSONL), shownAnswers)
	}
	figures := summary.FiguresOf(r)
	page.Phases, page.Looks, page.ServerFigures = s.Phases, s.Looks, s.Console.ServerMetrics
	page.Thresholds = compare.Judge(s.FailIf, s.Config.Percentiles, &figures)
	return page
}

// consoleOptions returns how the console shows a result, without the files.
func consoleOptions(s *summary.State) console.Options {
	c := &s.Console
	o := console.Options{
		ShowTrace: c.ShowTrace, Notes: c.Notes, URLs: c.URLs,
		ServerMetrics: c.ServerMetrics, Speculation: c.Speculation, Searches: c.Searches,
		Thresholds: console.Thresholds{UsagePercent: s.Config.UsageDiffPercent, OSLPercent: s.Config.OSLMismatchPercent,
			OSLTokens: s.Config.OSLMismatchTokens},
	}
	for _, g := range c.Groups {
		o.Groups = append(o.Groups, metrics.Group(g))
	}
	if g := s.GPU; g != nil && g.Telemetry != nil && g.Shown {
		o.GPU = &console.GPU{Telemetry: g.Telemetry}
	}
	return o
}

// footer returns the paths of the files that exist: those that were written, and those of the run that are never
// written again. Outputs is where the file of the generated texts is.
func (o *Options) footer(outputs config.Artifacts, sliced bool) console.Files {
	var f console.Files
	name := func(path *string, in config.Artifacts, kind config.Artifact) {
		if file := in.Path(kind); exists(file) {
			*path = file
		}
	}
	name(&f.CSV, o.To, config.SummaryCSV)
	if f.JSON = o.To.Path(config.SummaryJSON); o.To.NoSummaryJSON && !exists(f.JSON) { // otherwise it is about to be written
		f.JSON = ""
	}
	if o.Page != nil {
		name(&f.HTML, o.To, config.HTMLReport)
	}
	if o.Parquet {
		name(&f.Parquet, o.To, config.RecordsParquet)
	}
	if sliced {
		name(&f.TimesliceCSV, o.To, config.TimeslicesCSV)
		name(&f.TimesliceJSON, o.To, config.TimeslicesJSON)
	}
	name(&f.Outputs, outputs, config.OutputsJSON)
	name(&f.Raw, o.From, config.RawJSONL)
	name(&f.ServerMetricsCSV, o.From, config.ServerMetricsCSV)
	name(&f.ServerMetricsJSON, o.From, config.ServerMetricsJSON)
	name(&f.LogFile, o.From, config.LogFile)
	return f
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

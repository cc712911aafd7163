// Package html writes reports as one HTML file. That of a run has figures with their confidence bounds, distributions,
// time lines of the requests, the servers, the GPUs and the client itself on one axis, errors, configuration,
// provenance. That of a sweep or a search has the answer, curves of figures over the parameters with their confidence
// intervals, the Pareto front, and all cells with links to their own pages.
//
// Invariants: the file contains its scripts, styles and data, and its content security policy forbids every request.
// What is not known is left out. All texts of a run are escaped, by the template or as JSON. The size does not depend
// on the number of requests: charts show bins and distributions (package timeline). The package never reads the files
// of a run.
package html

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"io"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/webpage"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

//go:embed assets/split.css assets/run.html assets/run.css assets/run.js
//go:embed assets/sweep.html assets/sweep.css assets/sweep.js
//go:embed assets/comparison.html assets/comparison.css assets/comparison.js
var assets embed.FS

// Run is what the report shows in addition to the result.
type Run struct {
	Phases []summary.PhaseState
	// Requests are those that the result counts.
	Requests *timeline.Recorder
	// Servers and GPUs are the curves that were collected of them. Looks are the observations of the client, at wall
	// clock times.
	Servers, GPUs []timeline.Curve
	Looks         []trust.Interval
	ServerFigures []servermetrics.Highlight
	// Answers are the graded answers to show; nil where there are none.
	Answers *summary.Notable
	// Thresholds are the conditions of --fail-if.
	Thresholds []compare.Judgement
}

// Export writes the report to a file.
type Export struct {
	Path string
	Run  Run
}

// Name implements report.Exporter.
func (Export) Name() string { return "HTML report" }

// Export implements report.Exporter.
func (e Export) Export(_ context.Context, r *summary.Result) error {
	text, err := Render(r, &e.Run)
	if err != nil {
		return err
	}
	return artifact.WriteFile(e.Path, text)
}

// Render returns the page.
func Render(r *summary.Result, run *Run) ([]byte, error) {
	d := newData(r, run)
	v, err := newView(r, run, d)
	if err != nil {
		return nil, err
	}
	c := webpage.Content{Parts: webpage.Charts, Script: asset("run.js"), Data: d, Style: asset("split.css") + asset("run.css")}
	var out bytes.Buffer
	err = execute(&out, "run.html", &v.Frame, c, v)
	return out.Bytes(), err
}

// execute writes a page of a template. The view has the frame, whose title, version and facts are set.
func execute(w io.Writer, name string, f *webpage.Frame, c webpage.Content, view any) error {
	if err := f.Contain(c); err != nil {
		return err
	}
	f.Skip, f.Class = "figures", "report"
	return webpage.Execute(w, assets, "assets/"+name, functions, view)
}

// functions are the functions of the template.
var functions = template.FuncMap{"short": short}

func asset(name string) string { return webpage.Text(assets, "assets/"+name) }

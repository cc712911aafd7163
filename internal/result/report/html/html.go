// Package html writes the report of a run as one HTML file: figures with their confidence bounds, distributions, time
// lines of the requests, the servers, the GPUs and the client itself on one axis, errors, configuration, provenance.
//
// Invariants: the file contains its scripts, styles and data, and its content security policy forbids every request.
// What is not known is left out. All texts of a run are escaped, by the template or as JSON. The size does not depend
// on the number of requests: charts show bins and distributions (package timeline). The package never reads the files
// of a run.
package html

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

//go:generate bash assets/fetch.sh

//go:embed assets/page.html assets/page.css assets/page.js
//go:embed assets/uPlot.iife.min.js assets/uPlot.min.css assets/uPlot.LICENSE
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
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	v, err := newView(r, run, d)
	if err != nil {
		return nil, err
	}
	style := asset("uPlot.min.css") + asset("page.css")
	library, script := asset("uPlot.iife.min.js"), asset("page.js")
	// Both kinds of content are ours, or JSON in which no character can end the element.
	v.Style, v.Library, v.Script = template.CSS(style), template.JS(library), template.JS(script)
	v.Data = template.JS(data)
	v.Policy = "default-src 'none'; style-src " + source(style) + "; script-src " + source(library) + " " +
		source(script) +
		"; base-uri 'none'; form-action 'none'"
	v.License = asset("uPlot.LICENSE")
	page, err := template.New("page.html").Funcs(functions).ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = page.Execute(&out, v)
	return out.Bytes(), err
}

// functions are the functions of the template.
var functions = template.FuncMap{
	"short": short,
	"minor": minor,
	"dict": func(pairs ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1]
		}
		return out
	},
}

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// source returns the source expression of the policy for an element: the hash of its content.
func source(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

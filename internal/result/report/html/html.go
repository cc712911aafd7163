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
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

//go:generate bash assets/fetch.sh

//go:embed assets/page.html assets/page.css assets/page.js assets/common.js assets/parts.html
//go:embed assets/sweep.html assets/sweep.css assets/sweep.js
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
	v, err := newView(r, run, d)
	if err != nil {
		return nil, err
	}
	if v.frame, err = newFrame(d, asset("page.js")); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = execute(&out, "page.html", v)
	return out.Bytes(), err
}

// frame is what makes a page self-contained.
type frame struct {
	Policy                string
	Style                 template.CSS
	Library, Script, Data template.JS
	License               string
}

// newFrame returns the frame of a page with its data and its own script.
func newFrame(of any, script string, styles ...string) (frame, error) {
	data, err := json.Marshal(of)
	if err != nil {
		return frame{}, err
	}
	style := asset("uPlot.min.css") + asset("page.css") + strings.Join(styles, "")
	library := asset("uPlot.iife.min.js")
	script = "\"use strict\";\n(() => {\n" + asset("common.js") + script + "})();\n"
	// Both kinds of content are ours, or JSON in which no character can end the element.
	return frame{
		Style: template.CSS(style), Library: template.JS(library), Script: template.JS(script), Data: template.JS(data),
		Policy: "default-src 'none'; style-src " + source(style) + "; script-src " + source(library) + " " +
			source(script) + "; base-uri 'none'; form-action 'none'",
		License: asset("uPlot.LICENSE"),
	}, nil
}

// execute writes a page.
func execute(w io.Writer, name string, view any) error {
	page, err := template.New(name).Funcs(functions).ParseFS(assets, "assets/"+name, "assets/parts.html")
	if err != nil {
		return err
	}
	return page.Execute(w, view)
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

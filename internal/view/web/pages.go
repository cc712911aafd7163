package web

import (
	"bytes"
	"embed"
	"net/http"
	"strconv"
	"strings"

	"aiperf/internal/base/webpage"
	"aiperf/internal/measure/metrics"
)

//go:embed assets/live.html assets/live.css assets/live.js assets/tables.js assets/docs.html
var assets embed.FS

func asset(name string) string { return webpage.Text(assets, "assets/"+name) }

// charts are those of the live page, by section. Their lines are in live.js.
var charts = map[string][]webpage.Figure{
	"requests": {
		{ID: "c-rate", Title: "Requests", Unit: "per second",
			Description: "Requests completed and failed per second over time"},
		{ID: "c-tokens", Title: "Tokens", Unit: "per second",
			Description: "Tokens sent and received per second over time"},
		{ID: "c-ttft", Title: "Time to first token", Unit: "ms",
			Description: "Percentiles of the time to first token over time"},
		{ID: "c-itl", Title: "Inter-token latency", Unit: "ms",
			Description: "Percentiles of the inter-token latency over time"},
		{ID: "c-latency", Title: "Request latency", Unit: "ms",
			Description: "Percentiles of the request latency over time"},
		{ID: "c-flight", Title: "In flight", Unit: "requests", Description: "Requests in flight over time"},
	},
	"servers": {
		{ID: "c-queue", Title: "Queue of the servers", Unit: "requests",
			Description: "Requests running and waiting at the servers over time"},
		{ID: "c-cache", Title: "KV cache and prefix hits", Unit: "%",
			Description: "Usage of the KV cache and share of prefix hits over time"},
	},
	"gpus": {
		{ID: "c-gpu", Title: "GPU utilization", Unit: "%", Note: "mean of all GPUs",
			Description: "Utilization of the GPUs over time"},
		{ID: "c-power", Title: "GPU power", Unit: "W", Note: "sum of all GPUs",
			Description: "Power of the GPUs over time"},
	},
}

// pageView is what the template of the live page shows.
type pageView struct {
	webpage.Frame
	Requests, Servers, GPUs []webpage.Figure
	Explanations            []webpage.About
}

// explanations are those of all metrics that the page may show.
func explanations() []webpage.About {
	var list []webpage.About
	for _, d := range metrics.Table() {
		if !d.Flags.Has(metrics.Internal) && !d.Flags.Has(metrics.Experimental) {
			list = append(list, webpage.About{Tag: d.Tag, Title: d.Header, Unit: string(d.Display), Text: d.Doc,
				Formula: d.Formula, Note: d.PercentileNote()})
		}
	}
	return list
}

// livePage makes the live page and its policy.
func livePage(version string) (page []byte, policy string, err error) {
	v := pageView{Requests: charts["requests"], Servers: charts["servers"], GPUs: charts["gpus"],
		Explanations: explanations()}
	v.Frame, err = webpage.New(webpage.Content{Parts: webpage.Charts | webpage.Sorted,
		Script: asset("tables.js") + asset("live.js"), Data: struct{}{}, Style: asset("live.css")})
	if err != nil {
		return nil, "", err
	}
	v.Version, v.Skip, v.Class = version, "figures", "waiting"
	v.Allow("connect-src 'self'")
	var out bytes.Buffer
	err = webpage.Execute(&out, assets, "assets/live.html", nil, v)
	return out.Bytes(), v.Header(), err
}

// docsView is what the template of the documentation shows.
type docsView struct {
	webpage.Frame
	Rows     []docsRow
	Messages []message
}

// docsRow is a route of the documentation.
type docsRow struct{ Method, Path, Summary, Media, Errors string }

// docs answers with the table of routes as a page.
func (v *View) docs(w http.ResponseWriter, _ *http.Request) {
	page := docsView{Messages: messages}
	for _, r := range table {
		media, _, _ := strings.Cut(r.Media, ";")
		line := docsRow{Method: r.Method, Path: r.Path, Summary: r.Summary, Media: media}
		for _, status := range r.Errors {
			if line.Errors != "" {
				line.Errors += ", "
			}
			line.Errors += strconv.Itoa(status)
		}
		page.Rows = append(page.Rows, line)
	}
	var out bytes.Buffer
	var err error
	if page.Frame, err = webpage.New(webpage.Content{}); err == nil {
		page.Title, page.Version = "HTTP and WebSocket API", v.o.Version
		err = webpage.Execute(&out, assets, "assets/docs.html", nil, page)
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the page cannot be made")
		return
	}
	w.Header().Set("Content-Type", pageMedia)
	w.Header().Set("Content-Security-Policy", page.Header())
	_, _ = w.Write(out.Bytes())
}

package web

import (
	"bytes"
	"embed"
	"net/http"
	"strconv"
	"strings"

	"aiperf/internal/base/webpage"
)

//go:embed assets/live.html assets/live.css assets/live.js assets/docs.html
var assets embed.FS

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// figure is a chart of the page.
type figure struct{ ID, Title, Unit, Note, Description string }

// charts are those of the live page, by section. Their lines are in live.js.
var charts = map[string][]figure{
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
	Version                 string
	Requests, Servers, GPUs []figure
}

// livePage makes the live page and its policy.
func livePage(version string) (page []byte, policy string, err error) {
	v := pageView{Version: version, Requests: charts["requests"], Servers: charts["servers"], GPUs: charts["gpus"]}
	if v.Frame, err = webpage.NewFrame(struct{}{}, asset("live.js"), asset("live.css")); err != nil {
		return nil, "", err
	}
	v.Allow("connect-src 'self'")
	var out bytes.Buffer
	err = webpage.ExecutePage(&out, assets, "assets/live.html", nil, v)
	return out.Bytes(), v.Header(), err
}

// docs answers with the table of routes as a page.
func (v *View) docs(w http.ResponseWriter, _ *http.Request) {
	type row struct{ Method, Path, Summary, Media, Errors string }
	var rows []row
	for _, r := range table {
		media, _, _ := strings.Cut(r.Media, ";")
		line := row{Method: r.Method, Path: r.Path, Summary: r.Summary, Media: media}
		for _, status := range r.Errors {
			if line.Errors != "" {
				line.Errors += ", "
			}
			line.Errors += strconv.Itoa(status)
		}
		rows = append(rows, line)
	}
	frame := webpage.StyledFrame(webpage.Asset("page.css"))
	var out bytes.Buffer
	err := webpage.ExecutePage(&out, assets, "assets/docs.html", nil, map[string]any{
		"Policy": frame.Policy, "Style": frame.Style, "Version": v.o.Version, "Rows": rows, "Messages": messages,
	})
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the page cannot be made")
		return
	}
	w.Header().Set("Content-Type", pageMedia)
	w.Header().Set("Content-Security-Policy", frame.Header())
	_, _ = w.Write(out.Bytes())
}

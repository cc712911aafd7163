package browse

import (
	"cmp"
	"fmt"
	"net/http"

	"aiperf/internal/base/webpage"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
)

// listed is an item as the list shows it.
type listed struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Parent string `json:"parent,omitempty"`
	// Model, Endpoint and Load say what was measured, Started when, in ms.
	Model    string `json:"model,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	Load     string `json:"load,omitempty"`
	Started  int64  `json:"started,omitempty"`
	Label    string `json:"label,omitempty"`
	// Concurrency and Rate sort by load.
	Concurrency float64 `json:"concurrency,omitempty"`
	Rate        float64 `json:"rate,omitempty"`
	// State is that of the run in a few words, and Level how it is to be taken; "" if it is not known. Why says why.
	State   string      `json:"state,omitempty"`
	Level   judge.Level `json:"level,omitempty"`
	Why     string      `json:"why,omitempty"`
	About   string      `json:"about,omitempty"`
	Version string      `json:"version,omitempty"`
	// Live is the address of the live page of what is running.
	Live    string             `json:"live,omitempty"`
	Figures map[string]float64 `json:"f"`
	// Ranges are the smallest and the largest of the cells of a sweep.
	Ranges map[string][2]float64 `json:"range,omitempty"`
}

// columnView is a column of key figures.
type columnView struct {
	Key    string `json:"key"`
	Title  string `json:"title"`
	Header string `json:"header"`
	Unit   string `json:"unit"`
}

// listData is what the script of the list reads.
type listData struct {
	Columns []columnView `json:"columns"`
	Items   []listed     `json:"items"`
}

// shortTitles are those of key figures, where the table of metrics has a longer one.
var shortTitles = map[string]string{
	"output_token_throughput": "Output tok/s", "request_throughput": "Req/s", "time_to_first_token": "TTFT",
	"inter_token_latency": "ITL", "request_latency": "Latency", "output_token_throughput_per_user": "Tok/s/user",
	"goodput": "Goodput", "input_sequence_length": "ISL", "output_sequence_length": "OSL", "request_count": "Requests",
	"error_request_count": "Errors", "benchmark_duration": "Duration",
}

func columns() []columnView {
	var out []columnView
	for _, m := range library.KeyFigures {
		title := m.Short
		if t := shortTitles[m.Tag]; t != "" {
			title = t
		}
		if m.Stat != "avg" {
			title += " " + m.Stat
		}
		out = append(out, columnView{Key: m.Key(), Title: title, Header: m.Title(), Unit: m.Unit})
	}
	return out
}

func (s *Server) data(sh *shelf) listData {
	d := listData{Columns: columns(), Items: []listed{}}
	for i := range sh.items {
		it := &sh.items[i]
		f := &it.facts
		if it.folder.Single { // its run stands for it
			continue
		}
		l := listed{ID: it.id, Name: it.name, Kind: kindName(it), Model: f.Model, Endpoint: f.Endpoint, Load: f.Load,
			Label: f.Label, Concurrency: f.Concurrency, Rate: f.Rate, Version: cmp.Or(f.Origin, f.Version), About: about(it),
			Figures: f.Figures, Ranges: f.Ranges}
		if p := it.folder.Parent; p >= 0 {
			l.Parent = sh.items[p].id
		}
		if !f.Started.IsZero() {
			l.Started = f.Started.UnixMilli()
		}
		if f.Running {
			l.Live = f.Live
		}
		shown, why := state(f)
		l.State, l.Level, l.Why = shown.Title, shown.Level, why
		if l.Figures == nil {
			l.Figures = map[string]float64{}
		}
		d.Items = append(d.Items, l)
	}
	return d
}

// state returns what is to be known first of an item: what is wrong with it, or the state of the run. why says more; ""
// for nothing.
func state(f *library.Facts) (state judge.State, why string) {
	switch {
	case f.Running:
		if f.Sent > 0 {
			why = plural(int(f.Sent), "request") + " sent so far"
		}
		return judge.State{Code: judge.StateRunning, Level: judge.Plain, Title: "Running"}, why
	case f.Fault != "":
		return judge.State{Code: "damaged", Level: judge.Bad, Title: "Damaged"}, f.Fault
	case f.State.Code == judge.StateIncomplete:
		return f.State, f.Incomplete
	case f.State.Code == judge.StateComplete:
		return f.State, ""
	case f.State.Code != "":
		return f.State, f.Finding.Text
	case f.Incomplete != "": // a search
		return judge.State{Code: judge.StateIncomplete, Level: judge.Warn, Title: "Incomplete"}, f.Incomplete
	}
	return judge.State{}, ""
}

// kindName returns the word for what an item is.
func kindName(it *item) string {
	if it.folder.Kind == library.Search && it.facts.Planner == "capacity" {
		return "capacity"
	}
	return string(it.folder.Kind)
}

// about describes what is behind an item of several runs.
func about(it *item) string {
	f := &it.facts
	text := ""
	switch {
	case it.folder.Kind == library.Run || it.folder.File == "":
		return ""
	}
	switch it.folder.Kind {
	case library.Repeats:
		text = plural(f.Runs, "run")
	case library.Sweep:
		text = fmt.Sprintf("%s of %s", plural(f.Cells, "cell"), join(f.Varied))
	default:
		text = fmt.Sprintf("%s over %s", plural(f.Cells, "probe"), join(f.Varied))
		if f.Outcome != "" {
			text += ": " + f.Outcome
		}
	}
	if f.Failed > 0 {
		text += fmt.Sprintf(", %d failed", f.Failed)
	}
	return text
}

func join(names []string) string {
	out := ""
	for i, name := range names {
		if i > 0 {
			out += " × "
		}
		out += name
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// list is the page of all runs.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	sh := s.current()
	v := struct {
		webpage.Frame
		Roots, Notes []string
	}{Roots: sh.found.Roots, Notes: s.Notes()}
	v.Title, v.Class, v.Skip = "Runs", "wide", "runs"
	if len(sh.items) == 0 {
		const again = 5
		v.Refresh = again
	}
	s.show(w, r, "list", controls, &v.Frame, s.data(sh), &v)
}

// runs answers the list as data.
func (s *Server) runs(w http.ResponseWriter, _ *http.Request) { answerJSON(w, s.data(s.current())) }

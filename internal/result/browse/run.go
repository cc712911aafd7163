package browse

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/base/webpage"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
	"aiperf/internal/result/summary"
)

// soon is how long a page waits for a report before it shows the figures instead.
const soon = 1200 * time.Millisecond

// one is the page of an item: the report of a run, the page of a sweep or a search, the figures of what has no report.
func (s *Server) one(w http.ResponseWriter, r *http.Request, sh *shelf, it *item) {
	switch {
	case it.folder.Single:
		if run := s.only(sh, it); run != nil { // an old address, or that of the file's own page
			http.Redirect(w, r, "/r/"+run.id, http.StatusFound)
			return
		}
		s.figures(w, r, sh, it)
		return
	case it.facts.Running && it.folder.Kind != library.Search, it.folder.File == "" && it.folder.Kind != library.Run:
		s.figures(w, r, sh, it)
		return
	case it.folder.Kind == library.Sweep || it.folder.Kind == library.Search:
		s.sweep(w, r, sh, it)
		return
	case !it.folder.HasRecords:
		s.figures(w, r, sh, it)
		return
	}
	m := s.reports.ofRun(it)
	if !m.done.wait(r.Context(), soon) {
		s.overview(w, r, sh, it, overviewNotes{pending: true})
		return
	}
	if m.err != nil {
		s.overview(w, r, sh, it, overviewNotes{fault: m.err.Error()})
		return
	}
	send(w, http.StatusOK, s.within(r, m.page, navigation(sh, it, "report")))
}

// only returns the run of repeats that are only one.
func (s *Server) only(sh *shelf, it *item) *item {
	if it.folder.Parent < 0 {
		return nil
	}
	cell := filepath.Base(it.folder.Path)
	_, runs := sh.below(&sh.items[it.folder.Parent])
	for _, run := range runs {
		if filepath.Base(run.folder.Path) == cell {
			return run
		}
	}
	return nil
}

// reportState answers whether the report of a run is ready.
func (s *Server) reportState(w http.ResponseWriter, r *http.Request, _ *shelf, it *item) {
	ready := !it.folder.HasRecords || s.reports.ofRun(it).done.wait(r.Context(), 10*time.Second)
	answerJSON(w, map[string]bool{"ready": ready})
}

// figures is the page of the figures of a run or of repeats, which needs no records.
func (s *Server) figures(w http.ResponseWriter, r *http.Request, sh *shelf, it *item) {
	s.overview(w, r, sh, it, overviewNotes{})
}

// overviewNotes say why the figures are shown instead of the report.
type overviewNotes struct {
	pending bool
	fault   string
}

// tableRow is a metric with its statistics.
type tableRow struct {
	Header, Unit, Tag string
	Values            []string
}

type overviewView struct {
	webpage.Frame
	Kind, Name string
	Status     []webpage.Status
	Pending    bool
	// Running reports that it is under way, and Live is the address of its live page, "" where it is not known.
	Running       bool
	Live          string
	Cards         []webpage.Card
	Columns       []string
	Rows          []tableRow
	Errors        []errorRow
	Parts         []partRow
	Compare       string
	Configuration string
	Saved         string
}

type errorRow struct{ Count, Code, Type, Message string }

type partRow struct {
	Path, Name, Load string
	State            judge.State
}

func (s *Server) overview(w http.ResponseWriter, r *http.Request, sh *shelf, it *item, n overviewNotes) {
	f := &it.facts
	v := overviewView{Name: it.name, Kind: kindName(it), Pending: n.pending}
	v.Title = it.name
	key := "figures"
	if n.pending || n.fault != "" || it.folder.Kind == library.Repeats {
		key = "report"
	}
	v.Nav = navigation(sh, it, key)
	if v.Running = f.Running; v.Running {
		const again = 5
		v.Refresh, v.Live = again, f.Live
	}
	v.Facts = factsOf(it)
	v.Status = statusOf(f)
	if n.fault != "" {
		v.Status = append(v.Status, webpage.Status{Level: "warn", Title: "No report with charts", Text: n.fault})
	}
	v.Cards = cardsOf(f, it.folder.Kind == library.Repeats)
	if it.folder.Kind == library.Repeats {
		v.repeats(it)
	} else if it.folder.File != "" {
		v.run(it)
	}
	for _, p := range sh.parts(it) {
		shown, _ := state(&p.facts)
		v.Parts = append(v.Parts, partRow{"/r/" + p.id, p.name, p.facts.Load, shown})
		if len(v.Parts) <= maxCompared {
			v.Compare += p.id + ","
		}
	}
	if len(v.Parts) < 2 {
		v.Compare = ""
	}
	if hasSaved(it) {
		v.Saved = "/r/" + it.id + "/saved"
	}
	v.Skip = "figures"
	s.show(w, r, "overview", controls, &v.Frame, map[string]any{"id": it.id, "pending": n.pending}, &v)
}

// factsOf describes an item.
func factsOf(it *item) []webpage.Fact {
	f := &it.facts
	var out []webpage.Fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, webpage.Fact{Name: name, Value: value})
		}
	}
	add("Model", f.Model)
	add("Endpoint", join2(f.URLs))
	add("API", f.Endpoint)
	add("Load", f.Load)
	add("Behind it", about(it))
	add("Started", clock(f.Started))
	if v, ok := f.Figures["benchmark_duration_avg"]; ok {
		add("Duration", artifact.Short(v)+" s")
	}
	program := f.Version
	if program != "" && f.Original {
		program += " (original)"
	}
	add("AIPerf", program)
	add("Measured by", f.Origin)
	add("Folder", it.folder.Home)
	return out
}

func join2(list []string) string {
	out := ""
	for i, v := range list {
		if i > 0 {
			out += ", "
		}
		out += v
	}
	return out
}

// statusOf says what is to be known of an item first.
func statusOf(f *library.Facts) []webpage.Status {
	shown, why := state(f)
	switch {
	case shown.Code == "":
		return nil
	case shown.Code == judge.StateComplete:
		why = f.Finding.Text
	case f.Finding.Title != "" && f.Fault == "":
		shown.Title = f.Finding.Title
	}
	return []webpage.Status{{Level: string(shown.Level), Title: shown.Title, Text: why}}
}

// cardsOf are the key figures. Those of repeats say in What by which key they are found.
func cardsOf(f *library.Facts, repeats bool) []webpage.Card {
	var out []webpage.Card
	card := func(title, unit, main string, lines ...string) {
		v, ok := f.Figures[main]
		if !ok {
			return
		}
		c := webpage.Card{Title: title, Unit: unit, Value: artifact.Short(v)}
		if repeats {
			c.What = main // its key, for the interval
		}
		for _, key := range lines {
			if v, ok := f.Figures[key]; ok {
				c.Lines = append(c.Lines, webpage.CardLine{Text: key[len(key)-3:] + " " + artifact.Short(v) + " " + unit})
			}
		}
		out = append(out, c)
	}
	card("Output token throughput", "tokens/s", "output_token_throughput_avg")
	card("Request throughput", "requests/s", "request_throughput_avg")
	card("Time to first token, p50", "ms", "time_to_first_token_p50", "time_to_first_token_p99")
	card("Inter token latency, p50", "ms", "inter_token_latency_p50", "inter_token_latency_p99")
	card("Request latency, p50", "ms", "request_latency_p50", "request_latency_p99")
	card("Requests", "", "request_count_avg")
	return out
}

// statColumns are the statistics of the table.
var statColumns = []string{"avg", "min", "p50", "p90", "p95", "p99", "max", "std"}

// run adds what the summary of a run has.
func (v *overviewView) run(it *item) {
	data, err := summary.ReadDocument(it.folder.File)
	if err != nil {
		return // the facts name it
	}
	figures, err := summary.ParseFigures(data)
	if err != nil {
		return
	}
	v.Columns = statColumns
	for _, b := range figures.Blocks {
		v.Rows = append(v.Rows, rowOf(b.Tag, b.Unit, func(stat string) (float64, bool) {
			x, ok := b.Stats[stat]
			return x, ok
		}))
	}
	v.Errors = errorsOf(data)
	if raw := jsonscan.Find(data, "input_config"); raw != nil {
		v.Configuration = yamlOf(raw)
	}
}

func rowOf(tag, unit string, value func(stat string) (float64, bool)) tableRow {
	row := tableRow{Header: tag, Tag: tag, Unit: unit}
	if d, ok := metrics.Lookup(tag); ok {
		row.Header = d.Header
	}
	for _, stat := range statColumns {
		text := ""
		if x, ok := value(stat); ok {
			text = artifact.Short(x)
		}
		row.Values = append(row.Values, text)
	}
	return row
}

// errorsOf are the kinds of errors of a summary, at most maxErrors.
func errorsOf(data []byte) []errorRow {
	const maxErrors = 50
	var list []struct {
		Details struct {
			Code          *int
			Type, Message string
		} `json:"error_details"`
		Count int64
	}
	if json.Unmarshal(jsonscan.Find(data, "error_summary"), &list) != nil {
		return nil
	}
	var errors []summary.ErrorCount
	for _, e := range list {
		one := summary.ErrorCount{Error: record.Error{Type: e.Details.Type, Message: e.Details.Message}, Count: e.Count}
		if e.Details.Code != nil {
			one.Error.Code, one.Error.HasCode = *e.Details.Code, true
		}
		errors = append(errors, one)
	}
	var out []errorRow
	kinds := summary.ErrorKinds(errors)
	for i := range kinds[:min(len(kinds), maxErrors)] {
		k := &kinds[i]
		row := errorRow{Count: artifact.Short(float64(k.Count)), Type: k.Error.Type,
			Message: strings.TrimSpace(k.Error.Message + " " + k.Texts())}
		if k.Error.HasCode {
			row.Code = strconv.Itoa(k.Error.Code)
		}
		out = append(out, row)
	}
	return out
}

// repeats adds the means of repeats with their intervals.
func (v *overviewView) repeats(it *item) {
	data, err := bounded.ReadFile(it.folder.File)
	if err != nil {
		return
	}
	var f struct {
		Metrics map[string]repeated `json:"metrics"`
	}
	if json.Unmarshal(data, &f) != nil {
		return
	}
	v.Columns = []string{"mean", "low", "high", "std", "cv", "min", "max"}
	v.spread(f.Metrics)
	units := map[string]string{}
	for key, m := range f.Metrics {
		units[key] = m.Unit
	}
	for _, m := range sortedMetrics(units) {
		if m.Stat != "" && !slices.Contains(repeatedStats, m.Stat) {
			continue
		}
		of := f.Metrics[m.Key()]
		row := tableRow{Header: m.Title(), Tag: m.Key(), Unit: of.Unit}
		of.bound()
		for _, x := range []*float64{of.Mean, of.Low, of.High, of.Std, of.CV, of.Min, of.Max} {
			text := ""
			if x != nil {
				text = artifact.Short(*x)
			}
			row.Values = append(row.Values, text)
		}
		v.Rows = append(v.Rows, row)
	}
}

// spread adds to the key figures, which are means over the repeats, the bounds of their intervals.
func (v *overviewView) spread(metrics map[string]repeated) {
	for i := range v.Cards {
		c := &v.Cards[i]
		of, ok := metrics[c.What]
		c.What = ""
		if !ok || of.Low == nil || of.High == nil || of.Mean == nil {
			continue
		}
		half := max(*of.High-*of.Mean, *of.Mean-*of.Low)
		of.bound()
		text := strings.TrimSpace("± "+artifact.Short(half)+" "+c.Unit) + " (" + artifact.Short(*of.Low) + " – " +
			artifact.Short(*of.High) + ")"
		c.Lines = append([]webpage.CardLine{{Text: text}}, c.Lines...)
	}
}

// bound keeps the interval of a figure that cannot be negative above zero: where all its values are.
func (r *repeated) bound() {
	if r.Low != nil && *r.Low < 0 && r.Min != nil && *r.Min >= 0 {
		zero := 0.0
		r.Low = &zero
	}
}

// repeatedStats are the statistics of which the means over repeats are shown; all of them are in the file.
var repeatedStats = []string{"avg", "p50", "p90", "p99"}

// repeated is a figure over repeats.
type repeated struct {
	Mean, Std, Min, Max, CV *float64
	Low                     *float64 `json:"ci_low"`
	High                    *float64 `json:"ci_high"`
	Unit                    string
}

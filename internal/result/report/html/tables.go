package html

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/webpage"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
)

var notKnown = math.NaN()

// metricGroup is the metrics of a group with all their statistics.
type metricGroup struct {
	Title string
	// Rows are distributions, Values single numbers.
	Rows, Values []metricRow
	// Folded ones are shown when asked for.
	Folded bool
}

type metricRow struct {
	Header, Unit, Tag string
	Avg, Min, Max     string
	Std, Count        string
	// Ranks are the percentiles that are wanted often, Rare the others.
	Ranks, Rare []rankCell
	Scalar      bool
	About       *webpage.About
}

// rankCell is a percentile in a table.
type rankCell struct {
	Name, Value, Bounds string
	Few                 bool
}

type groupTitle struct {
	group metrics.Group
	title string
}

// groupTitles are the groups of the table in their order.
var groupTitles = []groupTitle{
	{metrics.GroupDefault, "Main figures"}, {metrics.GroupEffective, "Effective: over the whole run"},
	{metrics.GroupActive, "Active: while requests were in flight"},
	{metrics.GroupReasoning, "Reasoning"}, {metrics.GroupUsage, "Usage that the server reported"},
	{metrics.GroupCache, "Prefix cache"},
	{metrics.GroupJobs, "Jobs"}, {metrics.GroupPrediction, "Prediction"}, {metrics.GroupSpecDecode, "Speculative decoding"},
	{metrics.GroupAudio, "Audio"}, {metrics.GroupHTTPTrace, "HTTP exchange"},
	{metrics.GroupGPU, "GPU power efficiency"}, {metrics.GroupGPUNVIDIA, "GPU power efficiency, NVIDIA"},
	{metrics.GroupGPUAMD, "GPU power efficiency, AMD"},
}

// ranks returns the names of the percentiles that any metric has, the smallest first, and apart those that are seldom
// wanted.
func ranks(list []metrics.Metric) (often, rare []string) {
	all := slices.Clone(metrics.PercentileRanks[:])
	for i := range list {
		for _, p := range list[i].Further {
			all = append(all, p.Rank)
		}
	}
	slices.Sort(all)
	for _, rank := range slices.Compact(all) {
		if name := metrics.RankKey(rank); slices.Contains([]string{"p1", "p5", "p10", "p25", "p75"}, name) {
			rare = append(rare, name)
		} else {
			often = append(often, name)
		}
	}
	return often, rare
}

// metricGroups are the tables of all metrics: those of no known group come last.
func metricGroups(list []metrics.Metric, often, rare []string) []metricGroup {
	var out []metricGroup
	taken := make([]bool, len(list))
	take := func(title string, belongs func(*metrics.Metric) bool) {
		g := metricGroup{Title: title}
		var members []metrics.Metric
		for i := range list {
			if !taken[i] && belongs(&list[i]) {
				taken[i] = true
				members = append(members, list[i])
			}
		}
		slices.SortStableFunc(members, func(a, b metrics.Metric) int {
			return cmp.Or(cmp.Compare(metrics.Place(a.Order), metrics.Place(b.Order)), cmp.Compare(a.Tag, b.Tag))
		})
		for i := range members {
			if row := newMetricRow(&members[i], often, rare); row.Scalar {
				g.Values = append(g.Values, row)
			} else {
				g.Rows = append(g.Rows, row)
			}
		}
		if len(members) > 0 {
			out = append(out, g)
		}
	}
	for _, t := range groupTitles {
		take(t.title, func(m *metrics.Metric) bool { return m.Group == t.group })
	}
	take("Others", func(m *metrics.Metric) bool { return m.Distribution || artifact.Finite(m.Stats.Avg) })
	for i := range out {
		out[i].Folded = i > 0
	}
	return out
}

func newMetricRow(m *metrics.Metric, often, rare []string) metricRow {
	row := metricRow{Header: m.Header, Unit: m.Unit, Tag: m.Tag, Avg: fixed(m.Stats.Avg), Scalar: !m.Distribution,
		About: aboutOf(m)}
	if m.EpochNS != 0 {
		row.Avg = fmt.Sprint(m.EpochNS)
	}
	if row.Scalar {
		return row
	}
	row.Min, row.Max, row.Std = fixed(m.Stats.Min), fixed(m.Stats.Max), fixed(m.Stats.Std)
	if m.Stats.Count > 0 {
		row.Count = integer(m.Stats.Count)
	}
	known := map[string]float64{}
	for i, key := range metrics.PercentileKeys {
		known[key] = metrics.PercentileRanks[i]
	}
	for _, f := range m.Further {
		known[metrics.RankKey(f.Rank)] = f.Rank
	}
	cells := func(names []string) (out []rankCell) {
		for _, name := range names {
			cell := rankCell{Name: name}
			if p, ok := percentileOf(m, known[name]); ok {
				cell = rankCell{Name: name, Value: fixed(p.value), Bounds: p.interval(), Few: p.few()}
			}
			out = append(out, cell)
		}
		return out
	}
	row.Ranks, row.Rare = cells(often), cells(rare)
	return row
}

// aboutOf returns the explanation of a metric of the table, with the names of the run.
func aboutOf(m *metrics.Metric) *webpage.About {
	d, ok := metrics.Lookup(m.Tag)
	if !ok || strings.ContainsAny(m.Tag, " \t\n") { // it is an id of the page
		return nil
	}
	about := webpage.About{Tag: m.Tag, Title: m.Header, Unit: m.Unit, Text: d.Doc, Formula: d.Formula}
	if m.Distribution {
		about.Note = d.PercentileNote()
	}
	return &about
}

// explained collects the explanations of the figures on the page, each once.
func (v *view) explained() {
	seen := map[string]bool{}
	add := func(a *webpage.About) {
		if a != nil && !seen[a.Tag] {
			seen[a.Tag] = true
			v.Explanations = append(v.Explanations, *a)
		}
	}
	for i := range v.Cards {
		add(v.Cards[i].About)
	}
	for _, g := range slices.Concat(v.Groups, v.Warmup) {
		for _, row := range slices.Concat(g.Rows, g.Values) {
			add(row.About)
		}
	}
}

// acceptanceRows returns in how many steps of the target model so many drafted tokens were accepted.
func acceptanceRows(list []metrics.AcceptedSteps) []row {
	var total int64
	for _, b := range list {
		total += b.Steps
	}
	var out []row
	for _, b := range list {
		if b.Steps > 0 {
			out = append(out, row{Name: integer(b.Accepted),
				Value: integer(b.Steps) + " steps, " + short(100*float64(b.Steps)/float64(total)) + " %"})
		}
	}
	return out
}

// device is a GPU with its figures.
type device struct {
	Title, Source string
	Rows          []metricRow
}

func devices(t *gpu.Telemetry) []device {
	if t == nil {
		return nil
	}
	var out []device
	for _, e := range t.Endpoints {
		for i := range e.GPUs {
			g := &e.GPUs[i]
			d := device{Title: g.Title(), Source: e.Name}
			for _, m := range g.Metrics {
				row := metricRow{Header: m.Display, Unit: m.Unit, Avg: fixed(m.Avg), Scalar: m.Kind == gpu.Counter}
				if !row.Scalar {
					row.Min, row.Max, row.Std, row.Count = fixed(m.Min), fixed(m.Max), fixed(m.Std),
						integer(int64(m.Count))
				}
				d.Rows = append(d.Rows, row)
			}
			out = append(out, d)
		}
	}
	return out
}

// failure is a group of equal errors.
type failure struct {
	Code, Type, Message, Count, Share string
	Samples                           []string
}

// mostErrors is how many groups of errors the page lists, longestMessage how much of each message.
const (
	mostErrors     = 50
	longestMessage = 1000
)

// errors lists the errors, the most frequent first.
func (v *view) errors(r *summary.Result, run *Run) {
	list := r.ErrorKinds()
	slices.SortStableFunc(list, func(a, b summary.ErrorKind) int { return cmp.Compare(b.Count, a.Count) })
	var more int64
	for i := range list {
		e := &list[i]
		if i >= mostErrors {
			more += e.Count
			continue
		}
		f := failure{Type: e.Error.Type, Count: integer(e.Count),
			Message: strings.TrimSpace(shorten(e.Error.Message, longestMessage) + " " + e.Texts())}
		if total := r.Counts.Completed(); total > 0 {
			f.Share = short(100*float64(e.Count)/float64(total)) + " %"
		}
		if e.Error.HasCode {
			f.Code = fmt.Sprint(e.Error.Code)
		}
		if run.Requests != nil {
			f.Samples = samples(run.Requests, e.Keys)
		}
		v.Errors = append(v.Errors, f)
	}
	v.hints(r)
	if n := len(list) - mostErrors; n > 0 {
		v.MoreErrors, v.MoreFailed = integer(int64(n)), integer(more)
	}
}

// mostSamples is how many requests are named as examples of a kind of errors.
const mostSamples = 3

// samples name the first requests that failed with errors of some texts.
func samples(requests *timeline.Recorder, texts []record.Key) (list []string) {
	for _, key := range texts {
		for _, s := range requests.Samples(key) {
			if len(list) == mostSamples {
				return list
			}
			list = append(list, fmt.Sprintf("%s s: %s (%s, turn %d)", trimmed(float64(s.AtNS)/1e9, 3), s.RequestID,
				s.ConversationID, s.Turn))
		}
	}
	return list
}

// hints returns what to try against the errors.
func (v *view) hints(r *summary.Result) {
	var failures []*record.Error
	for i := range r.Errors {
		failures = append(failures, &r.Errors[i].Error)
	}
	for _, h := range hint.ForAll(failures) {
		v.Hints = append(v.Hints, row{Name: h.Cause, Value: h.Try})
	}
}

// sliceTable is the run by time slice.
type sliceTable struct {
	Columns []string
	Rows    [][]string
	Hidden  int
}

// sliced are the columns of time slices: a metric and a statistic of it.
var sliced = []struct {
	tag, stat string
	rank      float64
}{
	{"request_count", "", 0}, {"request_throughput", "", 0}, {"output_token_throughput", "", 0}, {"goodput", "", 0},
	{"time_to_first_token", "p50", 50}, {"time_to_first_token", "p99", 99}, {"inter_token_latency", "p50", 50},
	{"inter_token_latency", "p99", 99}, {"request_latency", "p50", 50}, {"request_latency", "p99", 99},
	{"error_request_count", "", 0},
}

// mostSlices is how many time slices the page lists.
const mostSlices = 500

func newSliceTable(r *summary.Result) *sliceTable {
	if len(r.Slices) == 0 {
		return nil
	}
	t := &sliceTable{Columns: []string{"Slice", "Start"}}
	var columns []int
	for c, of := range sliced {
		if m, ok := r.Find(of.tag); ok {
			columns = append(columns, c)
			name := m.Short
			if name == "" {
				name = m.Header
			}
			t.Columns = append(t.Columns, strings.TrimSpace(name+" "+of.stat)+" ("+m.Unit+")")
		}
	}
	for i := range r.Slices {
		s := &r.Slices[i]
		if i == mostSlices {
			t.Hidden = len(r.Slices) - mostSlices
			break
		}
		cells := []string{fmt.Sprint(s.Index), trimmed(float64(s.StartNS-r.StartNS)/1e9, 3) + " s"}
		if !s.Complete {
			cells[0] += " (not whole)"
		}
		for _, c := range columns {
			value := ""
			for k := range s.Results {
				m := &s.Results[k]
				if m.Tag != sliced[c].tag {
					continue
				}
				value = fixed(m.Stats.Avg)
				if p, ok := percentileOf(m, sliced[c].rank); ok {
					value = fixed(p.value)
				}
			}
			cells = append(cells, value)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// normal converts an object to the types that parsing it would yield.
func normal(o artifact.Object) any {
	if o == nil {
		return nil
	}
	encoded, err := artifact.AppendJSON(nil, o)
	if err != nil {
		return nil
	}
	v, err := artifact.Parse(encoded)
	if err != nil {
		return nil
	}
	return v
}

// rows flattens an object.
func rows(o artifact.Object) []row { return appendRows(nil, "", normal(o)) }

// healthRows are those of the client's health that no status shows.
func healthRows(o artifact.Object) []row {
	list, _ := normal(o).(artifact.Object)
	list = slices.DeleteFunc(list, func(m artifact.Member) bool { return m.Key == "reasons" || m.Key == "verdict" })
	return appendRows(nil, "", list)
}

func appendRows(dst []row, path string, v any) []row {
	if path != "" {
		path += "."
	}
	switch v := v.(type) {
	case artifact.Object:
		for _, m := range v {
			switch m.Value.(type) {
			case artifact.Object:
				dst = appendRows(dst, path+m.Key, m.Value)
			default:
				dst = append(dst, row{Name: path + m.Key, Value: text(m.Value)})
			}
		}
	}
	return dst
}

// text is a value as a page shows it.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return short(f)
		}
		return v.String()
	case bool:
		return fmt.Sprint(v)
	case []any:
		parts, separator := make([]string, len(v)), ", "
		for i := range v {
			parts[i] = text(v[i])
			if _, ok := v[i].(artifact.Object); ok {
				separator = "; "
			}
		}
		return strings.Join(parts, separator)
	case artifact.Object: // one of a list
		var parts []string
		for _, m := range v {
			parts = append(parts, m.Key+" "+text(m.Value))
		}
		return strings.Join(parts, ", ")
	}
	encoded, err := artifact.AppendJSON(nil, v)
	if err != nil {
		return ""
	}
	return string(encoded)
}

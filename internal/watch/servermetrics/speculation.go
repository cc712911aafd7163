package servermetrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/watch/prom"
)

// Speculation is one row about speculative decoding: what a gauge of SGLang said in the window, or what vLLM's counters
// grew by in it. All values are finite.
type Speculation struct {
	// Label is the metric, with what distinguishes the series from the others of its metric.
	Label string  `json:"label"`
	Mean  float64 `json:"mean"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	// Single: only Mean is known, the ratio of two counters over the whole window.
	Single bool `json:"single,omitempty"`
	// Decimals is how many of them print.
	Decimals int `json:"decimals"`
}

const (
	acceptRate   = "sglang:spec_accept_rate"
	acceptLength = "sglang:spec_accept_length"
	modelLabel   = "model_name"

	draftCounter    = "vllm:spec_decode_num_drafts"
	draftedCounter  = "vllm:spec_decode_num_draft_tokens"
	acceptedCounter = "vllm:spec_decode_num_accepted_tokens"
	perPlaceCounter = "vllm:spec_decode_num_accepted_tokens_per_pos"
	placeLabel      = "position"
)

// Speculations returns the rows for the benchmarked models, rates first; none when nothing was accepted. Warnings
// name the rows that are left out because a statistic is not finite.
func Speculations(r *Results, models []string) (rows []Speculation, warnings []string) {
	gauges, warnings := gaugeRows(r, models)
	return append(counterRows(r, models), gauges...), warnings
}

// gaugeRows returns the rows of SGLang, which publishes the figures themselves.
func gaugeRows(r *Results, models []string) (rows []Speculation, warnings []string) {
	rates, lengths := speculating(r, acceptRate, models), speculating(r, acceptLength, models)
	shown := lengths
	if len(lengths) == 0 {
		shown = rates
	}
	if !slices.ContainsFunc(shown, func(s *SeriesStats) bool { return s.Gauge.Max > 0 }) {
		return nil, nil
	}
	for _, metric := range []struct {
		name     string
		series   []*SeriesStats
		factor   float64
		decimals int
	}{{"Accept Rate (%)", rates, 100, 1}, {"Accept Length", lengths, 1, 2}} {
		for i, suffix := range suffixes(metric.series) {
			g := metric.series[i].Gauge
			at := func(rank float64) float64 { return g.Percentiles.At(rank) * metric.factor }
			row := Speculation{
				Label: metric.name + suffix, Decimals: metric.decimals,
				Mean: g.Avg * metric.factor, Min: g.Min * metric.factor, Max: g.Max * metric.factor, P50: at(50),
				P90: at(90),
			}
			if slices.ContainsFunc([]float64{row.Mean, row.Min, row.Max, row.P50, row.P90}, notFinite) {
				warnings = append(warnings, fmt.Sprintf("Speculative decoding: the row %s is left out, one of its "+
					"statistics is not finite", row.Label))
				continue
			}
			rows = append(rows, row)
		}
	}
	return rows, warnings
}

// drafts are the tokens that vLLM drafted for a model over the window, of all its engines.
type drafts struct {
	model                    string
	steps, drafted, accepted float64
	// perPlace are the accepted ones by their place in a draft.
	perPlace []float64
}

// counterRows returns the rows of vLLM: of the tokens drafted, and of the drafts, which part was accepted, and how many
// tokens a step made with its own. A place of the draft is accepted only if those before it are.
func counterRows(r *Results, models []string) (rows []Speculation) {
	all := draftsOf(r, models)
	for i := range all {
		d, suffix := &all[i], ""
		if len(all) > 1 {
			suffix = " (" + modelLabel + "=" + d.model + ")"
		}
		add := func(label string, value float64, decimals int) {
			if !notFinite(value) {
				rows = append(rows, Speculation{Label: label + suffix, Mean: value, Single: true, Decimals: decimals})
			}
		}
		if !(d.steps > 0) || !(d.drafted > 0) {
			continue
		}
		add("Accept Rate (%)", 100*d.accepted/d.drafted, 1)
		add("Accept Length", 1+d.accepted/d.steps, 2)
		for place, accepted := range d.perPlace {
			add(fmt.Sprintf("Accept Rate at Place %d (%%)", place+1), 100*accepted/d.steps, 1)
		}
	}
	return rows
}

// mostPlaces bounds the places of a draft that are read from labels.
const mostPlaces = 64

// draftsOf sums the counters of each of the models, in the order of their series; of all models where the server has none
// of the benchmarked ones: it may know them as adapters of another.
func draftsOf(r *Results, models []string) (all []drafts) {
	var list []namedSeries
	r.each([]string{draftCounter, draftedCounter, acceptedCounter, perPlaceCounter}, "total",
		func(s *SeriesStats, name string, v float64) { list = append(list, namedSeries{name, s, v}) })
	others := func(s namedSeries) bool {
		model, _ := s.stats.label(modelLabel)
		return !slices.ContainsFunc(models, func(m string) bool { return strings.EqualFold(m, model) })
	}
	if ours := slices.DeleteFunc(slices.Clone(list), others); len(ours) > 0 {
		list = ours
	}
	for _, s := range list {
		model, _ := s.stats.label(modelLabel)
		at := slices.IndexFunc(all, func(d drafts) bool { return d.model == model })
		if at < 0 {
			at = len(all)
			all = append(all, drafts{model: model})
		}
		d := &all[at]
		switch s.family {
		case draftCounter:
			d.steps += s.total
		case draftedCounter:
			d.drafted += s.total
		case acceptedCounter:
			d.accepted += s.total
		default:
			text, _ := s.stats.label(placeLabel)
			place, err := strconv.Atoi(text)
			if err != nil || place < 0 || place >= mostPlaces {
				continue
			}
			for len(d.perPlace) <= place {
				d.perPlace = append(d.perPlace, 0)
			}
			d.perPlace[place] += s.total
		}
	}
	return all
}

// namedSeries is a series with the name of its family and what it grew by.
type namedSeries struct {
	family string
	stats  *SeriesStats
	total  float64
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// speculating returns the gauges of one name that belong to one of the models and to the first of several ranks.
func speculating(r *Results, name string, models []string) (list []*SeriesStats) {
	for i := range r.Families {
		if r.Families[i].Name != name {
			continue
		}
		for j := range r.Families[i].Series {
			s := &r.Families[i].Series[j]
			model, _ := s.label(modelLabel)
			ours := slices.ContainsFunc(models, func(m string) bool { return strings.EqualFold(m, model) })
			if s.Gauge != nil && ours && s.first("tp_rank") && s.first("pp_rank") {
				list = append(list, s)
			}
		}
	}
	return list
}

// label returns the value of a label, and whether the series has it.
func (s *SeriesStats) label(name string) (string, bool) {
	i := slices.IndexFunc(s.Labels, func(l prom.Label) bool { return l.Name == name })
	if i < 0 {
		return "", false
	}
	return s.Labels[i].Value, true
}

func (s *SeriesStats) first(rank string) bool {
	v, has := s.label(rank)
	return !has || v == "0"
}

// suffixes returns what distinguishes each series from the others: the endpoint, the model and the other labels, each
// where they differ. A series that has none of these has its number.
func suffixes(list []*SeriesStats) []string {
	out := make([]string, len(list))
	if len(list) < 2 {
		return out
	}
	var names []string
	for _, s := range list {
		for _, l := range s.Labels {
			if l.Name != modelLabel && !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	slices.Sort(names)
	parts := make([][]string, len(list))
	differing := func(name string, value func(*SeriesStats) (string, bool)) {
		first, inFirst := value(list[0])
		if !slices.ContainsFunc(list, func(s *SeriesStats) bool {
			v, has := value(s)
			return v != first || has != inFirst
		}) {
			return
		}
		for i, s := range list {
			if v, has := value(s); has {
				parts[i] = append(parts[i], name+"="+v)
			}
		}
	}
	differing("endpoint", func(s *SeriesStats) (string, bool) { return prom.Display(s.EndpointURL), true })
	for _, name := range append([]string{modelLabel}, names...) {
		differing(name, func(s *SeriesStats) (string, bool) { return s.label(name) })
	}
	for i := range list {
		if len(parts[i]) == 0 {
			out[i] = fmt.Sprintf(" (series=%d)", i+1)
		} else {
			out[i] = " (" + strings.Join(parts[i], ", ") + ")"
		}
	}
	return out
}

package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ReadSearch reads search_history.json, of this program or of the original. The cells are the iterations; they have
// objectives and verdicts, but no figures: those are in the files of the runs.
func ReadSearch(history []byte) (*Sweep, error) {
	var f HistoryDocument
	if err := json.Unmarshal(history, &f); err != nil {
		return nil, err
	}
	if len(f.Config.Space) == 0 {
		return nil, errors.New("it is not the history of a search: it has no config.search_space")
	}
	s := &Sweep{Kind: "Search", Search: &Search{Planner: f.Config.Planner, Most: f.Config.Most}}
	for _, d := range f.Config.Space {
		p := NewParameter(d.Path)
		s.Parameters = append(s.Parameters, p)
		s.Search.Ranges = append(s.Search.Ranges, Range{p, d.Lo, d.Hi})
	}
	for i := range f.Config.Filters {
		s.Limits = append(s.Limits, f.Config.Filters[i].limit())
	}
	for _, o := range f.Config.Objectives {
		s.Search.Objectives = append(s.Search.Objectives,
			strings.ToLower(o.Direction)+" "+NewMetric(o.Metric, o.Stat, "").Title())
		s.Metrics = append(s.Metrics, NewMetric(o.Metric, o.Stat, ""))
		s.Search.Scored = append(s.Search.Scored, NewMetric(o.Metric, o.Stat, ""))
	}
	s.Search.Scored = slices.Clone(s.Metrics)
	for _, t := range f.Tiers {
		tier := Tier{t.Label, nil, t.Status}
		if load, ok := number(t.Boundary); ok {
			tier.Boundary = &load
		}
		s.Search.Tiers = append(s.Search.Tiers, tier)
	}
	for _, it := range f.Iterations {
		c := Cell{Figures: map[string]Figure{}}
		var parts []string
		for _, p := range s.Parameters {
			v, _ := it.Values.Get(p.Path)
			c.Values = append(c.Values, v)
			parts = append(parts, p.Name+" "+Label(v))
		}
		c.Label = strings.Join(parts, ", ")
		if it.Objectives != nil {
			c.setObjectives(*it.Objectives, s.Metrics)
		}
		switch {
		case it.ClientLimited != "":
			c.Verdict, c.Why = ClientLimited, it.ClientLimited
		case it.Saturated != "":
			c.Verdict, c.Why = Infeasible, it.Saturated
		case it.Refused != "":
			c.Verdict, c.Why = Infeasible, it.Refused
		case it.Objectives == nil && len(f.Config.Objectives) > 0:
			c.Verdict = Failed
		case it.Feasible != nil && *it.Feasible && len(s.Limits) > 0:
			c.Verdict = Feasible
		case it.Feasible != nil && !*it.Feasible:
			c.Verdict = Infeasible
		}
		c.NonMonotonic = it.NonMonotonic != nil && it.NonMonotonic != false
		s.Cells = append(s.Cells, c)
	}
	for _, b := range orNone(f.BestTrials) {
		if b.Index >= 0 && b.Index < len(s.Cells) {
			s.Search.Best = append(s.Search.Best, b.Index)
		}
	}
	if f.Recipe != nil {
		s.Search.Recipe = *f.Recipe
	}
	if f.Reason != nil {
		s.Search.Reason = *f.Reason
	}
	s.Search.Boundary = f.boundary()
	s.history = &f
	s.Capacity = f.capacity(s)
	return s, nil
}

// at reports whether some parameters of the cell have these values.
func (c *Cell) at(parameters []int, values []any) bool {
	for i, k := range parameters {
		if Label(c.Values[k]) != Label(values[i]) {
			return false
		}
	}
	return true
}

// AddSearch adds what search_history.json says to the cells of a search: how it went, and of each cell its objectives
// and its verdict. The cells get the order of the iterations; an iteration without a cell becomes one without figures.
func (s *Sweep) AddSearch(history []byte) error {
	h, err := ReadSearch(history)
	if err != nil {
		return err
	}
	at := make([]int, len(h.Parameters)) // of the parameters of the search among those of the cells
	for i, p := range h.Parameters {
		at[i] = slices.IndexFunc(s.Parameters, func(own Parameter) bool {
			return own.Path == p.Path || own.Name == p.Name || own.Name == p.Path
		})
		if at[i] < 0 {
			return fmt.Errorf("the cells do not have the parameter %s", p.Path)
		}
	}
	moved := make([]int, len(s.Cells)) // where each cell comes to lie, -1 as long as that is not known
	for i := range moved {
		moved[i] = -1
	}
	var cells []Cell
	for _, it := range h.Cells {
		k := -1
		for i := range s.Cells {
			if moved[i] < 0 && s.Cells[i].at(at, it.Values) {
				k = i
				break
			}
		}
		if k < 0 {
			values := make([]any, len(s.Parameters))
			for i := range at {
				values[at[i]] = it.Values[i]
			}
			it.Values, it.Figures = values, map[string]Figure{}
			cells = append(cells, it)
			continue
		}
		c := s.Cells[k]
		moved[k] = len(cells)
		c.Objectives, c.NonMonotonic = it.Objectives, it.NonMonotonic
		if it.Verdict != "" && (it.Verdict != c.Verdict || it.Why != "") {
			c.Verdict, c.Why = it.Verdict, it.Why
		}
		cells = append(cells, c)
	}
	for k, to := range moved {
		if to < 0 {
			moved[k] = len(cells)
			cells = append(cells, s.Cells[k])
		}
	}
	for i := range s.Best {
		if k := s.Best[i].Cell; k >= 0 {
			s.Best[i].Cell = moved[k]
		}
	}
	s.Cells, s.Search, s.Kind = cells, h.Search, h.Kind
	s.Capacity = h.history.capacity(s)
	if len(s.Limits) == 0 {
		s.Limits = h.Limits
	}
	return nil
}

func (c *Cell) setObjectives(values []*float64, of []Metric) {
	for i, v := range values {
		if v == nil || i >= len(of) {
			return
		}
		c.Objectives = append(c.Objectives, *v)
		c.Figures[of[i].Key()] = Single(*v)
	}
}

func (f *HistoryDocument) boundary() *Boundary {
	b := f.Boundary
	if b == nil {
		return nil
	}
	out := &Boundary{MarginLow: math.NaN(), MarginHigh: math.NaN()}
	if p := b.FeasibleMax; p != nil {
		v, _ := number(p.Value)
		out.FeasibleMax = &v
	}
	if i := b.InfeasibleMin; i != nil {
		v, _ := number(i.Value)
		out.InfeasibleMin = &v
		if i.Breach != nil && i.Breach.Observed != nil {
			out.Breach = Breach(i.Breach.limit(), *i.Breach.Observed)
		}
	}
	if k := b.BoundaryKindDocument; k != nil {
		out.Type = k.Type
		if k.Binding != nil {
			out.Binding = *k.Binding
		}
		if i := k.CI; i != nil && i.Lo != nil && i.Hi != nil {
			out.MarginLow, out.MarginHigh = *i.Lo, *i.Hi
		}
	}
	if c := b.CapacityDocument; c != nil {
		out.Command = c.Command
		if c.Answer != nil {
			out.Estimate = &Estimate{Value: *c.Answer, Low: math.NaN(), High: math.NaN()}
			if i := c.Interval; i.Lo != nil && i.Hi != nil && i.Level != nil {
				out.Estimate.Low, out.Estimate.High, out.Estimate.Level = *i.Lo, *i.Hi, *i.Level
			}
		}
	}
	return out
}

// orNone returns the elements of a list that may be missing.
func orNone[T any](list *[]T) []T {
	if list == nil {
		return nil
	}
	return *list
}

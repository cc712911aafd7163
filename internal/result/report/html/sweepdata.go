package html

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/result/answer"
)

// sweepData is the JSON in the page of a sweep: what its charts show.
type sweepData struct {
	Parameters []parameterData `json:"parameters"`
	Metrics    []metricData    `json:"metrics"`
	Cells      []cellData      `json:"cells"`
	// Figures are columns: a value for each cell.
	Figures map[string]figureData `json:"figures"`
	Limits  []limitData           `json:"limits"`
	Curves  []curveData           `json:"curves"`
	Front   *frontData            `json:"front,omitempty"`
	// Boundary is nil where no load was searched.
	Boundary *boundaryData `json:"boundary,omitempty"`
	// Marks are the letters of cells on the curves over the parameter Load.
	Marks []markData `json:"marks,omitempty"`
	Load  int        `json:"load"`
}

// markData is the letter of a cell.
type markData struct {
	Letter string `json:"letter"`
	Cell   int    `json:"cell"`
}

type parameterData struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Number bool     `json:"number"`
	Values []string `json:"values"` // that differ, in order
}

type metricData struct {
	Key   string `json:"key"`
	Tag   string `json:"tag"`
	Stat  string `json:"stat"`
	Title string `json:"title"`
	Unit  string `json:"unit"`
}

type cellData struct {
	Label   string `json:"label"`
	Verdict string `json:"verdict,omitempty"`
	Limited bool   `json:"limited,omitempty"`
	// At are the indices among the values of each parameter, -1 for none; Numbers are the values.
	At      []int   `json:"at"`
	Numbers numbers `json:"numbers"`
}

type figureData struct {
	Mean numbers `json:"mean"`
	Low  numbers `json:"low,omitempty"`
	High numbers `json:"high,omitempty"`
}

type limitData struct {
	Key   string `json:"key"`
	Value number `json:"value"`
	Text  string `json:"text"`
}

type curveData struct {
	ID   string            `json:"id"`
	Keys map[string]string `json:"keys"`
}

type frontData struct {
	X         string `json:"x"`
	Y         string `json:"y"`
	MaximizeX bool   `json:"maximizeX,omitempty"`
	MinimizeY bool   `json:"minimizeY,omitempty"`
}

// boundaryData is what was found on the axis of a parameter.
type boundaryData struct {
	Parameter   int    `json:"parameter"`
	Value       number `json:"value"`
	Low         number `json:"low"`
	High        number `json:"high"`
	Knee        number `json:"knee"`
	Recommended number `json:"recommended"`
}

// mostFigures bounds the figures in a page. Those of the charts always are in it.
const mostFigures = 60_000

func newSweepData(s *answer.Sweep, curves []curveView) *sweepData {
	d := &sweepData{Parameters: []parameterData{}, Metrics: []metricData{}, Cells: []cellData{},
		Figures: map[string]figureData{}, Limits: []limitData{}, Curves: []curveData{}}
	for i, p := range s.Parameters {
		d.Parameters = append(d.Parameters, parameterOf(s, i, p))
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		of := cellData{Label: c.Label, Verdict: string(c.Verdict), Limited: c.ClientLimited > 0, At: []int{}, Numbers: numbers{}}
		for k := range s.Parameters {
			of.At = append(of.At, slices.Index(d.Parameters[k].Values, valueText(c.Values, k)))
			n, ok := c.Number(k)
			if !ok {
				n = math.NaN()
			}
			of.Numbers = append(of.Numbers, n)
		}
		d.Cells = append(d.Cells, of)
	}
	wanted := map[string]bool{}
	for _, c := range curves {
		d.Curves = append(d.Curves, curveData{c.ID, c.Keys})
		for _, key := range c.Keys {
			wanted[key] = true
		}
	}
	if f := s.Front; f != nil {
		d.Front = &frontData{f.X.Key(), f.Y.Key(), f.MaximizeX, f.MinimizeY}
		wanted[f.X.Key()], wanted[f.Y.Key()] = true, true
	}
	for _, m := range s.Metrics {
		if n := s.Having(m.Key()); n == 0 || !wanted[m.Key()] && (len(d.Metrics)+1)*len(s.Cells) > mostFigures {
			continue
		}
		d.Metrics = append(d.Metrics, metricData{m.Key(), m.Tag, m.Stat, m.Title(), m.Unit})
		d.Figures[m.Key()] = figuresOf(s, m.Key())
	}
	for _, l := range s.Limits {
		d.Limits = append(d.Limits, limitData{l.Metric + "_" + l.Stat, number(l.Threshold), answer.LimitText(l)})
	}
	d.Boundary = boundaryOf(s)
	loads := s.Loads()
	for cell, letters := range answer.Marks(loads) {
		for _, letter := range letters {
			d.Marks = append(d.Marks, markData{letter, cell})
		}
	}
	slices.SortFunc(d.Marks, func(a, b markData) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Letter, b.Letter))
	})
	if len(loads) > 0 {
		d.Load = loads[0].Parameter
	}
	return d
}

// parameterOf returns a parameter with its values, numbers in ascending order, texts in order of appearance.
func parameterOf(s *answer.Sweep, i int, p answer.Parameter) parameterData {
	of := parameterData{Name: p.Name, Unit: p.Unit, Number: numeric(s, p), Values: []string{}}
	at := map[string]float64{}
	for k := range s.Cells {
		text := valueText(s.Cells[k].Values, i)
		if text == "" || slices.Contains(of.Values, text) {
			continue
		}
		of.Values = append(of.Values, text)
		at[text], _ = s.Cells[k].Number(i)
	}
	if of.Number {
		slices.SortStableFunc(of.Values, func(a, b string) int {
			switch {
			case at[a] < at[b]:
				return -1
			case at[a] > at[b]:
				return 1
			}
			return 0
		})
	}
	return of
}

// figuresOf returns a figure of all cells, without bounds if no cell has them.
func figuresOf(s *answer.Sweep, key string) figureData {
	var of figureData
	bounded := false
	for i := range s.Cells {
		f, ok := s.Cells[i].Figure(key)
		if !ok {
			f = answer.Single(math.NaN())
		}
		of.Mean, of.Low, of.High = append(of.Mean, f.Mean), append(of.Low, f.Low), append(of.High, f.High)
		bounded = bounded || f.HasInterval()
	}
	if !bounded {
		of.Low, of.High = nil, nil
	}
	return of
}

func boundaryOf(s *answer.Sweep) *boundaryData {
	c := s.Capacity
	if c == nil {
		h := s.Search
		if h == nil || h.Boundary == nil {
			return nil
		}
		largest, ok := h.Boundary.Largest()
		if !ok {
			return nil
		}
		unknown := number(math.NaN())
		b := &boundaryData{Value: number(largest), Low: unknown, High: unknown, Knee: unknown, Recommended: unknown}
		switch e := h.Boundary.Estimate; {
		case e != nil:
			b.Low, b.High = number(e.Low), number(e.High)
		case h.Boundary.InfeasibleMin != nil:
			b.Low, b.High = b.Value, number(*h.Boundary.InfeasibleMin)
		}
		return b
	}
	load := func(i int) number {
		if i < 0 || i >= len(c.Curve.Points) {
			return number(math.NaN())
		}
		return number(c.Curve.Points[i].Load)
	}
	return &boundaryData{
		Parameter: max(0, slices.IndexFunc(s.Parameters,
			func(p answer.Parameter) bool { return p.Name == c.Load.Name || p.Path != "" && p.Path == c.Load.Path })),
		Value: number(c.Value), Low: number(c.Low), High: number(c.High),
		Knee: load(c.Curve.Knee), Recommended: load(c.Curve.Recommended),
	}
}

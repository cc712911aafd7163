package compare

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
)

// Document is a comparison as JSON.
type Document struct {
	Base          SystemDocument       `json:"base"`
	New           SystemDocument       `json:"new"`
	Confidence    float64              `json:"confidence"`
	Headline      string               `json:"headline"`
	Configuration []DifferenceDocument `json:"configuration"`
	Notes         []string             `json:"notes"`
	Missing       []string             `json:"missing"`
	Figures       []FigureDocument     `json:"figures"`
	Answers       *summary.Difference  `json:"answers,omitempty"`
}

// SystemDocument is one side of a comparison with the files of its runs.
type SystemDocument struct {
	Name string   `json:"name"`
	Runs []string `json:"runs"`
}

// DifferenceDocument is a key of the configuration with two values.
type DifferenceDocument struct {
	Key  string `json:"key"`
	Base string `json:"base"`
	New  string `json:"new"`
}

// FigureDocument compares a figure; numbers that are not known are left out.
type FigureDocument struct {
	Tag        string   `json:"tag"`
	Stat       string   `json:"stat"`
	Unit       string   `json:"unit"`
	Base       *float64 `json:"base,omitempty"`
	New        *float64 `json:"new,omitempty"`
	Difference *float64 `json:"difference,omitempty"`
	Percent    *float64 `json:"difference_percent,omitempty"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	Noise      *float64 `json:"base_noise,omitempty"`
	Verdict    Verdict  `json:"verdict"`
	Shown      bool     `json:"shown"`
	Method     Method   `json:"method,omitempty"`
}

// Object returns the comparison as JSON.
func (c *Comparison) Object() artifact.Object {
	d := Document{Base: c.Base.document(), New: c.New.document(), Confidence: c.Confidence, Headline: c.Headline(),
		Notes: c.Notes, Missing: c.Missing, Figures: c.figures(), Answers: c.Answers}
	for _, of := range c.Configuration {
		d.Configuration = append(d.Configuration, DifferenceDocument(of))
	}
	return artifact.ObjectOf(d)
}

func (s *System) document() SystemDocument { return SystemDocument{s.Name, s.files()} }

func (c *Comparison) figures() (list []FigureDocument) {
	for i := range c.Figures {
		f := &c.Figures[i]
		d := FigureDocument{Tag: f.Tag, Stat: f.Stat, Unit: f.Unit, Base: artifact.Known(f.Base),
			New: artifact.Known(f.New), Difference: artifact.Known(f.New - f.Base), Percent: artifact.Known(f.Percent()),
			Low: artifact.Known(f.Low), High: artifact.Known(f.High), Noise: artifact.Known(f.Noise),
			Verdict: f.Verdict.inFiles(), Shown: f.Verdict.Shown()}
		if f.Method != MethodNone && f.Method != MethodTooFew {
			d.Method = f.Method
		}
		list = append(list, d)
	}
	return list
}

// SweepDocument is a comparison of two sweeps as JSON.
type SweepDocument struct {
	Base       string             `json:"base"`
	New        string             `json:"new"`
	Confidence float64            `json:"confidence"`
	Headline   string             `json:"headline"`
	Notes      []string           `json:"notes"`
	Best       []BestPairDocument `json:"best"`
	OnlyBase   []string           `json:"only_base"`
	OnlyNew    []string           `json:"only_new"`
	Cells      []CellPairDocument `json:"cells"`
}

// BestPairDocument has the best cells of both sweeps for a purpose.
type BestPairDocument struct {
	Name string           `json:"name"`
	Unit string           `json:"unit"`
	Base BestCellDocument `json:"base"`
	New  BestCellDocument `json:"new"`
}

// BestCellDocument is a best cell with its figure.
type BestCellDocument struct {
	Cell   string   `json:"cell"`
	Metric *float64 `json:"metric,omitempty"`
}

// CellPairDocument compares the runs of a cell that both sweeps have.
type CellPairDocument struct {
	Parameters artifact.Object  `json:"parameters"`
	Missing    []string         `json:"missing"`
	Figures    []FigureDocument `json:"figures"`
}

// Object returns the comparison as JSON.
func (c *SweepComparison) Object() artifact.Object {
	d := SweepDocument{Base: c.Base.Name, New: c.New.Name, Confidence: c.Confidence, Headline: c.Headline(),
		Notes: c.Notes, OnlyBase: c.OnlyBase, OnlyNew: c.OnlyNew}
	for _, one := range c.Cells {
		d.Cells = append(d.Cells, CellPairDocument{one.Parameters, one.Comparison.Missing, one.Comparison.figures()})
	}
	side := func(of *answer.Best) BestCellDocument { return BestCellDocument{of.Label, artifact.Known(of.Value)} }
	for _, b := range c.best() {
		d.Best = append(d.Best, BestPairDocument{Name: b.name, Unit: b.new.Metric.Unit, Base: side(&b.base),
			New: side(&b.new)})
	}
	return artifact.ObjectOf(d)
}

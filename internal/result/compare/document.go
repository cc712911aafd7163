package compare

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// Document is a comparison as JSON.
type Document struct {
	Base       SystemDocument `json:"base"`
	New        SystemDocument `json:"new"`
	Confidence float64        `json:"confidence"`
	// MinEffect is the smallest difference that counts, in percent of the base.
	MinEffect float64 `json:"min_effect_percent"`
	Headline  string  `json:"headline"`
	// States say what is to be known of the runs first. NotTheSame names what was asked differently: then nothing is
	// judged better or worse.
	States        []StateDocument      `json:"states"`
	NotTheSame    []string             `json:"not_the_same_test"`
	Configuration []DifferenceDocument `json:"configuration"`
	Notes         []string             `json:"notes"`
	Missing       []string             `json:"missing"`
	Figures       []FigureDocument     `json:"figures"`
	Answers       *summary.Difference  `json:"answers,omitempty"`
}

// StateDocument is the state of one side or of both, bad or warn, in words.
type StateDocument struct {
	Level judge.Level `json:"level"`
	Text  string      `json:"text"`
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
		MinEffect: c.MinPercent, NotTheSame: c.Asked, Notes: c.Notes, Missing: c.Missing, Figures: c.figures(),
		Answers: c.Answers}
	for _, of := range c.States() {
		d.States = append(d.States, StateDocument(of))
	}
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
	Curves     []CurvesDocument   `json:"curves"`
	Cells      []CellPairDocument `json:"cells"`
}

// CurvesDocument has a figure of both sweeps over what both vary.
type CurvesDocument struct {
	Parameter string              `json:"parameter"`
	Tag       string              `json:"tag"`
	Stat      string              `json:"stat"`
	Unit      string              `json:"unit"`
	Base      []CurveLineDocument `json:"base"`
	New       []CurveLineDocument `json:"new"`
}

// CurveLineDocument is a line; Name are the values of the other parameters.
type CurveLineDocument struct {
	Name   string               `json:"name,omitempty"`
	Points []CurvePointDocument `json:"points"`
}

// CurvePointDocument is a point of a line.
type CurvePointDocument struct {
	Load  float64  `json:"load"`
	Value *float64 `json:"value,omitempty"`
}

func linesOf(lines []CurveLine, m answer.Metric) (list []CurveLineDocument) {
	for _, l := range lines {
		of := CurveLineDocument{Name: l.Name}
		for i := range l.Points {
			of.Points = append(of.Points, CurvePointDocument{l.Points[i].Load, artifact.Known(l.Points[i].At(m))})
		}
		list = append(list, of)
	}
	return list
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
	for _, of := range c.Curves() {
		d.Curves = append(d.Curves, CurvesDocument{of.Load.Name, of.Metric.Tag, of.Metric.Stat, of.Metric.Unit,
			linesOf(of.Base, of.Metric), linesOf(of.New, of.Metric)})
	}
	side := func(of *answer.Best) BestCellDocument { return BestCellDocument{of.Label, artifact.Known(of.Value)} }
	for _, b := range c.best() {
		d.Best = append(d.Best, BestPairDocument{Name: b.name, Unit: b.new.Metric.Unit, Base: side(&b.base),
			New: side(&b.new)})
	}
	return artifact.ObjectOf(d)
}

package sweep

import (
	"math"
	"math/bits"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/random"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/experiment/search"
)

// Design are the points of a sampled sweep: what was asked for, and what it became.
type Design struct {
	Type    string
	Samples int
	Seed    int64
	// Scramble is for Sobol, nil else; Optimization is "" for none.
	Scramble     *bool
	Optimization string
	Dimensions   []Dimension
	// Mapped are the values of each variation, in the order of the dimensions.
	Mapped [][]any
}

// Dimension is a path with the range or the choices that it takes.
type Dimension struct {
	Path    string
	Lo, Hi  float64
	Log     bool
	Int     bool
	Choices []any

	place   destination
	written *document.Node
}

// DesignDocument is sampling_design.json, with null for what does not apply.
type DesignDocument struct {
	Type         string                    `json:"type"`
	Samples      int                       `json:"samples"`
	Seed         int64                     `json:"seed"`
	Scramble     *bool                     `json:"scramble"`
	Optimization *string                   `json:"optimization"`
	Dimensions   []SampleDimensionDocument `json:"dimensions"`
	Mapped       [][]any                   `json:"samples_mapped"`
}

// SampleDimensionDocument is a range, or a list of choices.
type SampleDimensionDocument struct {
	Path    string   `json:"path"`
	Lo      *float64 `json:"lo"`
	Hi      *float64 `json:"hi"`
	Scale   *string  `json:"scale"`
	Kind    *string  `json:"kind"`
	Choices *[]any   `json:"choices"`
}

// Object is the design in the shape of sampling_design.json.
func (d *Design) Object() artifact.Object {
	out := DesignDocument{Type: d.Type, Samples: d.Samples, Seed: d.Seed, Scramble: d.Scramble, Mapped: d.Mapped}
	if d.Optimization != "" {
		out.Optimization = &d.Optimization
	}
	for _, dim := range d.Dimensions {
		one := SampleDimensionDocument{Path: dim.Path}
		if dim.Choices != nil {
			one.Choices = &dim.Choices
		} else {
			one.Lo, one.Hi, one.Scale, one.Kind = &dim.Lo, &dim.Hi, new("linear"), new("real")
			if dim.Log {
				one.Scale = new("log")
			}
			if dim.Int {
				one.Kind = new("int")
			}
		}
		out.Dimensions = append(out.Dimensions, one)
	}
	return artifact.ObjectOf(out)
}

// At returns the value of the dimension at a coordinate in [0, 1).
func (d *Dimension) At(u float64) any {
	if d.Choices != nil {
		return d.Choices[min(int(u*float64(len(d.Choices))), len(d.Choices)-1)]
	}
	v := search.Dimension{Lo: d.Lo, Hi: d.Hi, LogUniform: d.Log, Int: d.Int}.At(u)
	if d.Int {
		return int64(v)
	}
	return v
}

// sobol makes a variation of each point of a Sobol sequence.
func (x *expansion) sobol(block *document.Node) {
	scramble := !isFalse(block.Get("scramble"))
	d := Design{Scramble: &scramble}
	x.sampled(block, d, func(dimensions, n int, seed uint64) [][]float64 {
		if n&(n-1) != 0 {
			x.warn(block.Get("samples"), "sweep.samples", "a Sobol sequence is balanced at powers of 2, such as %d",
				1<<bits.Len(uint(n)))
		}
		if !scramble {
			x.warn(block.Get("scramble"), "sweep.scramble", "without scrambling the first variation has the lowest "+
				"value of every dimension")
		}
		return random.Sobol(dimensions, n, scramble, seed)
	})
}

// latinHypercube makes a variation of each point of a Latin hypercube sample.
func (x *expansion) latinHypercube(block *document.Node) {
	d := Design{Optimization: words(block.Get("optimization"), "")}
	if d.Optimization == "lloyd" {
		x.fault(block.Get("optimization"), "sweep.optimization", "lloyd is not in this release; use random-cd, or "+
			"leave the key out")
	}
	x.sampled(block, d, func(dimensions, n int, seed uint64) [][]float64 {
		return random.LatinHypercube(dimensions, n, d.Optimization != "", seed)
	})
}

// sampled makes a variation of each of the points.
func (x *expansion) sampled(block *document.Node, d Design,
	points func(dimensions, n int, seed uint64) [][]float64) {
	samples := block.Get("samples")
	d.Type, d.Samples = x.plan.Type, int(samples.Scalar.(int64))
	if d.Samples > MaxVariations {
		x.tooMany(samples, "sweep.samples", "give fewer samples")
	}
	d.Dimensions = x.dimensions(block.Get("dimensions"))
	if len(x.faults) > 0 {
		return
	}
	d.Seed = defaultSeed
	for _, n := range []*document.Node{x.raw.Get("random_seed"), block.Get("seed")} {
		if n != nil && n.Kind == document.Int {
			d.Seed = n.Scalar.(int64)
		}
	}
	parameters := make([]parameter, len(d.Dimensions))
	for i := range d.Dimensions {
		parameters[i] = parameter{destination: d.Dimensions[i].place}
	}
	for i, point := range points(len(d.Dimensions), d.Samples, uint64(d.Seed)) {
		row, cell := make([]any, len(point)), make([]*document.Node, len(point))
		for j, u := range point {
			row[j] = d.Dimensions[j].At(u)
			cell[j] = document.Of(row[j])
			cell[j].Pos = d.Dimensions[j].written.Pos
		}
		d.Mapped = append(d.Mapped, row)
		x.cell(parameters, cell)
		v := &x.plan.Variations[i]
		number := sampleName(d.Type, i)
		if words(block.Get("label_format"), "index") == "index" {
			v.Label = number
		}
		if v.Dir == "" {
			v.Dir = number
		}
	}
	x.plan.Design = &d
}

// dimensions are those of the block, in its order.
func (x *expansion) dimensions(list *document.Node) []Dimension {
	if len(list.Items) > random.MaxDimensions {
		x.fault(list, "sweep.dimensions", "a sweep has at most %d dimensions", random.MaxDimensions)
		return nil
	}
	var all []Dimension
	for i, n := range list.Items {
		at := document.Index("sweep.dimensions", i)
		p, ok := x.place(words(n.Get("path"), ""), n.Get("path"), at+".path")
		if !ok {
			continue
		}
		d := Dimension{Path: p.path, place: p, written: n}
		for _, o := range all {
			x.distinct(p, o.place, n.Get("path"), at+".path", o.Path)
		}
		lo, hasLo := numeric(n.Get("lo"))
		hi, hasHi := numeric(n.Get("hi"))
		choices := n.Get("choices")
		switch {
		case choices != nil && choices.Kind == document.List && n.Get("lo") == nil && n.Get("hi") == nil:
			d.Choices = x.choices(choices, at+".choices")
		case choices != nil && choices.Kind == document.List, !hasLo, !hasHi:
			x.fault(n, at, "needs either lo and hi, or choices")
		default:
			d.Lo, d.Hi = lo, hi
			d.Log = words(n.Get("scale"), "linear") == "log"
			d.Int = words(n.Get("kind"), "real") == "int"
			x.bounds(n, at, d.Lo, d.Hi, d.Log, d.Int)
			if d.Int && !d.Log && hi-lo < 2 {
				x.warn(n, at, "the range from %s to %s holds hardly any whole numbers, so that values repeat",
					n.Get("lo").Written, n.Get("hi").Written)
			}
		}
		all = append(all, d)
	}
	return all
}

// choices are the values of a dimension without a range.
func (x *expansion) choices(list *document.Node, at string) []any {
	var values []any
	for i, n := range list.Items {
		switch {
		case n.Kind == document.List, n.Kind == document.Map:
			x.fault(n, document.Index(at, i), "is %v; it must be a single value", n.Kind)
		case !finite(n):
			x.fault(n, document.Index(at, i), "%s must be a finite number", fault.Shorten(pythonText(n)))
		case slices.Contains(values, n.Any()):
			x.fault(n, document.Index(at, i), "%s is in the list twice", fault.Shorten(pythonText(n)))
		default:
			values = append(values, n.Any())
		}
	}
	return values
}

// bounds checks a range.
func (x *expansion) bounds(n *document.Node, at string, lo, hi float64, log, whole bool) {
	switch {
	case hi <= lo:
		x.fault(n.Get("hi"), at+".hi", "must be above lo, which is %s", n.Get("lo").Written)
	case log && lo <= 0:
		x.fault(n.Get("lo"), at+".lo", "must be above 0 on a logarithmic scale")
	case !artifact.Finite(hi - lo), whole && max(-lo, hi) > 1<<53:
		x.fault(n.Get("hi"), at+".hi", "the range is too wide")
	case whole && math.Ceil(lo) > math.Floor(hi):
		x.fault(n.Get("hi"), at+".hi", "there is no whole number from lo to hi")
	}
}

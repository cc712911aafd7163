package parse

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

// Report notes a fault of a value of a configuration file; path is that of its keys.
type Report func(n *document.Node, path, format string, args ...any)

// The kinds of distribution that are written otherwise than [recipe.Kind] names them.
const (
	mixture = "mixture"
	clamped = "clamped"
)

// shape is a kind of distribution as files write it.
type shape struct {
	kind string
	// keys it has beside type and the limits; needs must be given.
	keys, needs []string
	// limits says that min and max limit what is drawn; those of uniform are its ends, clamped reads its own.
	limits bool
	read   func(*distribution) recipe.Distribution
}

// shapes returns the table of kinds. It is a function because some hold others.
func shapes() []shape {
	one := func(kind recipe.Kind, limits bool, needs, keys []string,
		read func(*distribution) recipe.Distribution) shape {
		return shape{string(kind), append(slices.Clone(needs), keys...), needs, limits, read}
	}
	return []shape{
		one(recipe.Fixed, true, []string{"value"}, nil, func(d *distribution) recipe.Distribution {
			return recipe.Distribution{Value: d.number("value", 0, anything)}
		}),
		one(recipe.Gaussian, true, []string{"mean"}, []string{"stddev"}, func(d *distribution) recipe.Distribution {
			return recipe.Distribution{Mean: d.number("mean", 0, notNegative),
				Stddev: d.number("stddev", 0, notNegative)}
		}),
		one(recipe.LogNormal, true, []string{"mean"}, []string{"median", "sigma"}, (*distribution).logNormal),
		one(recipe.Multimodal, true, []string{"peaks"}, nil, func(d *distribution) recipe.Distribution {
			return recipe.Distribution{Peaks: d.peaks("peaks")}
		}),
		one(recipe.Empirical, true, []string{"points"}, nil, func(d *distribution) recipe.Distribution {
			return recipe.Distribution{Points: d.points()}
		}),
		one(recipe.Uniform, false, []string{"min", "max"}, nil, func(d *distribution) recipe.Distribution {
			return recipe.Distribution{Low: d.number("min", 0, anything), High: d.number("max", 0, anything)}
		}),
		one(recipe.Exponential, true, []string{"mean"}, nil, func(d *distribution) recipe.Distribution {
			return recipe.Distribution{Mean: d.number("mean", 0, positive)}
		}),
		one(recipe.Zipf, true, []string{"alpha"}, []string{"scale", "offset"},
			func(d *distribution) recipe.Distribution {
				return recipe.Distribution{Alpha: d.number("alpha", 2, aboveOne), Scale: d.number("scale", 1, positive),
					Offset: d.number("offset", 0, anything)}
			}),
		one(mixture, true, []string{"components"}, nil, func(d *distribution) recipe.Distribution {
			return recipe.Distribution{Kind: recipe.Multimodal, Peaks: d.peaks("components")}
		}),
		one(clamped, false, []string{"distribution"}, nil, (*distribution).clamped),
	}
}

// inferred are the keys that tell the kind where no type is given, in the order in which they are looked for.
var inferred = []struct {
	key  string
	kind recipe.Kind
}{
	{"peaks", recipe.Multimodal}, {"components", mixture}, {"points", recipe.Empirical}, {"median", recipe.LogNormal},
	{"sigma", recipe.LogNormal}, {"alpha", recipe.Zipf}, {"stddev", recipe.Gaussian}, {"value", recipe.Fixed},
	{"mean", recipe.Gaussian},
}

// SharedDistribution reports whether the original program has a type of distribution too; the keys of those tell them
// apart.
func SharedDistribution(kind string) bool {
	return slices.Contains([]recipe.Kind{recipe.Fixed, recipe.Gaussian, recipe.LogNormal, recipe.Multimodal,
		recipe.Empirical}, recipe.Kind(kind))
}

// Distribution reads a distribution of sizes: a number, or a mapping with the keys of its kind. ok is false if
// anything was reported.
func Distribution(n *document.Node, path string, report Report) (_ recipe.Distribution, ok bool) {
	d := distribution{node: n, path: path, ok: true}
	d.report = func(n *document.Node, path, format string, args ...any) {
		d.ok = false
		report(n, path, format, args...)
	}
	out := d.read()
	return out, d.ok
}

// distribution is a distribution that is being read.
type distribution struct {
	node   *document.Node
	path   string
	report Report
	// extra is a key that belongs to the list which the distribution is part of.
	extra string
	ok    bool
}

// within reads a distribution at another node.
func (d *distribution) within(n *document.Node, path, extra string) recipe.Distribution {
	inner := distribution{node: n, path: path, report: d.report, extra: extra}
	return inner.read()
}

func (d *distribution) read() (out recipe.Distribution) {
	if v, isNumber := d.node.Number(); isNumber {
		d.number("", 0, anything)
		return recipe.Distribution{Kind: recipe.Fixed, Value: v}
	}
	if d.node.Kind != document.Map {
		d.report(d.node, d.path, "is %v; it must be a number, or a mapping such as {mean: 512, stddev: 64}",
			d.node.Kind)
		return out
	}
	s, found := d.shape()
	if !found || !d.checkKeys(s) {
		return out
	}
	if out = s.read(d); out.Kind == "" {
		out.Kind = recipe.Kind(s.kind)
	}
	if s.limits {
		d.limit(&out)
	}
	if out.Kind == recipe.Uniform && out.High < out.Low {
		d.report(d.node.Get("max"), document.Path(d.path, "max"), "must be at least min, %v", out.Low)
	}
	return out
}

// shape finds the kind, which is named or follows from the keys.
func (d *distribution) shape() (shape, bool) {
	all, names := shapes(), []string{}
	for _, s := range all {
		names = append(names, s.kind)
	}
	if n := d.node.Get("type"); n != nil {
		i := slices.Index(names, n.Written)
		if n.Kind != document.Text || i < 0 {
			d.report(n, document.Path(d.path, "type"), "%s is no kind of distribution%s; the kinds are %s",
				fault.Shorten(n.Written), meant(n.Written, names), strings.Join(names, ", "))
			return shape{}, false
		}
		return all[i], true
	}
	for _, by := range inferred {
		if d.node.Get(by.key) != nil {
			return all[slices.Index(names, string(by.kind))], true
		}
	}
	d.report(d.node, d.path, "does not say which distribution it is: give type (%s), or value, mean and stddev, mean "+
		"and median, points, or peaks", strings.Join(names, ", "))
	return shape{}, false
}

// meant is the end of a message about a word that is not known.
func meant(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// checkKeys reports keys that the kind does not have, and those that it lacks.
func (d *distribution) checkKeys(s shape) bool {
	known := append([]string{"type", "min", "max"}, s.keys...)
	good := true
	for _, m := range d.node.Members {
		if !slices.Contains(known, m.Key) && m.Key != d.extra {
			d.report(&document.Node{Pos: m.Pos, Origin: m.Value.Origin}, document.Path(d.path, m.Key),
				"is no key of a distribution of type %s%s; its keys are %s", s.kind, meant(m.Key, known),
				strings.Join(known[1:], ", "))
			good = false
		}
	}
	for _, key := range s.needs {
		if d.node.Get(key) == nil {
			d.report(d.node, document.Path(d.path, key), "is missing: a distribution of type %s needs it", s.kind)
			good = false
		}
	}
	return good
}

// bound is a condition of a number, and its words.
type bound struct {
	holds func(float64) bool
	text  string
	// clamps is set for what limits a draw, and may be as far away as it likes.
	clamps bool
}

var (
	anything    = bound{holds: func(float64) bool { return true }, text: "a finite number"}
	notNegative = bound{holds: func(v float64) bool { return v >= 0 }, text: "a number of at least 0"}
	positive    = bound{holds: func(v float64) bool { return v > 0 }, text: "a number above 0"}
	aboveOne    = bound{holds: func(v float64) bool { return v > 1 }, text: "a number above 1"}
	clamping    = bound{holds: anything.holds, text: anything.text, clamps: true}
)

// number reads a member, or the node itself for the key "".
func (d *distribution) number(key string, otherwise float64, b bound) float64 {
	n, path := d.node, d.path
	if key != "" {
		if n = n.Get(key); n == nil {
			return otherwise
		}
		path = document.Path(path, key)
	}
	v, isNumber := n.Number()
	if !isNumber || math.IsNaN(v) || math.IsInf(v, 0) || !b.holds(v) {
		d.report(n, path, "must be %s, not %s", b.text, cmp.Or(fault.Shorten(n.Written), n.Kind.String()))
		return otherwise
	}
	if v > option.MaxSize && key != "weight" && !b.clamps {
		d.report(n, path, "must be at most %d, not %s", option.MaxSize, fault.Shorten(n.Written))
	}
	return v
}

// limit reads min and max.
func (d *distribution) limit(out *recipe.Distribution) {
	for _, end := range []struct {
		key  string
		into **float64
	}{{"min", &out.Min}, {"max", &out.Max}} {
		if d.node.Get(end.key) != nil {
			v := d.number(end.key, 0, clamping)
			*end.into = &v
		}
	}
	if out.Min != nil && out.Max != nil && *out.Min > *out.Max {
		d.report(d.node.Get("max"), document.Path(d.path, "max"), "must be at least min, %v", *out.Min)
	}
}

// logNormal reads a mean with the median, or with sigma, the standard deviation of the logarithm.
func (d *distribution) logNormal() recipe.Distribution {
	out := recipe.Distribution{Mean: d.number("mean", 1, positive)}
	median, sigma := d.node.Get("median"), d.node.Get("sigma")
	switch {
	case (median == nil) == (sigma == nil):
		d.report(d.node, d.path, "needs either median or sigma, the standard deviation of the logarithm")
	case median != nil:
		out.Median = d.number("median", out.Mean, positive)
		if out.Median > out.Mean {
			d.report(median, document.Path(d.path, "median"), "must be at most the mean, %v", out.Mean)
		}
	default:
		s := d.number("sigma", 0, notNegative)
		out.Median = out.Mean * math.Exp(-s*s/2)
		if out.Median == 0 {
			d.report(sigma, document.Path(d.path, "sigma"), "is too large: the median would be 0")
		}
	}
	return out
}

// peaks reads the parts of a mixture.
func (d *distribution) peaks(key string) (peaks []recipe.Peak) {
	list, path := d.node.Get(key), document.Path(d.path, key)
	if list.Kind != document.List || len(list.Items) < 2 {
		d.report(list, path, "must be a list of at least two distributions, each with a weight")
		return nil
	}
	sum := 0.0
	for i, item := range list.Items {
		part := distribution{node: item, path: document.Index(path, i), report: d.report}
		p := recipe.Peak{Weight: 1}
		if item.Kind == document.Map {
			p.Weight = part.number("weight", 1, notNegative)
		}
		if inner := item.Get("distribution"); inner != nil && item.Get("type") == nil {
			part.only("distribution", "weight")
			p.Distribution = d.within(inner, document.Path(part.path, "distribution"), "")
		} else {
			p.Distribution = d.within(item, part.path, "weight")
		}
		sum += p.Weight
		peaks = append(peaks, p)
	}
	if sum == 0 {
		d.report(list, path, "must have a weight above 0")
	}
	return peaks
}

// points reads the values of an empirical distribution.
func (d *distribution) points() (points []recipe.Point) {
	list, path := d.node.Get("points"), document.Path(d.path, "points")
	if list.Kind != document.List || len(list.Items) == 0 {
		d.report(list, path, "must be a list of at least one value, such as {value: 128, weight: 2}")
		return nil
	}
	for i, item := range list.Items {
		part := distribution{node: item, path: document.Index(path, i), report: d.report}
		if item.Kind != document.Map || item.Get("value") == nil {
			d.report(item, part.path, "must be a mapping of value and weight")
			continue
		}
		part.only("value", "weight")
		points = append(points, recipe.Point{Value: part.number("value", 0, anything),
			Weight: part.number("weight", 1, positive)})
	}
	return points
}

// only reports keys other than those.
func (d *distribution) only(known ...string) {
	for _, m := range d.node.Members {
		if !slices.Contains(known, m.Key) {
			d.report(&document.Node{Pos: m.Pos, Origin: m.Value.Origin}, document.Path(d.path, m.Key),
				"is not known here%s; the keys are %s", meant(m.Key, known), strings.Join(known, ", "))
		}
	}
}

// clamped reads a distribution with limits around it; those that it has itself come first.
func (d *distribution) clamped() recipe.Distribution {
	if d.node.Get("min") == nil && d.node.Get("max") == nil {
		d.report(d.node, d.path, "needs min or max")
	}
	inner := d.within(d.node.Get("distribution"), document.Path(d.path, "distribution"), "")
	var outer recipe.Distribution
	d.limit(&outer)
	for _, end := range []struct{ inner, outer **float64 }{{&inner.Min, &outer.Min}, {&inner.Max, &outer.Max}} {
		switch {
		case *end.inner == nil:
			*end.inner = *end.outer
		case outer.Min != nil && **end.inner < *outer.Min:
			*end.inner = outer.Min
		case outer.Max != nil && **end.inner > *outer.Max:
			*end.inner = outer.Max
		}
	}
	return inner
}

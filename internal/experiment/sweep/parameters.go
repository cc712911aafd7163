package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
)

// parameter is a place with the values that it takes.
type parameter struct {
	destination
	written *document.Member
	values  []*document.Node
}

// grid makes a variation of every combination.
func (x *expansion) grid(block *document.Node) {
	parameters := x.parameters(block)
	count := 1
	for _, p := range parameters {
		for i, v := range p.values {
			if j := slices.IndexFunc(p.values[:i], func(o *document.Node) bool { return repr(o) == repr(v) }); j >= 0 {
				x.fault(v, document.Index(document.Path("sweep.parameters", p.written.Key), i),
					"%s is in the list twice; use multi_run.num_runs to repeat a value", fault.Shorten(pythonText(v)))
			}
		}
		if count = min(count*len(p.values), MaxVariations+1); count > MaxVariations {
			x.tooMany(p.written.Value, "sweep.parameters", "the lists combine to more")
			return
		}
	}
	if len(x.faults) > 0 {
		return
	}
	for k := range count {
		cell := make([]*document.Node, len(parameters))
		for i, rest := len(parameters)-1, k; i >= 0; i-- {
			n := len(parameters[i].values)
			cell[i] = parameters[i].values[rest%n]
			rest /= n
		}
		x.cell(parameters, cell)
	}
}

// zip makes a variation of the first values, one of the second, and so on.
func (x *expansion) zip(block *document.Node) {
	parameters := x.parameters(block)
	if len(x.faults) > 0 {
		return
	}
	count := len(parameters[0].values)
	for _, p := range parameters {
		if len(p.values) != count {
			var lengths []string
			for _, p := range parameters {
				lengths = append(lengths, fmt.Sprintf("%s: %d", p.path, len(p.values)))
			}
			x.fault(block, "sweep.parameters", "zip needs lists of equal length, not %s", strings.Join(lengths, ", "))
			return
		}
	}
	if count > MaxVariations {
		x.tooMany(parameters[0].written.Value, "sweep.parameters", "the lists are longer")
		return
	}
	for k := range count {
		cell := make([]*document.Node, len(parameters))
		for i, p := range parameters {
			cell[i] = p.values[k]
		}
		x.cell(parameters, cell)
	}
}

func (x *expansion) tooMany(n *document.Node, path, what string) {
	x.fault(n, path, "a sweep has at most %d variations; %s", MaxVariations, what)
}

// parameters are those of the block in the order of their paths, which is that of the axes: the last varies fastest.
func (x *expansion) parameters(block *document.Node) []parameter {
	written := block.Get("parameters")
	if len(written.Members) == 0 {
		x.fault(written, "sweep.parameters", "must have at least one path with a list of values")
	}
	var all []parameter
	for i := range written.Members {
		m := &written.Members[i]
		at := document.Path("sweep.parameters", m.Key)
		if wrong := aList(m.Value); wrong != "" {
			x.fault(m.Value, at, "%s %s", shown(m.Value), wrong)
			continue
		}
		for j, v := range m.Value.Items {
			if !finite(v) {
				x.fault(v, document.Index(at, j), "%s must be a finite number", fault.Shorten(pythonText(v)))
			}
		}
		if p, ok := x.place(m.Key, &document.Node{Pos: m.Pos, Origin: m.Value.Origin}, at); ok {
			all = append(all, parameter{destination: p, written: m, values: m.Value.Items})
		}
	}
	slices.SortStableFunc(all, func(a, b parameter) int { return strings.Compare(a.path, b.path) })
	for i, p := range all {
		for _, o := range all[:i] {
			x.distinct(p.destination, o.destination, &document.Node{Pos: p.written.Pos},
				document.Path("sweep.parameters", p.written.Key), o.written.Key)
		}
	}
	return all
}

// place finds the place of a path, or reports at n why there is none.
func (x *expansion) place(path string, n *document.Node, at string) (destination, bool) {
	p, err := x.find(path)
	if err == nil && artifact.IsSensitiveName(leaf(p.path)) {
		err = errors.New("is a secret, and the values of a sweep name folders and results; use a sweep of scenarios")
	}
	if err != nil {
		x.fault(n, at, "%v", err)
	}
	return p, err == nil
}

// distinct reports two paths of which one sets what the other does.
func (x *expansion) distinct(p, other destination, n *document.Node, at, otherPath string) {
	switch {
	case slices.Equal(p.steps, other.steps):
		x.fault(n, at, "sets the same field as %s: %s; keep one of them", fault.Shorten(otherPath), p.path)
	case overlap(p.steps, other.steps):
		x.fault(n, at, "overlaps with %s: one sets what the other sets a part of; keep one of them",
			fault.Shorten(otherPath))
	}
}

// cell adds a variation that gives each place a value.
func (x *expansion) cell(parameters []parameter, values []*document.Node) {
	v := Variation{base: x.raw}
	for i, p := range parameters {
		v.Values = append(v.Values, artifact.Member{Key: p.path, Value: values[i].Any()})
		v.sets = append(v.sets, assignment{p.path, p.steps, x.shaped(p.destination, values[i])})
	}
	v.Label = label(v.Values)
	v.Dir = folder(v.Values, v.Label)
	x.plan.Variations = append(x.plan.Variations, v)
}

// shaped writes the short form of a value out, as that of the file is.
func (x *expansion) shaped(p destination, v *document.Node) *document.Node {
	switch p.path {
	case "models":
		return models(v)
	case "endpoint.urls":
		return listOf(v)
	}
	return v
}

// finite reports whether all numbers of a value are.
func finite(n *document.Node) bool {
	if f, ok := n.Scalar.(float64); ok && !artifact.Finite(f) {
		return false
	}
	return !slices.ContainsFunc(n.Items, func(i *document.Node) bool { return !finite(i) }) &&
		!slices.ContainsFunc(n.Members, func(m document.Member) bool { return !finite(m.Value) })
}

package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// sweepType is a type of sweep: its own keys, and what it expands to.
type sweepType struct {
	keys   []key
	expand func(*expansion, *document.Node)
}

// sweepTypes are the types of sweeps by name.
func sweepTypes() map[string]sweepType {
	parameters := key{name: "parameters", check: aMap, required: true}
	sampling := []key{
		{name: "samples", check: whole(option.Between(2, 1<<20)), required: true},
		{name: "seed", check: whole(option.AtLeast(0))},
		{name: "dimensions", check: aList, required: true, fields: []key{
			{name: "path", check: text, required: true},
			{name: "lo", check: number(option.Limits{})}, {name: "hi", check: number(option.Limits{})},
			{name: "scale", check: oneOf("linear", "log")}, {name: "kind", check: oneOf("real", "int", "float")},
			{name: "choices", check: aList},
		}},
		{name: "label_format", check: oneOf("index", "kv")},
	}
	return map[string]sweepType{
		Grid: {[]key{parameters}, (*expansion).grid},
		Zip:  {[]key{parameters}, (*expansion).zip},
		Scenarios: {[]key{{name: "runs", check: aList, required: true, fields: []key{
			{name: "name", check: text}, {name: "benchmark", check: aMap}, {name: "variables", check: aMap},
			{name: "values", check: aMap},
		}}}, (*expansion).scenarios},
		Sobol: {append(slices.Clone(sampling), key{name: "scramble", check: boolean}), (*expansion).sobol},
		LatinHypercube: {append(slices.Clone(sampling), key{name: "optimization", check: oneOf("random-cd", "lloyd")}),
			(*expansion).latinHypercube},
		AdaptiveSearch: {searchKeys(), (*expansion).search},
	}
}

func typeNames() []string {
	return []string{Grid, Zip, Scenarios, Sobol, LatinHypercube, AdaptiveSearch}
}

// key is a key of the block: what its value may be.
type key struct {
	name     string
	required bool
	// check says what a value should be, "" if it is that.
	check func(*document.Node) string
	// fields are the keys of a mapping, or of the mappings of a list.
	fields []key
}

// common are the keys of all types.
func common(t *option.Tree) []key {
	return []key{
		{name: "type", check: text},
		{name: "cooldown_seconds", check: byOption(&t.ParameterSweepCooldownSeconds)},
		{name: "iteration_order", check: byOption(&t.ParameterSweepMode)},
		{name: "same_seed", check: boolean},
		{name: "sla_filters", check: aList, fields: filterKeys},
		{name: "post_process", check: aMap, fields: []key{
			{name: "handler", check: text, required: true}, {name: "params", check: aMap},
			{name: "output_filename", check: jsonFile, required: true},
		}},
		{name: "recipe_name", check: text},
	}
}

// stats are the statistics that a condition may name.
var stats = []string{"avg", "min", "max", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"}

// Stats returns the statistics that a condition may name.
func Stats() []string { return slices.Clone(stats) }

var filterKeys = []key{
	{name: "metric_tag", check: text, required: true}, {name: "stat", check: oneOf(stats...)},
	{name: "op", check: oneOf("lt", "le", "gt", "ge"), required: true},
	{name: "threshold", check: number(option.Limits{}), required: true},
}

// keys reports unknown keys of a mapping, missing ones, and values that do not fit.
func (x *expansion) keys(n *document.Node, path string, keys []key) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	for _, m := range n.Members {
		i := slices.Index(names, m.Key)
		below := document.Path(path, m.Key)
		if i < 0 {
			hint := "known are " + strings.Join(names, ", ")
			if near := suggest.Nearest(m.Key, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			x.fault(&document.Node{Pos: m.Pos, Origin: m.Value.Origin}, below, "unknown key; %s", hint)
			continue
		}
		k := keys[i]
		if m.Value.Kind == document.Null && !k.required {
			continue
		}
		if wrong := k.check(m.Value); wrong != "" {
			x.fault(m.Value, below, "%s %s", shown(m.Value), wrong)
			continue
		}
		switch {
		case k.fields == nil:
		case m.Value.Kind == document.List:
			for j, item := range m.Value.Items {
				at := document.Index(below, j)
				if item.Kind != document.Map {
					x.fault(item, at, "is %v; it must be a mapping", item.Kind)
					continue
				}
				x.keys(item, at, k.fields)
			}
		default:
			x.keys(m.Value, below, k.fields)
		}
	}
	for _, k := range keys {
		if k.required && n.Member(k.name) == nil {
			x.fault(n, path, "the key %s is missing", k.name)
		}
	}
}

// shown is how messages write a value.
func shown(n *document.Node) string {
	if n.Kind == document.List || n.Kind == document.Map {
		return "is " + n.Kind.String() + "; it"
	}
	return fault.Shorten(n.Written)
}

func text(n *document.Node) string {
	if s, ok := n.Scalar.(string); !ok || strings.TrimSpace(s) == "" {
		return "must be a text"
	}
	return ""
}

func jsonFile(n *document.Node) string {
	s, _ := n.Scalar.(string)
	if !strings.HasSuffix(s, ".json") || strings.ContainsAny(s, `/\`) || s == ".json" {
		return "must be the name of a file that ends in .json"
	}
	return ""
}

func boolean(n *document.Node) string {
	if n.Kind == document.Bool {
		return ""
	}
	if n.Kind == document.Text {
		if _, err := scalar.Bool(n.Scalar.(string)); err == nil {
			return ""
		}
	}
	return "must be true or false"
}

func aList(n *document.Node) string {
	if n.Kind != document.List || len(n.Items) == 0 {
		return "must be a list with at least one item"
	}
	return ""
}

func aMap(n *document.Node) string {
	if n.Kind != document.Map {
		return "must be a mapping"
	}
	return ""
}

func oneOf(values ...string) func(*document.Node) string {
	return func(n *document.Node) string {
		s, ok := n.Scalar.(string)
		if ok && slices.Contains(values, s) {
			return ""
		}
		return suggest.OneOf(s, values)
	}
}

func whole(l option.Limits) func(*document.Node) string {
	return func(n *document.Node) string {
		if v, ok := n.Scalar.(int64); ok && l.Contains(float64(v)) {
			return ""
		}
		return "must be a whole number" + inRange(l)
	}
}

func number(l option.Limits) func(*document.Node) string {
	return func(n *document.Node) string {
		if v, ok := numeric(n); ok && artifact.Finite(v) && l.Contains(v) {
			return ""
		}
		return "must be a finite number" + inRange(l)
	}
}

func inRange(l option.Limits) string {
	if r := l.String(); r != "" {
		return ", " + r
	}
	return ""
}

// byOption checks a scalar with the grammar of an option.
func byOption(of option.Field) func(*document.Node) string {
	return func(n *document.Node) string {
		if n.Kind == document.List || n.Kind == document.Map {
			return "must be a single value"
		}
		if _, _, err := of.Row().Parse([]string{n.Written}); err != nil {
			return err.Error()
		}
		return ""
	}
}

// numeric is the value of a number.
func numeric(n *document.Node) (float64, bool) {
	if n == nil {
		return math.NaN(), false
	}
	switch v := n.Scalar.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return math.NaN(), false
}

// words is the text of a scalar, or def.
func words(n *document.Node, def string) string {
	if n != nil {
		if s, ok := n.Scalar.(string); ok {
			return s
		}
	}
	return def
}

// isTrue reports whether a switch is on.
func isTrue(n *document.Node) bool {
	if n == nil {
		return false
	}
	on, _ := n.Scalar.(bool)
	if n.Kind == document.Text {
		on, _ = scalar.Bool(n.Scalar.(string))
	}
	return on
}

// isFalse reports whether a switch is written as off.
func isFalse(n *document.Node) bool { return n != nil && n.Kind != document.Null && !isTrue(n) }

// phaseName is the name of a phase, and whether the phase is measured.
func phaseName(phase *document.Node) (name string, profiling bool) {
	name = words(phase.Get("name"), "")
	return name, words(phase.Get("kind"), name) == "profiling"
}

func quoted(names []string) string { return fmt.Sprintf("'%s'", strings.Join(names, "', '")) }

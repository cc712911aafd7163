package parse

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/load"
)

// The keys of a phase that are no numbers of the table below.
const (
	keyAdaptive = "adaptive_scale"
	keySLA      = "sla"
)

// adaptiveKey is one setting of the search.
type adaptiveKey struct {
	// flat is the key on the phase, nested are those in the block: the first one is what messages name.
	flat   string
	nested []string
	set    func(*load.Adaptive, *adaptiveValue)
}

// adaptiveKeys are the settings of the search besides its switch and its limits.
var adaptiveKeys = []adaptiveKey{
	{"adaptive_control_variable", []string{"control.variable", "control_variable"},
		func(a *load.Adaptive, v *adaptiveValue) { a.Variable = load.Variable(v.oneOf(load.VariableNames())) }},
	{"adaptive_control_min", []string{"control.min", "control_min", "min_concurrency"},
		func(a *load.Adaptive, v *adaptiveValue) { a.Min = v.above(0) }},
	{"adaptive_control_max", []string{"control.max", "control_max", "max_concurrency"},
		func(a *load.Adaptive, v *adaptiveValue) { a.Max = v.above(0) }},
	{"adaptive_assessment_period", []string{"window", "assessment_period"}, func(a *load.Adaptive, v *adaptiveValue) {
		a.Period = v.duration()
		if a.Period != 0 && a.Period < time.Second {
			v.fault("must be at least 1 second, got %s", v.node.Written)
		}
	}},
	{"adaptive_min_completed_requests", []string{"min_completed_requests"}, func(a *load.Adaptive, v *adaptiveValue) {
		a.MinCompleted = int64(v.whole())
	}},
	{"adaptive_sustain_duration", []string{"sustain_duration"},
		func(a *load.Adaptive, v *adaptiveValue) { a.Sustain = v.duration() }},
	{"adaptive_scale_strategy_type", []string{"strategy.type"}, func(_ *load.Adaptive, v *adaptiveValue) {
		v.oneOf([]string{load.StrategyRampUntilFail})
	}},
	{"adaptive_scale_step_policy", []string{"strategy.step_policy"}, func(a *load.Adaptive, v *adaptiveValue) {
		a.Policy = load.StepPolicy(v.oneOf(load.StepPolicyNames()))
	}},
	{"adaptive_scale_base_step", []string{"strategy.base_step"},
		func(a *load.Adaptive, v *adaptiveValue) { a.BaseStep = v.whole() }},
	{"adaptive_scale_max_step_multiplier", []string{"strategy.max_step_multiplier"},
		func(a *load.Adaptive, v *adaptiveValue) { a.MaxMultiplier = v.whole() }},
	{"adaptive_scale_step_percent", []string{"strategy.step_percent"},
		func(a *load.Adaptive, v *adaptiveValue) { a.StepPercent = v.above(0) }},
}

// AdaptiveKeys returns the keys of a phase that belong to the search.
func AdaptiveKeys() []string {
	list := []string{keyAdaptive, keySLA}
	for _, k := range adaptiveKeys {
		list = append(list, k.flat)
	}
	return list
}

// Adaptive returns the search that a phase asks for, nil where it asks for none: then its other keys about a search
// have no effect. The phase is a map at path. After a fault the result is incomplete.
func Adaptive(phase *document.Node, path string, report Report) *load.Adaptive {
	block := phase.Get(keyAdaptive)
	if block == nil || block.Kind == document.Null {
		return nil
	}
	r := &adaptiveReader{report: report, path: path, blockPath: document.Path(path, keyAdaptive)}
	switch block.Kind {
	case document.Map:
		r.block = block
		r.checkKeys()
		if n := block.Get("enabled"); n != nil && !r.enabled(n, document.Path(r.blockPath, "enabled")) {
			return nil
		}
	case document.List:
		report(block, r.blockPath, "must be true, false or a mapping, got a list")
		return nil
	default:
		if !r.enabled(block, r.blockPath) {
			return nil
		}
	}
	a := &load.Adaptive{}
	for _, k := range adaptiveKeys {
		if v := r.find(phase, k); v != nil {
			k.set(a, v)
		}
	}
	a.SLA = r.limits(phase)
	return a
}

// adaptiveReader reads one phase. The block is nil if there is only a switch.
type adaptiveReader struct {
	report          Report
	block           *document.Node
	path, blockPath string
}

// enabled reads a switch.
func (r *adaptiveReader) enabled(n *document.Node, path string) bool {
	if b, ok := n.Scalar.(bool); ok {
		return b
	}
	b, err := scalar.Bool(n.Written)
	if err != nil {
		r.report(n, path, "%v", err)
	}
	return b
}

// checkKeys reports unknown keys of the block and of the maps in it.
func (r *adaptiveReader) checkKeys() {
	known := map[string][]string{"": {"enabled", keySLA}}
	for _, k := range adaptiveKeys {
		for _, name := range k.nested {
			group, inner, nested := strings.Cut(name, ".")
			if !nested {
				known[""] = append(known[""], name)
				continue
			}
			if known[group] == nil {
				known[""] = append(known[""], group)
			}
			known[group] = append(known[group], inner)
		}
	}
	r.checkMembers(r.block, r.blockPath, known[""])
	for _, group := range []string{"control", "strategy"} {
		n, path := r.block.Get(group), document.Path(r.blockPath, group)
		if n != nil && n.Kind != document.Map {
			r.report(n, path, "must be a mapping with the keys %s", listed(known[group]))
			continue
		}
		r.checkMembers(n, path, known[group])
	}
}

func (r *adaptiveReader) checkMembers(n *document.Node, path string, known []string) {
	if n == nil {
		return
	}
	for _, m := range n.Members {
		if slices.Contains(known, m.Key) {
			continue
		}
		at := *m.Value
		at.Pos = m.Pos
		if near := suggest.Nearest(m.Key, known); near != "" {
			r.report(&at, document.Path(path, m.Key), "unknown key %q; did you mean %q? The keys are %s", m.Key, near,
				listed(known))
		} else {
			r.report(&at, document.Path(path, m.Key), "unknown key %q; the keys are %s", m.Key, listed(known))
		}
	}
}

func listed(words []string) string {
	words = slices.Sorted(slices.Values(words))
	return strings.Join(words, ", ")
}

// find returns the value of a setting, nil without one. Given in two ways it must be the same.
func (r *adaptiveReader) find(phase *document.Node, k adaptiveKey) (found *adaptiveValue) {
	for i, name := range append([]string{k.flat}, k.nested...) {
		n, path := phase.Get(name), document.Path(r.path, name)
		if i > 0 {
			n, path = r.inBlock(name), document.Path(r.blockPath, name)
		}
		switch {
		case n == nil || n.Kind == document.Null:
		case found == nil:
			found = &adaptiveValue{r, n, path}
		case found.node.Written != n.Written:
			r.report(n, path, "is %s, but %s, which is the same setting, is %s: give one of them", n.Written,
				found.path, found.node.Written)
		}
	}
	return found
}

// inBlock returns the value of a key of the block; a dot leads into a map.
func (r *adaptiveReader) inBlock(name string) *document.Node {
	group, inner, nested := strings.Cut(name, ".")
	n := r.block.Get(group)
	if nested {
		n = n.Get(inner)
	}
	return n
}

// adaptiveValue is a node that is about to be read.
type adaptiveValue struct {
	r    *adaptiveReader
	node *document.Node
	path string
}

func (v *adaptiveValue) fault(format string, args ...any) {
	v.r.report(v.node, v.path, format, args...)
}

// number returns a finite number; ok is false after a fault.
func (v *adaptiveValue) number() (x float64, ok bool) {
	switch x, ok = v.node.Number(); {
	case !ok && v.node.Kind == document.Text:
		v.fault("must be a number, got %q", v.node.Written)
	case !ok:
		v.fault("must be a number, got %s", v.node.Kind)
	case math.IsInf(x, 0) || math.IsNaN(x):
		v.fault("must be a finite number, got %s", v.node.Written)
		return 0, false
	}
	return x, ok
}

// above returns a number above a bound.
func (v *adaptiveValue) above(bound float64) float64 {
	x, ok := v.number()
	if ok && x <= bound {
		v.fault("must be above %v, got %s", bound, v.node.Written)
	}
	return x
}

// whole returns a whole number of at least 1.
func (v *adaptiveValue) whole() float64 {
	x, ok := v.number()
	if ok && (x < 1 || x != math.Trunc(x) || x >= 1<<53) {
		v.fault("must be a whole number of at least 1, got %s", v.node.Written)
	}
	return x
}

// duration returns a time above 0: a number of seconds, or a text with units.
func (v *adaptiveValue) duration() time.Duration {
	var seconds float64
	if text, ok := v.node.Scalar.(string); ok {
		var err error
		if seconds, err = scalar.In(time.Second, text); err != nil {
			v.fault("must be a number of seconds or a time such as 30s or 2m, got %q", text)
			return 0
		}
	} else if seconds, ok = v.number(); !ok {
		return 0
	}
	if !(seconds > 0) || seconds*float64(time.Second) >= math.MaxInt64 {
		v.fault("must be a time above 0 seconds, got %s", v.node.Written)
		return 0
	}
	return max(1, time.Duration(seconds*float64(time.Second)))
}

// oneOf returns the index of a word among those allowed.
func (v *adaptiveValue) oneOf(allowed []string) int {
	text, _ := v.node.Scalar.(string)
	i := slices.Index(allowed, strings.ToLower(text))
	if i < 0 {
		v.fault("must be one of %s, got %s%s", strings.Join(allowed, ", "),
			cmp.Or(v.node.Written, v.node.Kind.String()), meant(strings.ToLower(text), allowed))
	}
	return max(0, i)
}

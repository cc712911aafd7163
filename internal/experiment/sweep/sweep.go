// Package sweep expands the "sweep:" block of a configuration file into variations: the values that each sets, its
// name, its folder, its seed, and the envelope that it is run with.
//
// Vocabulary: a parameter is a path of the file with values; a variation is one configuration of the sweep; its
// envelope is the file with the values of the variation set, templates not rendered yet. Types of sweeps: grid and zip
// (parameters), scenarios (partial configurations), sobol and latin_hypercube (points of a range), adaptive_search
// (points chosen while it goes on, which cannot be expanded).
//
// Invariants: expanding is a pure function of the tree; variations come in a fixed order, with folders that differ in
// more than case; the size of a plan is bounded. The package must never know how a variation is run.
package sweep

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
)

// The types of sweeps; None is a file without one.
const (
	None           = "none"
	Grid           = "grid"
	Zip            = "zip"
	Scenarios      = "scenarios"
	Sobol          = "sobol"
	LatinHypercube = "latin_hypercube"
	AdaptiveSearch = "adaptive_search"
)

// MaxVariations bounds a plan: each variation is at least one run of the benchmark.
const MaxVariations = 10_000

// defaultSeed is the seed of the first variation if the file gives none.
const defaultSeed = 42

// Plan are the variations of a file.
type Plan struct {
	Type string
	// Variations are in the order of the runs; one of the whole file if there is no sweep, none for AdaptiveSearch.
	Variations []Variation
	Warnings   []fault.Warning
	// Design are the points of a sampled sweep, nil for others.
	Design *Design
}

// Variation is one configuration of a sweep.
type Variation struct {
	Index int
	// Dir is the name of the folder, Label that for people and aggregates.
	Dir, Label string
	// Values are the paths with the values that the variation sets; of a scenario what it overrides, or its "values".
	Values artifact.Object
	// Seed is the random seed that the sweep gives the variation, as part of its envelope; nil if it gives none.
	Seed *int64

	base *document.Node
	sets []assignment
}

// Envelope makes the envelope of the variation, without the sweep. The tree is the caller's own.
func (v *Variation) Envelope() *document.Node {
	envelope := v.base.Clone()
	envelope.Delete("sweep")
	for _, s := range v.sets {
		s.apply(envelope)
	}
	if v.Seed != nil {
		seed := document.Of(*v.Seed)
		if written := envelope.Get("random_seed"); written != nil {
			seed.Pos = written.Pos
		}
		envelope.Set("random_seed", seed)
	}
	return envelope
}

// expansion is the work on one file.
type expansion struct {
	file   *document.File
	raw    *document.Node
	faults fault.List
	plan   Plan
}

// Expand expands the sweep of a file. raw is its envelope: names in snake_case, short forms written out, variables of
// the environment put in, templates not rendered. The error is a [fault.List] with places in the file.
func Expand(file *document.File, raw *document.Node) (*Plan, error) {
	x := &expansion{file: file, raw: raw}
	x.lists()
	block := raw.Get("sweep")
	switch {
	case block == nil, block.Kind == document.Null:
		x.plan.Type = None
		x.plan.Variations = []Variation{{Dir: "base", Label: "base", base: raw}}
	case block.Kind != document.Map:
		x.fault(block, "sweep", "is %v; it must be a mapping with the key type", block.Kind)
	default:
		x.block(block)
	}
	if len(x.faults) == 0 {
		x.folders()
		x.seeds()
	}
	if err := x.faults.Err(); err != nil {
		return nil, err
	}
	for i := range x.plan.Variations {
		x.plan.Variations[i].Index = i
	}
	return &x.plan, nil
}

// maxFaults ends the reports: more would not help.
const maxFaults = 20

func (x *expansion) fault(n *document.Node, path, format string, args ...any) {
	if len(x.faults) < maxFaults {
		x.file.FaultOf(&x.faults, n, path, format, args...)
	}
}

func (x *expansion) warn(n *document.Node, path, format string, args ...any) {
	at := x.file.Name
	if n.Pos != (document.Pos{}) {
		at = fmt.Sprintf("%s:%d:%d", at, n.Pos.Line, n.Pos.Column)
	}
	x.plan.Warnings = append(x.plan.Warnings, fault.Warning{
		Level: fault.LevelWarning, Text: at + ": " + path + ": " + fmt.Sprintf(format, args...),
	})
}

// block expands a sweep.
func (x *expansion) block(block *document.Node) {
	kind := block.Get("type")
	if kind == nil {
		x.fault(block, "sweep", "the key type is missing; allowed are %s", strings.Join(typeNames(), ", "))
		return
	}
	name, _ := kind.Scalar.(string)
	sweep, ok := sweepTypes()[name]
	if !ok {
		x.fault(kind, "sweep.type", "%s is not a type of sweep; allowed are %s", fault.Shorten(kind.Written),
			strings.Join(typeNames(), ", "))
		return
	}
	if body := x.raw.Get("benchmark"); body == nil || body.Kind != document.Map {
		x.fault(block, "sweep", "the file has no mapping benchmark that could be varied")
		return
	}
	x.plan.Type = name
	x.keys(block, "sweep", append(append([]key{}, common...), sweep.keys...))
	x.rules(name, block)
	if len(x.faults) == 0 {
		sweep.expand(x, block)
	}
}

// rules are those between a sweep and the rest of the file.
func (x *expansion) rules(kind string, block *document.Node) {
	body := x.raw.Get("benchmark")
	if s := body.Get("scenario"); s != nil && s.Kind != document.Null {
		const text = "scenario %s is one fixed configuration, which a sweep would vary; " +
			"remove the sweep or the scenario"
		if isTrue(body.Get("unsafe_override")) {
			x.warn(s, "benchmark.scenario", text, fault.Shorten(s.Written))
		} else {
			x.fault(s, "benchmark.scenario", text, fault.Shorten(s.Written))
		}
	}
	if ui := body.Get("runtime").Get("ui"); words(ui, "") == "dashboard" {
		x.fault(ui, "benchmark.runtime.ui", "dashboard is not supported for several runs; use simple or none")
	}
	if kind != AdaptiveSearch {
		return
	}
	for i, phase := range items(body.Get("phases")) {
		a := phase.Get("adaptive_scale")
		if isTrue(a) || (a != nil && a.Kind == document.Map && !isFalse(a.Get("enabled"))) {
			x.fault(a, document.Index("benchmark.phases", i)+".adaptive_scale", "a search within a run cannot be part "+
				"of a search over runs (sweep.type: adaptive_search, line %d); keep one of them", block.Pos.Line)
		}
	}
}

// items are those of a list; n may be nil.
func items(n *document.Node) []*document.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// swept are the keys of a phase whose flags take lists.
var swept = []string{"concurrency", "prefill_concurrency", "rate", "requests", "duration", "sessions", "users"}

// lists refuses a list at a key of a phase that holds one number: the file says with "sweep:" what it sweeps.
func (x *expansion) lists() {
	for i, phase := range items(x.raw.Get("benchmark").Get("phases")) {
		name, _ := phaseName(phase)
		for _, key := range swept {
			list := phase.Get(key)
			if list == nil || list.Kind != document.List {
				continue
			}
			values := make([]string, len(list.Items))
			for i, v := range list.Items {
				values[i] = v.Written
			}
			parameter := fmt.Sprintf("%s: [%s]", artifact.RedactURLs("phases."+name+"."+key),
				fault.Shorten(strings.Join(values, ", ")))
			how := fmt.Sprintf("write one number here, and at the top of the file "+
				`"sweep: {type: grid, parameters: {%s}}"`, parameter)
			if s := x.raw.Get("sweep"); s != nil && s.Kind == document.Map {
				how = fmt.Sprintf("write one number here, and %s below sweep.parameters", parameter)
			}
			x.fault(list, document.Index("benchmark.phases", i)+"."+key, "is a list; %s", how)
		}
	}
}

// seeds gives each variation its seed: that of the file, counted up with the variation unless all have the same.
func (x *expansion) seeds() {
	base := int64(defaultSeed)
	switch written := x.raw.Get("random_seed"); {
	case x.plan.Type == None:
		return // the resolver gives repeated runs their seed
	case written != nil && written.Kind == document.Int:
		base = written.Scalar.(int64)
	case written != nil && written.Kind != document.Null:
		return // the reader of the file reports it, or it is a template
	case isFalse(x.raw.Get("multi_run").Get("set_consistent_seed")):
		return
	}
	counted := !isTrue(x.raw.Get("sweep").Get("same_seed"))
	if counted && base > math.MaxInt64-int64(len(x.plan.Variations)) {
		x.fault(x.raw.Get("random_seed"), "random_seed", "is too large: the variations of a sweep count it up; give a "+
			"smaller one, or sweep.same_seed: true")
		return
	}
	for i := range x.plan.Variations {
		seed := base
		if counted {
			seed += int64(i)
		}
		x.plan.Variations[i].Seed = &seed
	}
}

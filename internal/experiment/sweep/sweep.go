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
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/random"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/experiment/search"
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
	// Block is the checked "sweep:" mapping; nil if there is none. The dimensions of a search have their full paths.
	Block *document.Node
	// Independent makes all trials of a variation before the next one.
	Independent bool
	// Cooldown is the pause between variations.
	Cooldown time.Duration
	// Filters are the conditions under which a variation counts as feasible.
	Filters []search.Filter
	// After is what is computed of all variations at the end; nil for nothing.
	After *PostProcess
	// Recipe is the name of the recipe that made the sweep, "" for none.
	Recipe string

	raw  *document.Node
	file *document.File
	// seed is that of the first variation, nil if there is none.
	seed *int64
	// space are the places of an adaptive search, in the order of its dimensions.
	space []destination
}

// PostProcess names a computation over all variations and the file that it writes.
type PostProcess struct {
	Handler, Output string
	Params          artifact.Object
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

	// Serve are the parameters of the server that is started for the variation; nil if the sweep has none.
	Serve artifact.Object

	base *document.Node
	sets []assignment
	// partial is what a scenario merges over the benchmark; nil for others.
	partial *document.Node
	// given are the options that a variant of the command line sets; nil for others.
	given []override
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
	return x.expand()
}

// expand makes the variations of a sweep. Folders and seeds are given only when the block has no fault: they depend on
// all variations. All faults are collected, so that a user sees them at once.
func (x *expansion) expand() (*Plan, error) {
	raw := x.raw
	x.plan.raw, x.plan.file = raw, x.file
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
		x.plan.Block = block
		x.common(block)
		sweep.expand(x, block)
	}
}

// common reads the keys that sweeps of all types have.
func (x *expansion) common(block *document.Node) {
	p := &x.plan
	seconds, _ := numeric(block.Get("cooldown_seconds"))
	if seconds > 0 {
		p.Cooldown = option.Seconds(seconds)
	}
	p.Independent = words(block.Get("iteration_order"), "") == "independent"
	p.Recipe = words(block.Get("recipe_name"), "")
	p.Filters = Filters(block.Get("sla_filters"))
	if after := block.Get("post_process"); after != nil && after.Kind == document.Map {
		p.After = &PostProcess{Handler: words(after.Get("handler"), ""),
			Output: words(after.Get("output_filename"), "")}
		if params := after.Get("params"); params != nil && params.Kind == document.Map {
			p.After.Params = params.Any().(artifact.Object)
		}
	}
}

// Filters reads the conditions of a checked list; nil has none.
func Filters(list *document.Node) (filters []search.Filter) {
	for _, n := range items(list) {
		threshold, _ := numeric(n.Get("threshold"))
		filters = append(filters, search.Filter{Metric: words(n.Get("metric_tag"), ""),
			Stat: words(n.Get("stat"), "avg"), Op: words(n.Get("op"), ""), Threshold: threshold})
	}
	return filters
}

// Point makes the variation of a point of an adaptive search: a value for each dimension. It is named after the
// number of the iteration, from 0.
func (p *Plan) Point(iteration int, values []any) Variation {
	name := fmt.Sprintf("search_iter_%04d", iteration)
	v := Variation{Index: iteration, Dir: name, Label: name, Values: artifact.Object{}, base: p.raw}
	if p.seed != nil {
		seed := *p.seed
		if iteration > 0 {
			seed = int64(random.OfText(fmt.Sprintf("%d:variation:%s", seed, name)))
		}
		v.Seed = &seed
	}
	x := &expansion{file: p.file, raw: p.raw}
	for i, where := range p.space {
		value := document.Of(values[i])
		v.sets = append(v.sets, assignment{path: where.path, steps: where.steps, value: x.shaped(where, value)})
		v.Values = append(v.Values, artifact.Member{Key: where.path, Value: values[i]})
	}
	return v
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
	x.plan.seed = &base
	// Trials with seeds of their own derive them of the same one for all variations.
	counted := !isTrue(x.raw.Get("sweep").Get("same_seed")) && !isTrue(x.raw.Get("multi_run").Get("vary_seed_per_trial"))
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

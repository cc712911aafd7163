// Package recipe makes the "sweep:" of a configuration file of the flags that ask for a search: --search-space and its
// companions, or a recipe by its name.
//
// Vocabulary: a recipe is a named question with its sweep, conditions and axes; the service levels are the flags
// --ttft-sla-ms to --error-rate-sla, which stand for conditions.
//
// Invariants: what flags ask for is always written as a block, so that the reader of the block is the only one; a flag
// that would have no effect is refused by name. The package never knows how a sweep is run.
//
// It also computes documents of all cells of a sweep: where a metric degrades, where conditions break, fitted
// curves, the Pareto front over shapes.
//
// Vocabulary: a [Cell] is a configuration with its figures; a handler makes a document of all cells, as the key
// "post_process" of a sweep names it.
//
// Invariants: a document depends on the cells alone, not on their order. A handler that fails leaves the results of the
// sweep as they are: [Write] then writes why.
package recipe

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/measure/metrics"
)

// Asked is what flags ask for.
type Asked struct {
	// Block is the mapping of the key "sweep:". Its values name the flags that they come from.
	Block *document.Node
	// Curve asks for a plot of the result.
	Curve    bool
	Warnings []string

	// streaming says which flag needs a run that streams; empty if none does.
	streaming string
	// goodput are the limits of requests that count as good, as --goodput takes them.
	goodput string
	// recipe is the name of the recipe, empty without one.
	recipe string
	// taken are the options whose lists of values are in the block.
	taken []*option.Option
}

// searchFlags are the options of a search.
func searchFlags(p *option.Tree) []option.Field {
	return []option.Field{&p.SearchMetric, &p.SearchStat, &p.SearchDirection, &p.SearchMaxIterations,
		&p.SearchInitialPoints, &p.SearchRandomSeed, &p.SearchPlanner, &p.SearchSLA, &p.SearchSLATier,
		&p.SearchPercentilePooling, &p.OptunaSampler, &p.OptunaAcquisition, &p.OptunaTerminator, &p.BOConstraintMode}
}

// recipeFlags are those of recipes alone.
func recipeFlags(p *option.Tree) []option.Field {
	return []option.Field{&p.TTFTSLAMS, &p.ITLSLAMS, &p.TPOTSLAMS, &p.E2ESLAMS, &p.ErrorRateSLA,
		&p.SLOAttainmentFraction, &p.ISLOSLPairs, &p.SearchStyle, &p.DegradationThreshold, &p.DegradationMetricTag,
		&p.DegradationStat, &p.ISLMin, &p.ISLMax, &p.ISLSteps, &p.ConcurrencyMin, &p.ConcurrencyMax,
		&p.ConcurrencySteps, &p.OSLMin, &p.OSLMax, &p.OSLSteps}
}

// FromFlags returns what the flags ask for, nil if no flag asks for a search. The error is a [fault.List].
func FromFlags(p *settings.Settings) (*Asked, error) {
	b := &builder{p: p}
	switch space, name := p.SearchSpace.Given(), p.SearchRecipe.Given(); {
	case space && name:
		b.fault("%s and %s are mutually exclusive: a recipe has its own dimensions", p.SearchSpace.Flag(),
			p.SearchRecipe.Flag())
	case name:
		b.recipe()
	case space:
		b.space()
	default:
		if given := b.given(searchFlags(&p.Tree)...); len(given) > 0 {
			b.fault("%s: no effect without --search-space or --search-recipe", strings.Join(given, ", "))
		}
		if given := b.given(recipeFlags(&p.Tree)...); len(given) > 0 {
			b.fault("%s: no effect without --search-recipe", strings.Join(given, ", "))
		}
		return nil, b.faults.Err()
	}
	if err := b.faults.Err(); err != nil {
		return nil, err
	}
	return &b.asked, nil
}

// Check names what the runs lack, whose settings are p.
func (a *Asked) Check(p *settings.Settings) error {
	if a.streaming != "" && !p.Streaming.Get() {
		return fmt.Errorf("%s needs the times of tokens, which only streams have; add --streaming", a.streaming)
	}
	return nil
}

// Settings returns p, the flags of a command line, with what the recipe sets.
func (a *Asked) Settings(p *settings.Settings) *settings.Settings {
	own := p
	if a.goodput != "" || len(a.taken) > 0 {
		own = p.Copy()
	}
	for _, o := range a.taken {
		own.Field(o).Unset()
	}
	if a.goodput == "" {
		return own
	}
	from := p.Goodput.Origin()
	if from.Source == option.FromDefault {
		from = option.Origin{Source: option.FromFlag, Name: "--search-recipe " + a.recipe}
	}
	own.Goodput.Put(strings.TrimSpace(p.Goodput.Get()+" "+a.goodput), from) // later limits replace earlier ones
	return own
}

// builder makes a block.
type builder struct {
	p      *settings.Settings
	asked  Asked
	faults fault.List
}

func (b *builder) fault(format string, args ...any) { b.faults.Add("", format, args...) }

func (b *builder) warn(format string, args ...any) {
	b.asked.Warnings = append(b.asked.Warnings, fmt.Sprintf(format, args...))
}

// given returns those of the options that were given, as they were typed.
func (b *builder) given(options ...option.Field) (list []string) {
	for _, o := range options {
		if o.Given() {
			list = append(list, o.Flag())
		}
	}
	return list
}

// of makes a node of a value that comes from an option.
func (b *builder) of(o option.Field, v any) *document.Node {
	n := document.Of(v)
	mark(n, o.Flag())
	return n
}

// mark gives a tree its origin.
func mark(n *document.Node, origin string) {
	n.Origin = origin
	for _, item := range n.Items {
		mark(item, origin)
	}
	for _, m := range n.Members {
		mark(m.Value, origin)
	}
}

// set puts a key into the block.
func (b *builder) set(key string, n *document.Node) { b.asked.Block.Set(key, n) }

// copyOption puts the value of an option that was given under a key of the block.
func (b *builder) copyOption(o option.Field, key string) {
	if o.Given() {
		b.set(key, b.of(o, o.Value()))
	}
}

// needStreaming notes that a metric exists only in runs that stream.
func (b *builder) needStreaming(flag, metric string) {
	if d, known := metrics.Lookup(metric); known && d.Flags&metrics.StreamingOnly != 0 && b.asked.streaming == "" {
		b.asked.streaming = flag
	}
}

// begin starts the block of a sweep.
func (b *builder) begin(kind string) {
	b.asked.Block = document.Of(artifact.Object{{Key: "type", Value: kind}})
	b.copyOption(&b.p.ParameterSweepCooldownSeconds, "cooldown_seconds")
	if kind != sweep.AdaptiveSearch {
		b.copyOption(&b.p.ParameterSweepMode, "iteration_order")
		b.copyOption(&b.p.ParameterSweepSameSeed, "same_seed")
	}
}

// alone refuses what cannot be part of a search: lists of values, except for the options named, and convergence.
func (b *builder) alone(by string, adaptive bool, except ...option.Field) {
	for _, o := range sweep.Lists(b.p) {
		if !slices.Contains(except, o) {
			b.fault("%s and the list of %s are mutually exclusive", by, o.Flag())
		}
	}
	if b.p.Variant.Given() {
		b.fault("%s and %s are mutually exclusive", by, b.p.Variant.Flag())
	}
	if adaptive && b.p.ConvergenceMetric.Given() {
		b.fault("%s and %s are mutually exclusive: a search decides itself how often it visits a point", by,
			b.p.ConvergenceMetric.Flag())
	}
}

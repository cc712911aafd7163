package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/measure/metrics"
)

// space makes the block of --search-space and its companions.
func (b *builder) space() {
	p := b.p
	flag := p.Flag("search-space")
	b.alone(flag, true)
	if given := b.given(recipeFlags...); len(given) > 0 {
		b.fault("%s: no effect with %s, only with --search-recipe", strings.Join(given, ", "), flag)
	}
	for _, name := range []string{"search-metric", "search-direction", "search-max-iterations"} {
		if !p.Given(name) {
			b.fault("%s needs --%s", flag, name)
		}
	}
	b.begin(sweep.AdaptiveSearch)
	planner := loop.Bayesian
	if p.Given("search-planner") {
		planner = p.Text("search-planner")
		b.set("planner", b.of("search-planner", planner))
	}
	space := &document.Node{Kind: document.List, Origin: flag}
	for _, text := range p.Texts("search-space") {
		d, err := dimension(text)
		if err != nil {
			b.fault("%s %s: %v", flag, fault.Shorten(text), err)
			continue
		}
		space.Items = append(space.Items, b.of("search-space", d))
	}
	b.set("search_space", space)
	metric := metrics.Canonical(p.Text("search-metric"))
	b.needStreaming(p.Flag("search-metric"), metric)
	objective := b.of("search-metric", artifact.Object{{Key: "metric", Value: metric}})
	if p.Given("search-stat") {
		objective.Set("stat", b.of("search-stat", p.Text("search-stat")))
	}
	objective.Set("direction", b.of("search-direction", p.Text("search-direction")))
	b.set("objectives", &document.Node{Kind: document.List, Items: []*document.Node{objective}})
	b.conditions(nil)
	b.tuning(planner)
}

// dimension reads path:low,high[:kind].
func dimension(text string) (artifact.Object, error) {
	path, rest, ok := strings.Cut(text, ":")
	bounds, kind, hasKind := strings.Cut(rest, ":")
	lo, hi, both := strings.Cut(bounds, ",")
	if !ok || path == "" || !both {
		return nil, errors.New("must be written as path:low,high or path:low,high:kind, such as concurrency:1,100:int")
	}
	low, err := bound(lo)
	if err != nil {
		return nil, err
	}
	high, err := bound(hi)
	if err != nil {
		return nil, err
	}
	o := artifact.Object{{Key: "path", Value: strings.TrimSpace(path)}, {Key: "lo", Value: low},
		{Key: "hi", Value: high}}
	if hasKind {
		o = append(o, artifact.Member{Key: "kind", Value: strings.ToLower(strings.TrimSpace(kind))})
	}
	return o, nil
}

// bound reads a limit of a dimension; what is written as a whole number is one.
func bound(text string) (any, error) {
	text = strings.TrimSpace(text)
	if n, err := scalar.Count(text); err == nil {
		return n, nil
	}
	v, err := scalar.Number(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a number", fault.Shorten(text))
	}
	return v, nil
}

// condition reads tag:stat:op:threshold.
func condition(text string) (artifact.Object, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 4 || slices.Contains(parts, "") {
		return nil, fmt.Errorf("%s must be written as tag:stat:op:threshold, such as time_to_first_token:p95:lt:200",
			fault.Shorten(text))
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	threshold, err := scalar.Number(parts[3])
	if err != nil {
		return nil, fmt.Errorf("the threshold of %s is not a number", fault.Shorten(text))
	}
	return conditionOf(metrics.Canonical(parts[0]), parts[1], parts[2], threshold), nil
}

func conditionOf(metric, stat, op string, threshold float64) artifact.Object {
	return artifact.Object{{Key: "metric_tag", Value: metric}, {Key: "stat", Value: stat}, {Key: "op", Value: op},
		{Key: "threshold", Value: threshold}}
}

// conditions puts conditions into the block: those of a recipe, then those of --search-sla, and the tiers.
func (b *builder) conditions(first []*document.Node) {
	filters := &document.Node{Kind: document.List, Items: first}
	for _, text := range b.p.Texts("search-sla") {
		f, err := condition(text)
		if err != nil {
			b.fault("%s: %v", b.p.Flag("search-sla"), err)
			continue
		}
		filters.Items = append(filters.Items, b.of("search-sla", f))
	}
	for _, f := range filters.Items {
		metric, _ := f.Get("metric_tag").Scalar.(string)
		b.needStreaming(f.Origin, metric)
	}
	if len(filters.Items) > 0 {
		b.set("sla_filters", filters)
	}
	if b.p.Given("search-sla-tier") {
		b.tiers()
	}
}

// The least and the most tiers.
const (
	leastTiers = 2
	mostTiers  = 10
)

// tiers puts the tiers of --search-sla-tier into the block.
func (b *builder) tiers() {
	flag := b.p.Flag("search-sla-tier")
	texts := b.p.Texts("search-sla-tier")
	if len(texts) < leastTiers || len(texts) > mostTiers {
		b.fault("%s must be given %d to %d times, not %d", flag, leastTiers, mostTiers, len(texts))
		return
	}
	list := &document.Node{Kind: document.List, Origin: flag}
	taken := map[string]bool{}
	for i, text := range texts {
		label, filters, err := tier(text, i)
		if err == nil && taken[label] {
			err = fmt.Errorf("another tier has the label %s as well", fault.Shorten(label))
		}
		if err != nil {
			b.fault("%s %s: %v", flag, fault.Shorten(text), err)
			continue
		}
		taken[label] = true
		list.Items = append(list.Items, b.of("search-sla-tier", artifact.Object{{Key: "label", Value: label},
			{Key: "filters", Value: filters}}))
	}
	b.set("sla_tiers", list)
}

// tier reads [label:]condition[,condition…]. A label is there if the first part has not three colons.
func tier(text string, index int) (label string, filters []any, err error) {
	label = fmt.Sprintf("tier_%d", index+1)
	first, _, _ := strings.Cut(text, ",")
	if strings.Count(first, ":") != 3 {
		var rest string
		label, rest, _ = strings.Cut(text, ":")
		if label, text = strings.TrimSpace(label), rest; label == "" {
			return "", nil, errors.New("the label is empty")
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", nil, errors.New("a tier needs at least one condition tag:stat:op:threshold")
	}
	for part := range strings.SplitSeq(text, ",") {
		f, err := condition(strings.TrimSpace(part))
		if err != nil {
			return "", nil, err
		}
		filters = append(filters, f)
	}
	return label, filters, nil
}

// tuning puts the options of the search itself into the block.
func (b *builder) tuning(planner string) {
	p := b.p
	b.copyOptions("search-max-iterations", "max_iterations", "search-random-seed", "random_seed",
		"search-percentile-pooling", "objective_pooling", "bo-constraint-mode", "constraint_mode")
	model := planner == loop.Bayesian || planner == loop.Optuna
	if p.Given("search-initial-points") {
		b.set("n_initial_points", b.of("search-initial-points", p.Value("search-initial-points")))
	} else if most, _ := b.asked.Block.Get("max_iterations").Number(); model && most > 0 && most <= 5 {
		b.fault("%s: %v iterations leave none after the 5 initial points; give more, or --search-initial-points",
			p.Flag("search-max-iterations"), most)
	}
	if p.Text("search-percentile-pooling") == "pooled" && p.Given("search-stat") && p.Text("search-stat") == "avg" {
		b.fault("%s pooled and %s avg cannot be used together: only percentiles are pooled",
			p.Flag("search-percentile-pooling"), p.Flag("search-stat"))
	}
	if p.Text("search-percentile-pooling") == "pooled" && p.Text("export-level") == "summary" {
		b.fault("%s pooled needs per-request records, which --export-level summary does not keep",
			p.Flag("search-percentile-pooling"))
	}
	if given := b.given("optuna-sampler", "optuna-acquisition", "optuna-terminator"); len(given) > 0 &&
		planner != loop.Optuna {
		b.fault("%s: no effect with planner %s; add --search-planner optuna", strings.Join(given, ", "), planner)
	}
	if sampler := p.Text("optuna-sampler"); p.Given("optuna-acquisition") && sampler != "" && sampler != "botorch" {
		b.fault("%s only applies to --optuna-sampler botorch, not %s", p.Flag("optuna-acquisition"), sampler)
	}
	if p.Given("bo-constraint-mode") {
		b.warn("%s has no effect", p.Flag("bo-constraint-mode"))
	}
	b.copyOptions("optuna-sampler", "optuna_sampler", "optuna-acquisition", "optuna_acquisition",
		"optuna-terminator", "optuna_terminator")
}

// number returns the value of an option, given or not.
func (b *builder) number(name string, def int64) int64 {
	if v := b.p.Int(name); v != nil && (b.p.Given(name) || def == 0) {
		return *v
	}
	if def != 0 {
		return def
	}
	v, _ := option.Named(name).DefaultValue().(int64)
	return v
}

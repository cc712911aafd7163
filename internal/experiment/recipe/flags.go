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
	"aiperf/internal/result/compare"
)

// space makes the block of --search-space and its companions.
func (b *builder) space() {
	p := b.p
	flag := p.SearchSpace.Flag()
	b.alone(flag, true)
	if given := b.given(recipeFlags(&p.Tree)...); len(given) > 0 {
		b.fault("%s: no effect with %s, only with --search-recipe", strings.Join(given, ", "), flag)
	}
	for _, o := range []option.Field{&p.SearchMetric, &p.SearchDirection, &p.SearchMaxIterations} {
		if !o.Given() {
			b.fault("%s needs --%s", flag, o.Row().Name)
		}
	}
	b.begin(sweep.AdaptiveSearch)
	planner := loop.Bayesian
	if p.SearchPlanner.Given() {
		planner = p.SearchPlanner.Get()
		b.set("planner", b.of(&b.p.SearchPlanner, planner))
	}
	space := &document.Node{Kind: document.List, Origin: flag}
	for _, text := range p.SearchSpace.Get() {
		d, err := dimension(text)
		if err != nil {
			b.fault("%s %s: %v", flag, fault.Shorten(text), err)
			continue
		}
		space.Items = append(space.Items, b.of(&b.p.SearchSpace, d))
	}
	b.set("search_space", space)
	metric := metrics.Canonical(p.SearchMetric.Get())
	b.needStreaming(p.SearchMetric.Flag(), metric)
	objective := b.of(&b.p.SearchMetric, artifact.Object{{Key: "metric", Value: metric}})
	if p.SearchStat.Given() {
		objective.Set("stat", b.of(&b.p.SearchStat, p.SearchStat.Get()))
	}
	objective.Set("direction", b.of(&b.p.SearchDirection, p.SearchDirection.Get()))
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
	threshold, err := compare.Amount(parts[3], parts[0])
	if err != nil {
		return nil, fmt.Errorf("the threshold of %s: %w", fault.Shorten(text), err)
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
	for _, text := range b.p.SearchSLA.Get() {
		f, err := condition(text)
		if err != nil {
			b.fault("%s: %v", b.p.SearchSLA.Flag(), err)
			continue
		}
		filters.Items = append(filters.Items, b.of(&b.p.SearchSLA, f))
	}
	for _, f := range filters.Items {
		metric, _ := f.Get("metric_tag").Scalar.(string)
		b.needStreaming(f.Origin, metric)
	}
	if len(filters.Items) > 0 {
		b.set("sla_filters", filters)
	}
	if b.p.SearchSLATier.Given() {
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
	flag := b.p.SearchSLATier.Flag()
	texts := b.p.SearchSLATier.Get()
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
		list.Items = append(list.Items, b.of(&b.p.SearchSLATier, artifact.Object{{Key: "label", Value: label},
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
	b.copyOption(&p.SearchMaxIterations, "max_iterations")
	b.copyOption(&p.SearchRandomSeed, "random_seed")
	b.copyOption(&p.SearchPercentilePooling, "objective_pooling")
	b.copyOption(&p.BOConstraintMode, "constraint_mode")
	model := planner == loop.Bayesian || planner == loop.Optuna
	if p.SearchInitialPoints.Given() {
		b.set("n_initial_points", b.of(&b.p.SearchInitialPoints, p.SearchInitialPoints.Value()))
	} else if most, _ := b.asked.Block.Get("max_iterations").Number(); model && most > 0 && most <= 5 {
		b.fault("%s: %v iterations leave none after the 5 initial points; give more, or --search-initial-points",
			p.SearchMaxIterations.Flag(), most)
	}
	if p.SearchPercentilePooling.Get() == "pooled" && p.SearchStat.Given() && p.SearchStat.Get() == "avg" {
		b.fault("%s pooled and %s avg cannot be used together: only percentiles are pooled",
			p.SearchPercentilePooling.Flag(), p.SearchStat.Flag())
	}
	if p.SearchPercentilePooling.Get() == "pooled" && p.ExportLevel.Get() == "summary" {
		b.fault("%s pooled needs per-request records, which --export-level summary does not keep",
			p.SearchPercentilePooling.Flag())
	}
	if given := b.given(&b.p.OptunaSampler, &b.p.OptunaAcquisition, &b.p.OptunaTerminator); len(given) > 0 &&
		planner != loop.Optuna {
		b.fault("%s: no effect with planner %s; add --search-planner optuna", strings.Join(given, ", "), planner)
	}
	if sampler := p.OptunaSampler.Get(); p.OptunaAcquisition.Given() && sampler != "" && sampler != "botorch" {
		b.fault("%s only applies to --optuna-sampler botorch, not %s", p.OptunaAcquisition.Flag(), sampler)
	}
	if p.BOConstraintMode.Given() {
		b.warn("%s has no effect", p.BOConstraintMode.Flag())
	}
	b.copyOption(&p.OptunaSampler, "optuna_sampler")
	b.copyOption(&p.OptunaAcquisition, "optuna_acquisition")
	b.copyOption(&p.OptunaTerminator, "optuna_terminator")
}

// number returns the value of an option, def if it was not given and def is not 0.
func number(o *option.Opt[int64], def int64) int64 {
	if !o.Given() && def != 0 {
		return def
	}
	return o.Get()
}

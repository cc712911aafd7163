package recipe

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/sweep"
)

// The paths that recipes vary. A file with one dataset has its name in the place of "dataset".
const (
	concurrencyPath = "phases.profiling.concurrency"
	islPath         = "dataset.prompts.isl"
	oslPath         = "dataset.prompts.osl"
)

// Axes are the figures that the Pareto front of a recipe is made of.
type Axes struct {
	// X is better when it is small, Y when it is large. The statistic "value" is that of a swept parameter.
	XMetric, XStat, YMetric, YStat string
	// Series are the parameters that a curve is drawn for each value of.
	Series []string
}

// recipe is a row of the table.
type recipe struct {
	name string
	// uses are the flags of recipes that it takes; needs those of them that must be given.
	uses, needs []string
	// adaptive recipes search; the others are grids or scenarios, which tuning flags do not apply to.
	adaptive, streaming, curve bool
	axes                       *Axes
	build                      func(*builder)
}

// levels are the flags of service levels.
var levels = []string{"ttft-sla-ms", "itl-sla-ms", "tpot-sla-ms", "e2e-sla-ms", "error-rate-sla"}

var (
	concurrencyBounds = []string{"concurrency-min", "concurrency-max"}
	concurrencyAxis   = []string{"concurrency-min", "concurrency-max", "concurrency-steps"}
	islAxis           = []string{"isl-min", "isl-max", "isl-steps"}
	oslAxis           = []string{"osl-min", "osl-max", "osl-steps"}
)

// recipes returns the recipes by the names of --search-recipe, which are the original's: the flags that each uses and
// needs, the axes of its figure, and what builds its search or sweep.
func recipes() []recipe {
	const throughput = "output_token_throughput"
	under := func(metric, stat, y string) *Axes { return &Axes{metric, stat, y, "avg", nil} }
	return []recipe{
		{name: "max-throughput-ttft-sla", adaptive: true, streaming: true,
			uses: slices.Concat(levels, concurrencyBounds), needs: []string{"ttft-sla-ms"},
			axes: under("time_to_first_token", "p99", throughput), build: (*builder).maxThroughput},
		{name: "max-throughput-itl-sla", adaptive: true, streaming: true,
			uses: slices.Concat(levels, concurrencyBounds),
			axes: under("inter_token_latency", "p99", throughput), build: func(b *builder) {
				if len(b.given("itl-sla-ms", "tpot-sla-ms")) == 0 {
					b.fault("%s max-throughput-itl-sla needs --itl-sla-ms or --tpot-sla-ms", b.p.Flag("search-recipe"))
				}
				b.maxThroughput()
			}},
		{name: "max-concurrency-under-sla", adaptive: true,
			uses: slices.Concat(levels, concurrencyAxis, []string{"search-style"}),
			axes: &Axes{"request_latency", "p95", "concurrency", "value", nil}, build: (*builder).maxConcurrency},
		{name: "max-goodput-under-slo", adaptive: true, streaming: true,
			uses:  slices.Concat(levels, concurrencyBounds, []string{"slo-attainment-fraction"}),
			needs: []string{"ttft-sla-ms", "tpot-sla-ms", "e2e-sla-ms"},
			axes:  under("request_latency", "p95", "goodput"), build: (*builder).maxGoodput},
		{name: "concurrency-ramp", curve: true,
			uses: slices.Concat(concurrencyAxis, []string{"degradation-threshold", "degradation-metric-tag",
				"degradation-stat"}),
			axes: under("request_latency", "p95", throughput), build: (*builder).ramp},
		{name: "prefill-ttft-curve", curve: true, streaming: true, uses: islAxis, build: (*builder).prefill},
		{name: "decode-itl-curve", curve: true, streaming: true, uses: slices.Concat(concurrencyAxis, oslAxis),
			build: (*builder).decode},
		{name: "pareto-sweep", streaming: true, uses: []string{"isl-osl-pairs"}, needs: []string{"isl-osl-pairs"},
			axes:  &Axes{"time_to_first_token", "p95", throughput, "avg", []string{"isl", "osl"}},
			build: (*builder).pareto},
	}
}

// AxesOf returns the axes of the Pareto front of a recipe; ok is false for recipes without one.
func AxesOf(name string) (a Axes, ok bool) {
	for _, r := range recipes() {
		if r.name == name && r.axes != nil {
			return *r.axes, true
		}
	}
	return Axes{}, false
}

// recipe makes the block of --search-recipe.
func (b *builder) recipe() {
	p := b.p
	flag, name := p.Flag("search-recipe"), p.Text("search-recipe")
	all := recipes()
	i := slices.IndexFunc(all, func(r recipe) bool { return r.name == name })
	if i < 0 {
		return // the option's own fault
	}
	r := all[i]
	by := flag + " " + name
	b.asked.recipe, b.asked.Curve = name, r.curve
	grid := !r.adaptive || p.Text("search-style") == "grid"
	if given := b.given("search-metric", "search-stat", "search-direction", "search-planner",
		"search-percentile-pooling"); len(given) > 0 {
		b.fault("%s and %s are mutually exclusive: the recipe defines it", by, strings.Join(given, ", "))
	}
	if given := b.given("search-max-iterations", "search-initial-points", "search-random-seed",
		"optuna-sampler", "optuna-acquisition", "optuna-terminator",
		"bo-constraint-mode"); grid && len(given) > 0 {
		b.fault("%s: no effect with %s, which is a grid", strings.Join(given, ", "), by)
	}
	if given := b.given("search-sla-tier"); grid && len(given) > 0 {
		b.fault("%s: tiers need a search, and %s is a grid", given[0], by)
	}
	for _, f := range recipeFlags {
		if p.Given(f) && !slices.Contains(r.uses, f) {
			b.fault("%s: no effect with %s; it takes %s", p.Flag(f), by, "--"+strings.Join(r.uses, ", --"))
		}
	}
	for _, f := range r.needs {
		if !p.Given(f) {
			b.fault("%s needs --%s", by, f)
		}
	}
	if r.streaming {
		b.asked.streaming = by
	}
	var except []string
	if name == "pareto-sweep" {
		except = append(except, "concurrency")
	} else if p.Given("concurrency") && p.Swept("concurrency") == nil {
		b.warn("%s has no effect: %s sets the concurrency", p.Flag("concurrency"), by)
	}
	b.alone(by, !grid, except...)
	r.build(b)
	if b.asked.Block != nil {
		b.set("recipe_name", b.of("search-recipe", name))
	}
}

// level returns the condition of a service level, nil if its flag was not given.
func (b *builder) level(flag string) *document.Node {
	v := b.p.Float(flag)
	if v == nil || !b.p.Given(flag) {
		return nil
	}
	metric, stat, threshold := "", "p95", *v
	switch flag {
	case "ttft-sla-ms":
		metric = "time_to_first_token"
	case "itl-sla-ms", "tpot-sla-ms":
		metric = "inter_token_latency"
	case "e2e-sla-ms":
		metric, stat = "request_latency", "p99"
	case "error-rate-sla":
		metric, stat, threshold = "request_error_rate", "avg", percent(*v)
	}
	return b.of(flag, conditionOf(metric, stat, "lt", threshold))
}

// levels returns the conditions of all service levels that were given. Two names of one limit must agree.
func (b *builder) levels() (list []*document.Node) {
	itl, tpot := b.p.Float("itl-sla-ms"), b.p.Float("tpot-sla-ms")
	if itl != nil && tpot != nil && *itl != *tpot {
		b.fault("%s and %s limit the same metric to different values; give one of them", b.p.Flag("itl-sla-ms"),
			b.p.Flag("tpot-sla-ms"))
	}
	for _, flag := range levels {
		if flag == "tpot-sla-ms" && itl != nil {
			continue
		}
		if n := b.level(flag); n != nil {
			list = append(list, n)
		}
	}
	return list
}

// bounds returns the range of an axis.
func (b *builder) bounds(axis string, lo, hi int64) (from, to int64) {
	from, to = b.number(axis+"-min", lo), b.number(axis+"-max", hi)
	if to <= from {
		b.fault("--%s-max (%d) must be above --%s-min (%d)", axis, to, axis, from)
	}
	return from, to
}

// axis returns the values of an axis in logarithmic steps.
func (b *builder) axis(axis string, lo, hi, steps int64) []any {
	from, to := b.bounds(axis, lo, hi)
	n := b.number(axis+"-steps", steps)
	if len(b.faults) > 0 {
		return nil
	}
	return logSteps(from, to, int(n))
}

// logSteps returns whole numbers from lo to hi whose ratios are as equal as they can be, each once.
func logSteps(lo, hi int64, n int) (list []any) {
	last := int64(0)
	for i := range n {
		v := int64(math.RoundToEven(float64(lo) * math.Pow(float64(hi)/float64(lo), float64(i)/float64(n-1))))
		if v = min(max(v, lo), hi); v > last {
			list, last = append(list, v), v
		}
	}
	return list
}

// adaptive begins the block of a search over concurrency.
func (b *builder) adaptive(planner, metric string, iterations, initial int64) {
	lo, hi := b.bounds("concurrency", 1, 1000)
	b.begin(sweep.AdaptiveSearch)
	b.set("planner", document.Of(planner))
	b.set("search_space", document.Of([]any{artifact.Object{{Key: "path", Value: concurrencyPath}, {Key: "lo", Value: lo},
		{Key: "hi", Value: hi}, {Key: "kind", Value: "int"}, {Key: "prior", Value: "log-uniform"}}}))
	b.set("objectives", document.Of([]any{artifact.Object{{Key: "metric", Value: metric}, {Key: "stat", Value: "avg"},
		{Key: "direction", Value: "maximize"}}}))
	b.set("max_iterations", document.Of(iterations))
	b.set("n_initial_points", document.Of(initial))
	b.tuning(planner)
}

func (b *builder) maxThroughput() {
	b.adaptive(loop.Bayesian, "output_token_throughput", 30, 5)
	b.conditions(b.levels())
}

// maxConcurrency builds the search for the largest concurrency within limits, by the style: a grid, or one of the
// planners with its usual number of iterations and of points to start with.
func (b *builder) maxConcurrency() {
	filters := b.levels()
	if len(filters) == 0 && !b.p.Given("search-sla-tier") && !b.p.Given("search-sla") {
		b.fault("%s %s needs at least one limit: --%s", b.p.Flag("search-recipe"), b.asked.recipe,
			strings.Join(levels, ", --"))
		return
	}
	style := b.p.Text("search-style")
	if b.p.Given("concurrency-steps") && style != "grid" {
		b.fault("%s: only --search-style grid has steps", b.p.Flag("concurrency-steps"))
	}
	switch style {
	case "grid":
		b.grid(artifact.Object{{Key: concurrencyPath, Value: b.axis("concurrency", 1, 1000, 8)}})
		b.after(Breach, "sla_breach.json", artifact.Object{{Key: "swept_param", Value: concurrencyPath}})
	case "monotonic":
		b.adaptive(loop.MonotonicSLA, "output_token_throughput", 20, 1)
	case "bo":
		b.adaptive(loop.Bayesian, "output_token_throughput", 30, 5)
	case "optuna":
		b.adaptive(loop.Optuna, "output_token_throughput", 30, 5)
	default:
		b.adaptive(loop.SmoothIsotonic, "output_token_throughput", 30, 1)
	}
	b.conditions(filters)
}

func (b *builder) maxGoodput() {
	b.adaptive(loop.Bayesian, "goodput", 30, 5)
	var limits []string
	for _, l := range [][2]string{{"ttft-sla-ms", "time_to_first_token"}, {"tpot-sla-ms", "inter_token_latency"},
		{"e2e-sla-ms", "request_latency"}} {
		if v := b.p.Float(l[0]); v != nil {
			limits = append(limits, fmt.Sprintf("%s:%s", l[1], artifact.AppendFloat(nil, *v)))
		}
	}
	b.asked.goodput = strings.Join(limits, " ")
	filters := []*document.Node{b.of("slo-attainment-fraction",
		conditionOf("good_request_fraction", "avg", "ge", b.p.Real("slo-attainment-fraction")))}
	if n := b.level("error-rate-sla"); n != nil {
		filters = append(filters, n)
	}
	b.conditions(filters)
}

// grid begins the block of a grid.
func (b *builder) grid(parameters artifact.Object) {
	b.begin(sweep.Grid)
	b.set("parameters", document.Of(parameters))
}

// after asks for a document about all cells.
func (b *builder) after(handler, output string, params artifact.Object) {
	b.set("post_process", document.Of(artifact.Object{{Key: "handler", Value: handler}, {Key: "params", Value: params},
		{Key: "output_filename", Value: output}}))
}

// defaultDegradation is the relative loss that is a knee.
const defaultDegradation = 0.2

func (b *builder) ramp() {
	threshold := defaultDegradation
	if v := b.p.Float("degradation-threshold"); v != nil {
		threshold = *v
	}
	b.grid(artifact.Object{{Key: concurrencyPath, Value: b.axis("concurrency", 1, 1000, 8)}})
	b.after(Knee, "degradation_knee.json", artifact.Object{
		{Key: "metric_tag", Value: b.p.Text("degradation-metric-tag")}, {Key: "stat", Value: b.p.Text("degradation-stat")},
		{Key: "threshold", Value: threshold}, {Key: "swept_param", Value: concurrencyPath}})
	b.conditions(nil)
}

func (b *builder) prefill() {
	b.grid(artifact.Object{{Key: islPath, Value: b.axis("isl", 256, 32768, 8)},
		{Key: concurrencyPath, Value: []any{int64(1)}}})
	b.after(PrefillFit, "prefill_curve.json", artifact.Object{
		{Key: "metric_tag", Value: "time_to_first_token"}, {Key: "stat", Value: "avg"},
		{Key: "swept_param", Value: "isl"}})
	b.conditions(nil)
}

func (b *builder) decode() {
	b.grid(artifact.Object{{Key: oslPath, Value: b.axis("osl", 64, 1024, 4)},
		{Key: concurrencyPath, Value: b.axis("concurrency", 1, 200, 6)}})
	b.after(DecodeFit, "decode_itl_surface.json", artifact.Object{
		{Key: "metric_tag", Value: "inter_token_latency"}, {Key: "stat", Value: "avg"}})
	b.conditions(nil)
}

// paretoLevels are the concurrencies of pareto-sweep.
var paretoLevels = []int64{1, 4, 16, 64, 256}

// pareto builds the runs of all pairs of lengths at each concurrency, as scenarios: a grid would cross the two lengths.
func (b *builder) pareto() {
	flag := b.p.Flag("isl-osl-pairs")
	var pairs [][2]int64
	for text := range strings.SplitSeq(b.p.Text("isl-osl-pairs"), ",") {
		isl, osl, ok := strings.Cut(strings.TrimSpace(text), "/")
		in, err := scalar.Count(strings.TrimSpace(isl))
		out, err2 := scalar.Count(strings.TrimSpace(osl))
		if !ok || err != nil || err2 != nil || in < 1 || out < 1 {
			b.fault("%s: %s must be written as isl/osl, whole numbers from 1, such as 128/64", flag, fault.Shorten(text))
			return
		}
		if slices.Contains(pairs, [2]int64{in, out}) {
			b.fault("%s: %s is in the list twice", flag, fault.Shorten(text))
			return
		}
		pairs = append(pairs, [2]int64{in, out})
	}
	concurrency := paretoLevels
	if b.p.Given("concurrency") {
		concurrency, b.asked.taken = nil, []string{"concurrency"}
		for _, v := range b.p.Swept("concurrency") {
			n, _ := v.(int64)
			concurrency = append(concurrency, n)
		}
		if v := b.p.Int("concurrency"); concurrency == nil && v != nil {
			concurrency = []int64{*v}
		}
	}
	if len(pairs)*len(concurrency) < 2 {
		b.fault("%s with one pair and one concurrency is a single run; give further pairs or --concurrency with a list",
			flag)
		return
	}
	runs := []any{}
	for _, pair := range pairs {
		for _, c := range concurrency {
			runs = append(runs, artifact.Object{
				{Key: "name", Value: fmt.Sprintf("shape_%d_%d_c%d", pair[0], pair[1], c)},
				{Key: "benchmark", Value: artifact.Object{
					{Key: "dataset", Value: artifact.Object{{Key: "prompts", Value: artifact.Object{
						{Key: "isl", Value: pair[0]}, {Key: "osl", Value: pair[1]}}}}},
					{Key: "phases", Value: []any{artifact.Object{{Key: "name", Value: "profiling"},
						{Key: "concurrency", Value: c}}}},
				}},
				{Key: "values", Value: artifact.Object{{Key: "isl", Value: pair[0]}, {Key: "osl", Value: pair[1]},
					{Key: "concurrency", Value: c}}},
			})
		}
	}
	b.begin(sweep.Scenarios)
	b.set("runs", b.of("isl-osl-pairs", runs))
	b.after(Pareto, "pareto_sweep.json", artifact.Object{
		{Key: "x_metric", Value: "time_to_first_token"}, {Key: "x_stat", Value: "p95"},
		{Key: "y_metric", Value: "output_token_throughput"}, {Key: "y_stat", Value: "avg"}})
	b.conditions(nil)
}

// percent returns a share in percent, without the digits that binary fractions add: 0.07 is 7.
func percent(share float64) float64 {
	const places = 1e9
	return math.Round(share*100*places) / places
}

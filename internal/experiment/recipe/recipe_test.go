package recipe_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"aiperf/internal/config/document"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/recipe"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/sweep"
)

func parsed(t *testing.T, line string) *settings.Settings {
	t.Helper()
	var args []string
	for arg := range strings.FieldsSeq(line) {
		args = append(args, arg)
	}
	p, err := settings.Parse(args, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return p
}

// planned makes the sweep of a command line.
func planned(t *testing.T, line string) (*sweep.Plan, *recipe.Asked, *settings.Settings) {
	t.Helper()
	p := parsed(t, line)
	asked, err := recipe.FromFlags(p)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	plan, err := sweep.FromFlags(p, asked.Block)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return plan, asked, p
}

// searched is the search of a command line.
func searched(t *testing.T, line string) *loop.Spec {
	t.Helper()
	plan, _, _ := planned(t, line)
	if plan.Type != sweep.AdaptiveSearch {
		t.Fatalf("%s: a sweep of type %s", line, plan.Type)
	}
	s, _ := loop.Read(plan.Block)
	return s
}

func refused(t *testing.T, line string, wants ...string) {
	t.Helper()
	p := parsed(t, line)
	asked, err := recipe.FromFlags(p)
	if err == nil && asked != nil {
		_, err = sweep.FromFlags(p, asked.Block)
	}
	if err == nil {
		t.Errorf("%s: accepted", line)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", line, err, want)
		}
	}
}

const objective = " --search-metric output_token_throughput --search-direction maximize --search-max-iterations 20"

func TestFlagsOfASearch(t *testing.T) {
	s := searched(t, "--search-space concurrency:1,200:int --search-space datasets.main.prompts.isl:64,2048:int"+objective+
		" --search-sla ttft:p95:lt:200 --search-sla request_error_rate:avg:le:1 --search-random-seed 7"+
		" --search-planner optuna --optuna-sampler tpe --search-percentile-pooling pooled --search-initial-points 4")
	if s.Space[0] != (search.Dimension{Path: "phases.profiling.concurrency", Lo: 1, Hi: 200, Int: true}) ||
		s.Space[1].Path != "datasets.main.prompts.isl" {
		t.Errorf("the space is %+v", s.Space)
	}
	if s.Filters[0] != (search.Filter{Metric: "time_to_first_token", Stat: "p95", Op: "lt", Threshold: 200}) ||
		len(s.Filters) != 2 {
		t.Errorf("the filters are %+v", s.Filters)
	}
	if s.Planner != loop.Optuna || s.Sampler != "tpe" || *s.Seed != 7 || !s.Pooled || s.InitialPoints != 4 ||
		s.MaxIterations != 20 || s.Patience != 10 || s.PlateauWindow != 8 || s.PlateauThreshold != 0.01 {
		t.Errorf("%+v", s)
	}
	if real := searched(t, "--search-space rate:0.5,20"+objective).Space[0]; real.Int || real.Lo != 0.5 || real.Hi != 20 {
		t.Errorf("%+v", real)
	}
	if asked, err := recipe.FromFlags(parsed(t, "--concurrency 5")); asked != nil || err != nil {
		t.Errorf("nothing was asked: %v, %v", asked, err)
	}
}

func TestFlagsOfASearchThatDoNotFit(t *testing.T) {
	const space = "--search-space concurrency:1,200:int"
	for _, c := range [][]string{
		{"--search-metric a", "--search-metric: no effect without --search-space or --search-recipe"},
		{"--ttft-sla-ms 5", "--ttft-sla-ms: no effect without --search-recipe"},
		{space, "needs --search-metric", "needs --search-direction", "needs --search-max-iterations"},
		{space + objective + " --e2e-sla-ms 5", "--e2e-sla-ms: no effect with --search-space"},
		{space + objective + " --convergence-metric a", "--search-space and --convergence-metric are mutually exclusive"},
		{space + objective + " --request-rate 1,2", "--search-space and the list of --request-rate"},
		{space + objective + " --search-recipe pareto-sweep", "--search-space and --search-recipe are mutually exclusive"},
		{space + objective + " --search-initial-points 20", "--search-initial-points", "20 is not below"},
		{space + " --search-metric a --search-direction maximize --search-max-iterations 5",
			"--search-max-iterations", "5 initial points"},
		{space + objective + " --optuna-sampler tpe", "add --search-planner optuna"},
		{space + objective + " --search-planner optuna --optuna-sampler gp --optuna-acquisition logei",
			"--optuna-acquisition only applies to --optuna-sampler botorch, not gp"},
		{space + objective + " --search-planner optuna --optuna-acquisition qehvi", "--optuna-acquisition", "qehvi"},
		{space + objective + " --search-planner monotonic_sla", "at least one condition"},
		{"--search-space concurrency:1,200" + objective + " --search-planner monotonic_sla --search-sla a:avg:lt:1",
			"--search-space", "kind: int"},
		{"--search-space concurrency" + objective, "path:low,high"},
		{"--search-space concurrency:1" + objective, "path:low,high"},
		{"--search-space concurrency:a,5" + objective, "a is not a number"},
		{"--search-space concurrency:9,5:int" + objective, "--search-space", "above lo"},
		{"--search-space concurrency:1,5:odd" + objective, "--search-space", "one of int, real, float"},
		{"--search-space nope.x:1,5" + objective, "--search-space", "there is no nope"},
		{"--search-space users:1,5" + objective, "users are whole numbers"},
		{space + objective + " --search-sla ttft:p95:lt", "tag:stat:op:threshold"},
		{space + objective + " --search-sla ttft:p95:lt:x", "threshold"},
		{space + objective + " --search-sla ttft:p97:lt:5", "--search-sla", "p97"},
		{space + objective + " --search-sla ttft:p95:below:5", "--search-sla", "one of lt"},
	} {
		refused(t, c[0], c[1:]...)
	}
}

// TestTrapPooledNeedsAPercentile: pooling with the statistic avg is refused where avg was written, and has no effect where
// it was not.
func TestTrapPooledNeedsAPercentile(t *testing.T) {
	const line = "--search-space concurrency:1,200:int" + objective + " --search-percentile-pooling pooled"
	refused(t, line+" --search-stat avg", "--search-percentile-pooling pooled and --search-stat avg")
	if s := searched(t, line); !s.Pooled || s.Objectives[0].Stat != "avg" {
		t.Errorf("%+v", s)
	}
	refused(t, line+" --search-stat p95 --export-level summary", "--export-level summary")
}

// TestTrapLabelsOfTiers: four colons begin with a label, three do not.
func TestTrapLabelsOfTiers(t *testing.T) {
	const line = "--search-space concurrency:1,200:int" + objective + " --search-planner smooth_isotonic"
	s := searched(t, line+" --search-sla-tier time_to_first_token:p95:lt:200"+
		" --search-sla-tier gold:time_to_first_token:p95:lt:100,request_latency:p99:lt:900")
	var got []string
	for _, tier := range s.Tiers {
		got = append(got, fmt.Sprint(tier.Label, " ", len(tier.Filters), " ", tier.Filters[0]))
	}
	const want = "tier_1 1 time_to_first_token:p95:lt:200.0; gold 2 time_to_first_token:p95:lt:100.0"
	if strings.Join(got, "; ") != want {
		t.Errorf("the tiers are %s", strings.Join(got, "; "))
	}
	for _, c := range [][2]string{
		{" --search-sla-tier a:x:p95:lt:1", "2 to 10 times, not 1"},
		{" --search-sla-tier a:x:p95:lt:1 --search-sla-tier a:x:p95:lt:2", "has the label a as well"},
		{" --search-sla-tier :x:p95:lt:1 --search-sla-tier a:x:p95:lt:2", "the label is empty"},
		{" --search-sla-tier gold --search-sla-tier a:x:p95:lt:2", "at least one condition"},
		{" --search-sla-tier gold:x:p95:lt --search-sla-tier a:x:p95:lt:2", "threshold"},
	} {
		refused(t, line+c[0], c[1])
	}
}

// TestTrapErrorRatesAreShares: the limit of a recipe is a share, that of the metric is in percent.
func TestTrapErrorRatesAreShares(t *testing.T) {
	const line = "--search-recipe max-concurrency-under-sla"
	sugar := searched(t, line+" --error-rate-sla 0.01").Filters
	plain := searched(t, line+" --search-sla request_error_rate:avg:lt:1").Filters
	if len(sugar) != 1 || sugar[0] != plain[0] {
		t.Errorf("%v and %v", sugar, plain)
	}
	if f := searched(t, line+" --error-rate-sla 0.07").Filters[0]; f.Threshold != 7 {
		t.Errorf("0.07 is %v %%", f.Threshold)
	}
}

func TestRecipesThatSearch(t *testing.T) {
	const ttft, itl, e2e = "time_to_first_token:p95:lt:200.0", "inter_token_latency:p95:lt:20.0",
		"request_latency:p99:lt:900.0"
	for _, c := range []struct{ line, planner, objective, filters, iterations string }{
		{"max-throughput-ttft-sla --ttft-sla-ms 200", loop.Bayesian, "output_token_throughput", ttft, "30/5"},
		{"max-throughput-itl-sla --itl-sla-ms 20", loop.Bayesian, "output_token_throughput", itl, "30/5"},
		{"max-throughput-itl-sla --tpot-sla-ms 20 --itl-sla-ms 20", loop.Bayesian, "output_token_throughput", itl, "30/5"},
		{"max-concurrency-under-sla --e2e-sla-ms 900 --ttft-sla-ms 200", loop.SmoothIsotonic, "output_token_throughput",
			ttft + " " + e2e, "30/1"},
		{"max-concurrency-under-sla --e2e-sla-ms 900 --search-style monotonic", loop.MonotonicSLA,
			"output_token_throughput", e2e, "20/1"},
		{"max-concurrency-under-sla --e2e-sla-ms 900 --search-style bo", loop.Bayesian, "output_token_throughput", e2e,
			"30/5"},
		{"max-concurrency-under-sla --e2e-sla-ms 900 --search-style optuna --optuna-sampler tpe", loop.Optuna,
			"output_token_throughput", e2e, "30/5"},
		{"max-concurrency-under-sla --e2e-sla-ms 900 --search-sla ttft:p95:lt:200 --search-max-iterations 12",
			loop.SmoothIsotonic, "output_token_throughput", e2e + " " + ttft, "12/1"},
		{"max-goodput-under-slo --ttft-sla-ms 200 --tpot-sla-ms 20 --e2e-sla-ms 900 --search-random-seed 3", loop.Bayesian,
			"goodput", "good_request_fraction:avg:ge:0.95", "30/5"},
	} {
		s := searched(t, "--streaming --search-recipe "+c.line)
		var filters []string
		for _, f := range s.Filters {
			filters = append(filters, f.String())
		}
		got := fmt.Sprint(s.Planner, " ", s.Objectives[0].Metric, " ", strings.Join(filters, " "), " ", s.MaxIterations, "/",
			s.InitialPoints)
		if want := strings.Join([]string{c.planner, c.objective, c.filters, c.iterations}, " "); got != want {
			t.Errorf("%s:\n%s, want\n%s", c.line, got, want)
		}
		d := search.Dimension{Path: "phases.profiling.concurrency", Lo: 1, Hi: 1000, Int: true, LogUniform: true}
		if s.Space[0] != d || s.Recipe != strings.Fields(c.line)[0] || !s.Objectives[0].Maximize {
			t.Errorf("%s: %+v", c.line, s)
		}
	}
	if s := searched(t, "--search-recipe max-concurrency-under-sla --e2e-sla-ms 9 --concurrency-min 4 --concurrency-max 64"); s.Space[0].Lo != 4 ||
		s.Space[0].Hi != 64 {
		t.Errorf("%+v", s.Space)
	}
}

func dirs(p *sweep.Plan) (list []string) {
	for _, v := range p.Variations {
		list = append(list, v.Dir)
	}
	return list
}

func TestRecipesThatSweep(t *testing.T) {
	for line, want := range map[string]string{
		"concurrency-ramp": "concurrency_1 concurrency_3 concurrency_7 concurrency_19 concurrency_52 concurrency_139 " +
			"concurrency_373 concurrency_1000",
		"concurrency-ramp --concurrency-max 5": "concurrency_1 concurrency_2 concurrency_3 concurrency_4 concurrency_5",
		"max-concurrency-under-sla --e2e-sla-ms 9 --search-style grid --concurrency-max 4": "concurrency_1 " +
			"concurrency_2 concurrency_3 concurrency_4",
		"prefill-ttft-curve --isl-max 512 --isl-steps 2": "isl_256__concurrency_1 isl_512__concurrency_1",
		"pareto-sweep --isl-osl-pairs 128/64,512/256 --concurrency 4": "isl_128__osl_64__concurrency_4 " +
			"isl_512__osl_256__concurrency_4",
	} {
		plan, asked, p := planned(t, "--streaming --search-recipe "+line)
		if got := strings.Join(dirs(plan), " "); got != want {
			t.Errorf("%s: %s", line, got)
		}
		if plan.Recipe != strings.Fields(line)[0] || plan.After == nil ||
			recipe.CheckHandler(plan.After.Handler) != nil {
			t.Errorf("%s: %+v", line, plan)
		}
		if asked.Curve != strings.Contains(line, "curve") && asked.Curve != strings.Contains(line, "ramp") {
			t.Errorf("%s: plot %v", line, asked.Curve)
		}
		own, err := plan.Variations[0].Settings(p, false)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if sweep.Flagged(own) || own.Concurrency.Pointer() == nil {
			t.Errorf("%s: concurrency %v", line, own.Concurrency.Value())
		}
	}
	plan, _, _ := planned(t, "--streaming --search-recipe pareto-sweep --isl-osl-pairs 128/64,512/256")
	if v := plan.Variations[7]; v.Label != "shape_512_256_c16" || len(plan.Variations) != 10 {
		t.Errorf("%d variations, %s", len(plan.Variations), v.Label)
	}
}

// TestTrapDecodeCurve: six loads and four lengths are 24 cells, the length outermost.
func TestTrapDecodeCurve(t *testing.T) {
	plan, _, p := planned(t, "--streaming --search-recipe decode-itl-curve")
	list := dirs(plan)
	if len(list) != 24 || list[0] != "osl_64__concurrency_1" || list[1] != "osl_64__concurrency_3" ||
		list[6] != "osl_161__concurrency_1" || list[23] != "osl_1024__concurrency_200" {
		t.Errorf("%d cells: %v", len(list), list)
	}
	own, err := plan.Variations[7].Settings(p, false)
	if err != nil || own.OSL.Get() != 161 || own.Concurrency.Get() != 3 {
		t.Errorf("%v, %v, %v", own.OSL.Value(), own.Concurrency.Value(), err)
	}
}

// TestTrapParetoNeedsTwoCells: without --concurrency a shape has five loads; one shape with one load is no sweep.
func TestTrapParetoNeedsTwoCells(t *testing.T) {
	plan, _, _ := planned(t, "--streaming --search-recipe pareto-sweep --isl-osl-pairs 128/64")
	if got := strings.Join(dirs(plan), " "); got != "isl_128__osl_64__concurrency_1 isl_128__osl_64__concurrency_4 "+
		"isl_128__osl_64__concurrency_16 isl_128__osl_64__concurrency_64 isl_128__osl_64__concurrency_256" {
		t.Error(got)
	}
	refused(t, "--streaming --search-recipe pareto-sweep --isl-osl-pairs 128/64 --concurrency 8", "--isl-osl-pairs",
		"single run")
}

func TestFlagsThatRecipesRefuse(t *testing.T) {
	const max = "--search-recipe max-throughput-ttft-sla --ttft-sla-ms 5"
	for _, c := range [][]string{
		{"--search-recipe max-throughput-ttft-sla", "needs --ttft-sla-ms"},
		{"--search-recipe max-throughput-itl-sla", "needs --itl-sla-ms or --tpot-sla-ms"},
		{"--search-recipe max-throughput-itl-sla --itl-sla-ms 5 --tpot-sla-ms 6", "--itl-sla-ms and --tpot-sla-ms"},
		{"--search-recipe max-concurrency-under-sla", "at least one limit"},
		{"--search-recipe max-goodput-under-slo --ttft-sla-ms 5", "needs --tpot-sla-ms", "needs --e2e-sla-ms"},
		{"--search-recipe pareto-sweep", "needs --isl-osl-pairs"},
		{max + " --search-metric a", "max-throughput-ttft-sla and --search-metric are mutually exclusive"},
		{max + " --search-planner optuna", "--search-planner"},
		{max + " --isl-min 5", "--isl-min: no effect with --search-recipe max-throughput-ttft-sla"},
		{max + " --search-style grid", "--search-style: no effect"},
		{max + " --convergence-metric a", "--convergence-metric"},
		{max + " --concurrency 1,2", "the list of --concurrency"},
		{max + " --concurrency-min 9 --concurrency-max 9", "--concurrency-max (9) must be above --concurrency-min (9)"},
		{max + " --concurrency-min 9 --concurrency-max 3", "--concurrency-max (3) must be above --concurrency-min (9)"},
		{"--search-recipe concurrency-ramp --search-max-iterations 5", "--search-max-iterations: no effect",
			"which is a grid"},
		{"--search-recipe concurrency-ramp --search-random-seed 5", "--search-random-seed"},
		{"--search-recipe concurrency-ramp --request-rate 1,2", "the list of --request-rate"},
		{"--search-recipe concurrency-ramp --isl-osl-pairs 1/2", "--isl-osl-pairs: no effect"},
		{"--search-recipe max-concurrency-under-sla --e2e-sla-ms 5 --concurrency-steps 4", "only --search-style grid"},
		{"--search-recipe max-concurrency-under-sla --e2e-sla-ms 5 --search-style grid --search-sla-tier a:b:avg:lt:1",
			"tiers need a search"},
		{"--search-recipe pareto-sweep --isl-osl-pairs 5", "isl/osl"},
		{"--search-recipe pareto-sweep --isl-osl-pairs 5/6,5/6", "twice"},
		{"--search-recipe pareto-sweep --isl-osl-pairs 0/6,5/6", "from 1"},
		{"--search-recipe pareto-sweep --isl-osl-pairs 1/6,5/6 --request-count 4,5", "the list of --request-count"},
	} {
		refused(t, c[0], c[1:]...)
	}
}

func TestWhatRecipesNeed(t *testing.T) {
	_, asked, p := planned(t, "--search-recipe max-goodput-under-slo --ttft-sla-ms 200 --tpot-sla-ms 20 --e2e-sla-ms 900")
	if err := asked.Check(p); err == nil || !strings.Contains(err.Error(), "add --streaming") {
		t.Errorf("without streaming: %v", err)
	}
	_, asked, p = planned(t, "--streaming --goodput request_count:1 --search-recipe max-goodput-under-slo --ttft-sla-ms 200 "+
		"--tpot-sla-ms 20 --e2e-sla-ms 900")
	own, err := asked.Settings(p), asked.Check(p)
	const want = "request_count:1 time_to_first_token:200.0 inter_token_latency:20.0 request_latency:900.0"
	if err != nil || own.Goodput.Get() != want || p.Goodput.Get() != "request_count:1" {
		t.Errorf("%q, %v", own.Goodput.Get(), err)
	}
	_, asked, p = planned(t, "--streaming --search-recipe pareto-sweep --isl-osl-pairs 1/2 --concurrency 1,2")
	if own := asked.Settings(p); sweep.Flagged(own) || !sweep.Flagged(p) {
		t.Error("the list of --concurrency is not in the block alone")
	}
	_, asked, p = planned(t, "--search-recipe max-concurrency-under-sla --ttft-sla-ms 200")
	if err := asked.Check(p); err == nil || !strings.Contains(err.Error(), "--ttft-sla-ms needs the times of tokens") {
		t.Errorf("a condition on tokens without streaming: %v", err)
	}
	_, asked, p = planned(t, "--search-recipe max-concurrency-under-sla --e2e-sla-ms 200")
	if err := asked.Check(p); err != nil || asked.Settings(p) != p {
		t.Errorf("%v", err)
	}
	_, asked, _ = planned(t, "--search-recipe max-concurrency-under-sla --e2e-sla-ms 200 --concurrency 5")
	if len(asked.Warnings) != 1 {
		t.Errorf("warnings %v", asked.Warnings)
	}
}

// TestRecipesOverAFile: the paths of recipes fit a file, whatever its dataset is called.
func TestRecipesOverAFile(t *testing.T) {
	file, err := document.Read("f.yaml", []byte("benchmark:\n  model: m\n  endpoint: {url: http://a, streaming: true}\n"+
		"  datasets: [{name: words, type: synthetic, prompts: {isl: {mean: 5}}}]\n"+
		"  phases: [{name: steady, kind: profiling, type: concurrency, concurrency: 8, requests: 10}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"prefill-ttft-curve --isl-steps 2": "isl_256__concurrency_1 isl_32768__concurrency_1",
		"pareto-sweep --isl-osl-pairs 1/2,3/4 --concurrency 7": "isl_1__osl_2__concurrency_7 " +
			"isl_3__osl_4__concurrency_7",
	} {
		asked, err := recipe.FromFlags(parsed(t, "--streaming --search-recipe "+line))
		if err != nil {
			t.Fatal(err)
		}
		raw := file.Root.Clone()
		raw.Set("sweep", asked.Block)
		plan, err := sweep.Expand(file, raw)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := strings.Join(dirs(plan), " "); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}

func TestLogSteps(t *testing.T) {
	logSteps := func(lo, hi int64, n int) (list []any) {
		asked, err := recipe.FromFlags(parsed(t,
			fmt.Sprintf("--streaming --search-recipe prefill-ttft-curve --isl-min %d "+
				"--isl-max %d --isl-steps %d", lo, hi, n)))
		if err != nil {
			t.Fatal(err)
		}
		axis := asked.Block.Get("parameters").Members[0]
		if !strings.HasSuffix(axis.Key, "isl") || len(axis.Value.Items) == 0 {
			t.Fatalf("the first axis is %s with %d values", axis.Key, len(axis.Value.Items))
		}
		for _, item := range axis.Value.Items {
			list = append(list, item.Scalar)
		}
		return list
	}
	for want, got := range map[string][]any{
		"[1 3 7 19 52 139 373 1000]": logSteps(1, 1000, 8), "[1 3 8 24 69 200]": logSteps(1, 200, 6),
		"[64 161 406 1024]": logSteps(64, 1024, 4), "[1 2 3 4 5]": logSteps(1, 5, 8),
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if list := logSteps(1, math.MaxInt32, 100); list[len(list)-1] != int64(math.MaxInt32) {
		t.Errorf("it ends at %v", list[len(list)-1])
	}
}

func TestAxesOfRecipes(t *testing.T) {
	a, ok := recipe.AxesOf("pareto-sweep")
	if got := fmt.Sprint(a, ok); got != "{time_to_first_token p95 output_token_throughput avg [isl osl]} true" {
		t.Error(got)
	}
	if _, ok := recipe.AxesOf("decode-itl-curve"); ok {
		t.Error("a surface has axes")
	}
}

package recipe_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/recipe"
	"aiperf/internal/experiment/search"
)

// cell is a cell with one figure of one metric.
func cell(metric, stat string, figure float64, pathsAndValues ...any) recipe.PostProcessCell {
	c := recipe.PostProcessCell{Figure: func(m, s string) (float64, bool) {
		return figure, m == metric && s == stat && !math.IsNaN(figure)
	}}
	for i := 0; i < len(pathsAndValues); i += 2 {
		c.Values = append(c.Values, artifact.Member{Key: pathsAndValues[i].(string), Value: pathsAndValues[i+1]})
	}
	return c
}

const (
	concurrency = "phases.profiling.concurrency"
	isl         = "datasets.main.prompts.isl"
	osl         = "datasets.main.prompts.osl"
)

// made is a document as JSON without white space.
func made(t *testing.T, handler string, in recipe.HandlerInput) string {
	t.Helper()
	o, _, err := recipe.MakeDocument(handler, in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// ramp are the cells of the worked example, out of order.
func ramp() (cells []recipe.PostProcessCell) {
	for _, p := range [][2]float64{{52, 125}, {1, 100}, {3, 102}, {139, 300}, {7, 110}, {19, 119}} {
		cells = append(cells, cell("request_latency", "p99", p[1], concurrency, int64(p[0])))
	}
	return cells
}

func TestKnee(t *testing.T) {
	equal(t, made(t, recipe.Knee, recipe.HandlerInput{Cells: ramp()}),
		`{"baseline_concurrency":1,"baseline_p99":100.0,`+
			`"knee_concurrency":52,"knee_p99":125.0,"threshold_pct":0.2,"swept_metric":"request_latency","stat":"p99",`+
			`"swept_param":"phases.profiling.concurrency","all_points":[{"concurrency":1,"p99":100.0},`+
			`{"concurrency":3,"p99":102.0},{"concurrency":7,"p99":110.0},{"concurrency":19,"p99":119.0},`+
			`{"concurrency":52,"p99":125.0},{"concurrency":139,"p99":300.0}]}`)
	none := made(t, recipe.Knee, recipe.HandlerInput{Cells: ramp(),
		Params: artifact.Object{{Key: "threshold", Value: 5.0},
			{Key: "swept_param", Value: concurrency}}})
	if !strings.Contains(none, `"knee_concurrency":null,"knee_p99":null,"threshold_pct":5.0`) {
		t.Error(none)
	}
	for _, baseline := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, _, err := recipe.MakeDocument(recipe.Knee, recipe.HandlerInput{Cells: []recipe.PostProcessCell{
			cell("request_latency", "p99", baseline, concurrency, 1),
			cell("request_latency", "p99", 5, concurrency, 2)}})
		if err == nil || !strings.Contains(err.Error(), "lowest concurrency") {
			t.Errorf("baseline %v: %v", baseline, err)
		}
	}
}

func TestPrefillCurve(t *testing.T) {
	var cells []recipe.PostProcessCell
	for _, p := range [][2]float64{{2048, 117}, {256, 20}, {1024, 61}, {512, 34}} {
		cells = append(cells, cell("time_to_first_token", "avg", p[1], isl, int64(p[0]), concurrency, int64(1)))
	}
	var got struct {
		Form         string    `json:"fit_form"`
		Coefficients []float64 `json:"coefficients"`
		R2           float64   `json:"r_squared"`
		Below        bool      `json:"below_floor"`
		Floor        float64   `json:"r_squared_floor"`
		Param        string    `json:"swept_param"`
	}
	decode := func(in recipe.HandlerInput) {
		t.Helper()
		got.Coefficients = nil
		if err := json.Unmarshal([]byte(made(t, recipe.PrefillFit, in)), &got); err != nil {
			t.Fatal(err)
		}
	}
	decode(recipe.HandlerInput{Cells: cells})
	if got.Form != "linear" || math.Abs(got.Coefficients[0]-0.05407609) > 1e-8 ||
		math.Abs(got.Coefficients[1]-6.08695652) > 1e-8 || math.Abs(got.R2-0.999946) > 1e-6 || got.Below ||
		got.Floor != 0.85 || got.Param != isl {
		t.Errorf("%+v", got)
	}
	cells = nil
	for _, x := range []float64{100, 200, 300, 400, 500} {
		cells = append(cells, cell("time_to_first_token", "avg", 2*(x-300)*(x-300)/1e4+7, isl, x))
	}
	decode(recipe.HandlerInput{Cells: cells})
	if got.Form != "quadratic" || math.Abs(got.Coefficients[0]-2e-4) > 1e-12 ||
		math.Abs(got.Coefficients[1]+0.12) > 1e-9 || math.Abs(got.Coefficients[2]-25) > 1e-7 || got.R2 < 0.999999 {
		t.Errorf("%+v", got)
	}
	equal(t, made(t, recipe.PrefillFit, recipe.HandlerInput{Cells: []recipe.PostProcessCell{
		cell("time_to_first_token", "avg", 20, isl, int64(256)),
		cell("time_to_first_token", "avg", math.NaN(), isl, int64(512))}}),
		`{"fit_form":"linear","coefficients":[],"r_squared":null,"below_floor":true,"r_squared_floor":0.85,`+
			`"raw_points":[{"isl":256,"ttft_ms":20.0}],"swept_metric":"time_to_first_token","stat":"avg",`+
			`"swept_param":"datasets.main.prompts.isl","error_reason":"a curve needs at least 2 lengths with a finite figure, `+
			`and there are 1"}`)
}

func TestDecodeSurface(t *testing.T) {
	figure := func(v float64, c, l int64) recipe.PostProcessCell {
		return cell("inter_token_latency", "avg", v, osl, l, concurrency, c)
	}
	in := recipe.HandlerInput{Cells: []recipe.PostProcessCell{figure(5, 1, 64), figure(6, 1, 128), figure(9, 8, 64),
		figure(-1, 8, 128)}}
	equal(t, made(t, recipe.DecodeFit, in), `{"swept_metric":"inter_token_latency","stat":"avg",`+
		`"swept_params":["phases.profiling.concurrency","datasets.main.prompts.osl"],`+
		`"raw_points":[{"concurrency":1,"osl":64,"itl_ms":5.0},{"concurrency":1,"osl":128,"itl_ms":6.0},`+
		`{"concurrency":8,"osl":64,"itl_ms":9.0}],"surface":{"concurrency_axis":[1,8],"osl_axis":[64,128],`+
		`"itl_grid":[[5.0,6.0],[9.0,null]]},"surface_fit_failed":false}`)
	if _, warnings, _ := recipe.MakeDocument(recipe.DecodeFit, in); len(warnings) != 1 {
		t.Errorf("warnings %v", warnings)
	}
	empty := made(t, recipe.DecodeFit, recipe.HandlerInput{Cells: in.Cells[3:]})
	if !strings.Contains(empty, `"surface_fit_failed":true`) ||
		!strings.Contains(empty, "error_reason") {
		t.Error(empty)
	}
}

func TestBreach(t *testing.T) {
	filters := []search.Filter{{Metric: "request_latency", Stat: "p99", Op: search.LT, Threshold: 120}}
	got := made(t, recipe.Breach, recipe.HandlerInput{Cells: ramp(), Filters: filters})
	for _, want := range []string{`"swept_param":"phases.profiling.concurrency","max_passing_concurrency":19,` +
		`"first_failing_concurrency":52,"first_failing_breach":{"metric_tag":"request_latency","stat":"p99","op":"lt",` +
		`"threshold":120.0,"observed":125.0},"all_points":[{"concurrency":1,"feasible":true,"breaches":[]}`,
		`"monotonicity_check":true,"filters":[{"metric_tag":"request_latency","stat":"p99","op":"lt","threshold":120.0}]}`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	cells := append(ramp(), cell("request_latency", "p99", 50, concurrency, int64(500)))
	got = made(t, recipe.Breach, recipe.HandlerInput{Cells: cells, Filters: filters})
	if !strings.Contains(got, `"monotonicity_check":false`) || !strings.Contains(got, `"max_passing_concurrency":500,`) {
		t.Error(got)
	}
	if _, _, err := recipe.MakeDocument(recipe.Breach, recipe.HandlerInput{Cells: ramp()}); err == nil {
		t.Error("nothing can break")
	}
}

func TestPareto(t *testing.T) {
	var cells []recipe.PostProcessCell
	for i, p := range [][2]float64{{50, 100}, {60, 180}, {70, 170}, {200, 200}, {math.NaN(), 500}} {
		cells = append(cells, recipe.PostProcessCell{
			Values: artifact.Object{{Key: "isl", Value: int64(16)}, {Key: "osl", Value: int64(4)},
				{Key: "concurrency", Value: int64(i + 1)}},
			Figure: func(metric, stat string) (float64, bool) {
				if metric == "time_to_first_token" {
					return p[0], stat == "p95" && !math.IsNaN(p[0])
				}
				return p[1], metric == "output_token_throughput" && stat == "avg"
			}})
	}
	got := made(t, recipe.Pareto, recipe.HandlerInput{Cells: cells})
	if n := strings.Count(got, `"pareto_optimal":true`); n != 3 {
		t.Errorf("%d points: %s", n, got)
	}
	for _, want := range []string{`{"x_metric":"time_to_first_token","x_stat":"p95","y_metric":"output_token_throughput",` +
		`"y_stat":"avg","cells":[{"isl":16,"osl":4,"concurrency":1,"x":50.0,"y":100.0,"pareto_optimal":true}`,
		`{"isl":16,"osl":4,"concurrency":5,"x":null,"y":500.0,"pareto_optimal":false}]}`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestTrapAFailureLeavesAReason in place of the document, and a later success takes it away.
func TestTrapAFailureLeavesAReason(t *testing.T) {
	dir := t.TempDir()
	if path, _, err := recipe.WriteDocument(dir, recipe.Knee, "knee.json",
		recipe.HandlerInput{Cells: ramp()}); err != nil || path == "" {
		t.Fatal(err)
	}
	_, _, err := recipe.WriteDocument(dir, recipe.Knee, "knee.json",
		recipe.HandlerInput{Params: artifact.Object{{Key: "swept_param", Value: "x.y"}},
			Cells: ramp()})
	if !errors.Is(err, recipe.ErrData) {
		t.Errorf("%v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, recipe.ErrorsFile))
	if err != nil {
		t.Fatal(err)
	}
	var reason map[string]string
	if err := json.Unmarshal(text, &reason); err != nil {
		t.Fatal(err)
	}
	if reason["handler"] != recipe.Knee || reason["output_filename"] != "knee.json" ||
		reason["type"] != "InsufficientData" ||
		!strings.Contains(reason["error"], "x.y") {
		t.Errorf("%v", reason)
	}
	if _, err := os.Stat(filepath.Join(dir, "knee.json")); err == nil {
		t.Error("the document of an earlier sweep stays")
	}
	if _, _, err := recipe.WriteDocument(dir, recipe.Knee, "knee.json",
		recipe.HandlerInput{Cells: ramp()}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, recipe.ErrorsFile)); err == nil {
		t.Error("the reason of an earlier failure stays")
	}
	if err := recipe.CheckHandler("degradation_knee"); err == nil ||
		!strings.Contains(err.Error(), "did you mean "+recipe.Knee) {
		t.Errorf("%v", err)
	}
	if _, _, err := recipe.MakeDocument(recipe.Knee, recipe.HandlerInput{Cells: ramp(),
		Params: artifact.Object{{Key: "threshold", Value: "a lot"}}}); !errors.Is(err, recipe.ErrParams) {
		t.Errorf("%v", err)
	}
	if _, _, err := recipe.MakeDocument("x", recipe.HandlerInput{}); !errors.Is(err, recipe.ErrHandler) {
		t.Errorf("%v", err)
	}
}

package recipe

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/suggest"
	"aiperf/internal/experiment/search"
	"aiperf/internal/result/answer"
)

// The handlers.
const (
	Knee       = "degradation_knee_detect"
	PrefillFit = "ttft_curve_fit"
	DecodeFit  = "itl_surface_fit"
	Breach     = "sla_breach_knee"
	Pareto     = "pareto_sweep_export"
)

// ErrorsFile holds why a document could not be made, in the place of the document.
const ErrorsFile = "post_process_errors.json"

// PostProcessCell is a configuration of a sweep with its figures.
type PostProcessCell struct {
	// Values are the swept paths, or what stands for them, with the values of the cell.
	Values artifact.Object
	// Figure returns a statistic of a metric over the runs of the cell, and whether they have it.
	Figure func(metric, stat string) (float64, bool)
}

// HandlerInput is what a handler works on.
type HandlerInput struct {
	// Params are those of the block, or nil: every parameter has a default.
	Params  artifact.Object
	Cells   []PostProcessCell
	Filters []search.Filter

	warnings []string
}

// handlers makes the documents.
var handlers = map[string]func(*HandlerInput) (artifact.Object, error){
	Knee: (*HandlerInput).knee, PrefillFit: (*HandlerInput).prefill, DecodeFit: (*HandlerInput).decode, Breach: (*HandlerInput).breach,
	Pareto: (*HandlerInput).pareto,
}

// HandlerNames lists the handlers.
func HandlerNames() []string { return []string{Knee, PrefillFit, DecodeFit, Breach, Pareto} }

// MakeDocument makes the document of a handler. The warnings say which cells are not in it.
func MakeDocument(handler string, in HandlerInput) (document artifact.Object, warnings []string, err error) {
	f, ok := handlers[handler]
	if !ok {
		return nil, nil, fmt.Errorf("%w %q; known are %s", ErrHandler, handler, strings.Join(HandlerNames(), ", "))
	}
	document, err = f(&in)
	return document, in.warnings, err
}

// What keeps a handler from making its document: [ErrHandler] is the error of a name that no handler has, [ErrData]
// that of cells without the figures that the handler needs, [ErrParams] that of parameters that it cannot take.
var (
	ErrHandler = errors.New("there is no handler")
	ErrData    = errors.New("the cells have too little")
	ErrParams  = errors.New("the parameters do not fit")
)

// CheckHandler reports a handler that does not exist.
func CheckHandler(handler string) error {
	if _, ok := handlers[handler]; ok {
		return nil
	}
	if near := suggest.Nearest(handler, HandlerNames()); near != "" {
		return fmt.Errorf("%w %s; did you mean %s?", ErrHandler, handler, near)
	}
	return fmt.Errorf("%w %s; known are %s", ErrHandler, handler, strings.Join(HandlerNames(), ", "))
}

// FailureDocument is [ErrorsFile].
type FailureDocument struct {
	Handler string `json:"handler"`
	Output  string `json:"output_filename"`
	Error   string `json:"error"`
	Type    string `json:"type"`
}

// WriteDocument makes a document and writes it to a file of a folder. If it cannot be made, post_process_errors.json says why,
// and the error does too.
func WriteDocument(dir, handler, output string, in HandlerInput) (path string, warnings []string, err error) {
	path = filepath.Join(dir, output)
	document, warnings, err := MakeDocument(handler, in)
	if err != nil {
		reason := artifact.ObjectOf(FailureDocument{handler, output, err.Error(), kindOf(err)})
		return "", warnings, errors.Join(fmt.Errorf("%s: %w", output, err), artifact.RemoveStale(path),
			artifact.WriteObject(filepath.Join(dir, ErrorsFile), reason))
	}
	if err := os.Remove(filepath.Join(dir, ErrorsFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", warnings, err
	}
	return path, warnings, artifact.WriteObject(path, document)
}

// kindOf names the class of an error in the file.
func kindOf(err error) string {
	switch {
	case errors.Is(err, ErrHandler):
		return "UnknownHandler"
	case errors.Is(err, ErrParams):
		return "InvalidParameters"
	}
	return "InsufficientData"
}

// text returns a parameter.
func (in *HandlerInput) text(key, def string) string {
	v, _ := in.Params.Get(key)
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	return def
}

// number returns a parameter.
func (in *HandlerInput) number(key string, def float64) (float64, error) {
	v, ok := in.Params.Get(key)
	if !ok || v == nil {
		return def, nil
	}
	n, ok := numeric(v)
	if !ok {
		return 0, fmt.Errorf("%w: %s must be a number", ErrParams, key)
	}
	return n, nil
}

func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, artifact.Finite(v)
	}
	return 0, false
}

// leaf returns the last segment of a path, or what is distributed where that is a mean.
func leaf(path string) string {
	segments := strings.Split(path, ".")
	last := segments[len(segments)-1]
	if n := len(segments); n > 1 && (last == "mean" || last == "value") {
		return segments[n-2]
	}
	return last
}

// value returns the value of a cell for a path: under the path itself, or under another one that ends alike.
func (c *PostProcessCell) value(path string) (key string, value any, ok bool) {
	if v, ok := c.Values.Get(path); ok {
		return path, v, true
	}
	for _, m := range c.Values {
		if leaf(m.Key) == leaf(path) {
			return m.Key, m.Value, true
		}
	}
	return "", nil, false
}

// point is a cell with the value of one parameter.
type point struct {
	*PostProcessCell
	at float64
	// value is at as the cell has it.
	value any
}

// points returns the cells in the order of a parameter, and the path under which they have it.
func (in *HandlerInput) points(path string) (list []point, key string, err error) {
	for i := range in.Cells {
		c := &in.Cells[i]
		k, v, ok := c.value(path)
		at, isNumber := numeric(v)
		if !ok || !isNumber {
			in.warnings = append(in.warnings, fmt.Sprintf("a cell has no number %s: %v", leaf(path), c.Values))
			continue
		}
		key = cmp.Or(key, k)
		list = append(list, point{c, at, v})
	}
	if len(list) == 0 {
		return nil, "", fmt.Errorf("%w: no cell has a number %s", ErrData, path)
	}
	slices.SortStableFunc(list, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	return list, key, nil
}

// sweptParam returns the parameter that the block names, else the only one whose values differ.
func (in *HandlerInput) sweptParam() string {
	if p := in.text("swept_param", ""); p != "" || len(in.Cells) == 0 {
		return p
	}
	for _, m := range in.Cells[0].Values {
		for i := range in.Cells {
			if v, _ := in.Cells[i].Values.Get(m.Key); v != m.Value {
				return m.Key
			}
		}
	}
	if len(in.Cells[0].Values) > 0 {
		return in.Cells[0].Values[0].Key
	}
	return ""
}

// numberOrNull returns nil for what is no number.
func numberOrNull(v float64, ok bool) any {
	if !ok || !artifact.Finite(v) {
		return nil
	}
	return v
}

// knee finds the first value of a parameter at which a metric is worse than at the lowest one by more than a share.
func (in *HandlerInput) knee() (artifact.Object, error) {
	metric, stat := in.text("metric_tag", "request_latency"), in.text("stat", "p99")
	threshold, err := in.number("threshold", 0.2)
	if err != nil {
		return nil, err
	}
	list, path, err := in.points(in.sweptParam())
	if err != nil {
		return nil, err
	}
	name := leaf(path)
	baseline, ok := list[0].Figure(metric, stat)
	if !ok || !artifact.Finite(baseline) || baseline <= 0 {
		return nil, fmt.Errorf("%w: %s %s at the lowest %s is not a number above 0, so nothing can be compared with it",
			ErrData, metric, stat, name)
	}
	var knee, kneeStat any
	all := []any{}
	for _, p := range list {
		v, ok := p.Figure(metric, stat)
		if ok && knee == nil && v > baseline*(1+threshold) {
			knee, kneeStat = p.value, v
		}
		all = append(all, artifact.Object{{Key: name, Value: p.value}, {Key: stat, Value: numberOrNull(v, ok)}})
	}
	return artifact.Object{
		{Key: "baseline_" + name, Value: list[0].value}, {Key: "baseline_" + stat, Value: baseline},
		{Key: "knee_" + name, Value: knee}, {Key: "knee_" + stat, Value: kneeStat},
		{Key: "threshold_pct", Value: threshold}, {Key: "swept_metric", Value: metric}, {Key: "stat", Value: stat},
		{Key: "swept_param", Value: path}, {Key: "all_points", Value: all},
	}, nil
}

// breach finds the highest value of a parameter that meets all conditions, and the lowest that does not.
func (in *HandlerInput) breach() (artifact.Object, error) {
	if len(in.Filters) == 0 {
		return nil, fmt.Errorf("%w: there are no sla_filters", ErrParams)
	}
	list, path, err := in.points(in.sweptParam())
	if err != nil {
		return nil, err
	}
	name := leaf(path)
	var passing, failing, first any
	monotonic := true
	all := []any{}
	for _, p := range list {
		breaches := []any{}
		for _, f := range in.Filters {
			if v, ok := p.Figure(f.Metric, f.Stat); !ok || !f.Passes(v) {
				breach := answer.BreachDocument{LimitDocument: limit(f)}
				if ok {
					breach.Observed = artifact.Known(v)
				}
				breaches = append(breaches, artifact.ObjectOf(breach))
			}
		}
		if len(breaches) == 0 {
			passing, monotonic = p.value, monotonic && failing == nil
		} else if failing == nil {
			failing, first = p.value, breaches[0]
		}
		all = append(all, artifact.Object{{Key: name, Value: p.value}, {Key: "feasible", Value: len(breaches) == 0},
			{Key: "breaches", Value: breaches}})
	}
	filters := []any{}
	for _, f := range in.Filters {
		filters = append(filters, artifact.ObjectOf(limit(f)))
	}
	return artifact.Object{
		{Key: "swept_param", Value: path}, {Key: "max_passing_" + name, Value: passing},
		{Key: "first_failing_" + name, Value: failing}, {Key: "first_failing_breach", Value: first},
		{Key: "all_points", Value: all}, {Key: "monotonicity_check", Value: monotonic}, {Key: "filters", Value: filters},
	}, nil
}

func limit(f search.Filter) answer.LimitDocument {
	return answer.LimitDocument{Metric: f.Metric, Stat: f.Stat, Op: f.Op, Threshold: &f.Threshold}
}

// FrontDocument marks the cells of a Pareto front.
type FrontDocument struct {
	XMetric string              `json:"x_metric"`
	XStat   string              `json:"x_stat"`
	YMetric string              `json:"y_metric"`
	YStat   string              `json:"y_stat"`
	Cells   []FrontCellDocument `json:"cells"`
}

// FrontCellDocument is a cell; what it does not have is null.
type FrontCellDocument struct {
	ISL         any      `json:"isl"`
	OSL         any      `json:"osl"`
	Concurrency any      `json:"concurrency"`
	X           *float64 `json:"x"`
	Y           *float64 `json:"y"`
	Optimal     bool     `json:"pareto_optimal"`
}

// pareto marks the cells that no other one beats in both figures: x is better when it is small, y when it is large.
func (in *HandlerInput) pareto() (artifact.Object, error) {
	xMetric, xStat := in.text("x_metric", "time_to_first_token"), in.text("x_stat", "p95")
	yMetric, yStat := in.text("y_metric", "output_token_throughput"), in.text("y_stat", "avg")
	type mark struct {
		x, y   float64
		finite bool
	}
	marks := make([]mark, len(in.Cells))
	for i, c := range in.Cells {
		x, okX := c.Figure(xMetric, xStat)
		y, okY := c.Figure(yMetric, yStat)
		if !okX {
			x = math.NaN()
		}
		if !okY {
			y = math.NaN()
		}
		marks[i] = mark{x, y, artifact.Finite(x) && artifact.Finite(y)}
	}
	d := FrontDocument{XMetric: xMetric, XStat: xStat, YMetric: yMetric, YStat: yStat}
	for i, c := range in.Cells {
		m := marks[i]
		best := m.finite
		for _, o := range marks {
			if o.finite && o.x <= m.x && o.y >= m.y && (o.x < m.x || o.y > m.y) {
				best = false
			}
		}
		one := FrontCellDocument{X: artifact.Known(m.x), Y: artifact.Known(m.y), Optimal: best}
		_, one.ISL, _ = c.value("isl")
		_, one.OSL, _ = c.value("osl")
		_, one.Concurrency, _ = c.value("concurrency")
		d.Cells = append(d.Cells, one)
	}
	return artifact.ObjectOf(d), nil
}

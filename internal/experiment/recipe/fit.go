package recipe

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/artifact"
)

// fitFloor is the coefficient of determination below which a straight line does not fit.
const fitFloor = 0.85

// prefill fits the time to first token over the length of the input: a straight line, or a parabola where that fits
// badly.
func (in *HandlerInput) prefill() (artifact.Object, error) {
	metric, stat := in.text("metric_tag", "time_to_first_token"), in.text("stat", "avg")
	list, path, err := in.points(in.text("swept_param", "isl"))
	if err != nil {
		return nil, err
	}
	var x, y []float64
	var raw []LengthPoint
	for _, p := range list {
		v, ok := p.Figure(metric, stat)
		if !ok || !artifact.Finite(v) {
			in.warnings = append(in.warnings, fmt.Sprintf("isl %v has no %s %s and is not in the curve", p.value, metric,
				stat))
			continue
		}
		x, y = append(x, p.at), append(y, v)
		raw = append(raw, LengthPoint{p.value, v})
	}
	form, coefficients, fit := "linear", []float64{}, math.NaN()
	reason := ""
	if distinct := slices.Compact(slices.Clone(x)); len(distinct) < 2 {
		reason = fmt.Sprintf("a curve needs at least 2 lengths with a finite figure, and there are %d", len(distinct))
	} else {
		coefficients = polynomial(x, y, 1)
		fit = determination(x, y, coefficients)
		if fit < fitFloor && len(distinct) > 2 {
			form, coefficients = "quadratic", polynomial(x, y, 2)
			fit = determination(x, y, coefficients)
		}
	}
	return artifact.ObjectOf(CurveDocument{Form: form, Coefficients: coefficients, RSquared: artifact.Known(fit),
		BelowFloor: !(fit >= fitFloor), Floor: fitFloor, Raw: raw, Metric: metric, Stat: stat, Param: path,
		Reason: reason}), nil
}

// CurveDocument is the time to first token over the length of the input.
type CurveDocument struct {
	Form         string        `json:"fit_form"`
	Coefficients []float64     `json:"coefficients"`
	RSquared     *float64      `json:"r_squared"`
	BelowFloor   bool          `json:"below_floor"`
	Floor        float64       `json:"r_squared_floor"`
	Raw          []LengthPoint `json:"raw_points"`
	Metric       string        `json:"swept_metric"`
	Stat         string        `json:"stat"`
	Param        string        `json:"swept_param"`
	Reason       string        `json:"error_reason,omitempty"`
}

// LengthPoint is what was measured at a length of the input.
type LengthPoint struct {
	ISL    any     `json:"isl"`
	TTFTMS float64 `json:"ttft_ms"`
}

// SurfaceDocument is the inter token latency over concurrency and length of the output.
type SurfaceDocument struct {
	Metric string         `json:"swept_metric"`
	Stat   string         `json:"stat"`
	Params [2]string      `json:"swept_params"`
	Raw    []SurfacePoint `json:"raw_points"`
	Grid   SurfaceGrid    `json:"surface"`
	Failed bool           `json:"surface_fit_failed"`
	Reason string         `json:"error_reason,omitempty"`
}

// SurfacePoint is what was measured at a concurrency and a length of the output.
type SurfacePoint struct {
	Concurrency any     `json:"concurrency"`
	OSL         any     `json:"osl"`
	ITLMS       float64 `json:"itl_ms"`
}

// SurfaceGrid has a row for each concurrency; null is what was not measured.
type SurfaceGrid struct {
	Concurrencies []any        `json:"concurrency_axis"`
	Lengths       []any        `json:"osl_axis"`
	ITL           [][]*float64 `json:"itl_grid"`
}

// polynomial returns the coefficients of the least-squares polynomial of a degree, that of the highest power first.
// It solves the normal equations for x shifted to its mean and scaled to its range, in which they are well conditioned.
func polynomial(x, y []float64, degree int) []float64 {
	shift, scale := 0.0, 0.0
	for _, v := range x {
		shift += v / float64(len(x))
	}
	for _, v := range x {
		scale = max(scale, math.Abs(v-shift))
	}
	n := degree + 1
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n+1)
		for k, v := range x {
			u := (v - shift) / scale
			for j := range n {
				rows[i][j] += math.Pow(u, float64(i+j))
			}
			rows[i][n] += y[k] * math.Pow(u, float64(i))
		}
	}
	scaled := solve(rows)
	// Powers of (x - shift)/scale written out as powers of x, the lowest first.
	out := make([]float64, n)
	for i, c := range scaled {
		for j := 0; j <= i; j++ {
			out[j] += c / math.Pow(scale, float64(i)) * binomial(i, j) * math.Pow(-shift, float64(i-j))
		}
	}
	slices.Reverse(out)
	return out
}

func binomial(n, k int) float64 {
	b := 1.0
	for i := range k {
		b = b * float64(n-i) / float64(i+1)
	}
	return b
}

// solve solves linear equations whose right sides are the last column, by elimination with pivots.
func solve(rows [][]float64) []float64 {
	n := len(rows)
	for i := range n {
		p := i
		for k := i + 1; k < n; k++ {
			if math.Abs(rows[k][i]) > math.Abs(rows[p][i]) {
				p = k
			}
		}
		rows[i], rows[p] = rows[p], rows[i]
		for k := i + 1; k < n; k++ {
			f := rows[k][i] / rows[i][i]
			for j := i; j <= n; j++ {
				rows[k][j] -= f * rows[i][j]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = rows[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= rows[i][j] * x[j]
		}
		x[i] /= rows[i][i]
	}
	return x
}

// determination returns the share of the variance of y that a polynomial explains; 1 where y does not vary.
func determination(x, y, coefficients []float64) float64 {
	mean := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	var rest, all float64
	for i, v := range x {
		fitted := 0.0
		for _, c := range coefficients {
			fitted = fitted*v + c
		}
		rest += (y[i] - fitted) * (y[i] - fitted)
		all += (y[i] - mean) * (y[i] - mean)
	}
	if all == 0 {
		return 1
	}
	return 1 - rest/all
}

// decode lays the inter token latency out over concurrency and length of the output.
func (in *HandlerInput) decode() (artifact.Object, error) {
	metric, stat := in.text("metric_tag", "inter_token_latency"), in.text("stat", "avg")
	type corner struct{ concurrency, osl float64 }
	found := map[corner]float64{}
	var concurrencies, lengths []float64
	written := map[float64]any{}
	var raw []SurfacePoint
	var paths [2]string
	list, _, err := in.points("concurrency")
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		lengthPath, length, _ := p.PostProcessCell.value("osl")
		at, ok := numeric(length)
		if !ok {
			in.warnings = append(in.warnings, fmt.Sprintf("a cell has no number osl: %v", p.Values))
			continue
		}
		loadPath, _, _ := p.PostProcessCell.value("concurrency")
		paths = [2]string{loadPath, lengthPath}
		v, ok := p.Figure(metric, stat)
		if !ok || !artifact.Finite(v) || v < 0 {
			in.warnings = append(in.warnings, fmt.Sprintf("concurrency %v with osl %v has no usable %s %s and is not in "+
				"the surface", p.value, length, metric, stat))
			continue
		}
		written[p.at], written[at] = p.value, length
		concurrencies, lengths = append(concurrencies, p.at), append(lengths, at)
		found[corner{p.at, at}] = v
		raw = append(raw, SurfacePoint{p.value, length, v})
	}
	slices.Sort(concurrencies)
	slices.Sort(lengths)
	concurrencies, lengths = slices.Compact(concurrencies), slices.Compact(lengths)
	axis := func(values []float64) []any {
		list := []any{}
		for _, v := range values {
			list = append(list, written[v])
		}
		return list
	}
	var grid [][]*float64
	for _, c := range concurrencies {
		var row []*float64
		for _, l := range lengths {
			if v, ok := found[corner{c, l}]; ok {
				row = append(row, &v)
			} else {
				row = append(row, nil)
			}
		}
		grid = append(grid, row)
	}
	d := SurfaceDocument{Metric: metric, Stat: stat, Params: paths, Raw: raw, Failed: len(raw) == 0,
		Grid: SurfaceGrid{axis(concurrencies), axis(lengths), grid}}
	if d.Failed {
		d.Reason = fmt.Sprintf("no cell has a usable %s %s", metric, stat)
	}
	return artifact.ObjectOf(d), nil
}

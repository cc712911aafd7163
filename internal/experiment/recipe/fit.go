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
	raw := []any{}
	for _, p := range list {
		v, ok := p.Figure(metric, stat)
		if !ok || !artifact.Finite(v) {
			in.warnings = append(in.warnings, fmt.Sprintf("isl %v has no %s %s and is not in the curve", p.value, metric,
				stat))
			continue
		}
		x, y = append(x, p.at), append(y, v)
		raw = append(raw, artifact.Object{{Key: "isl", Value: p.value}, {Key: "ttft_ms", Value: v}})
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
	o := artifact.Object{
		{Key: "fit_form", Value: form}, {Key: "coefficients", Value: list64(coefficients)},
		{Key: "r_squared", Value: numberOrNull(fit, true)}, {Key: "below_floor", Value: !(fit >= fitFloor)},
		{Key: "r_squared_floor", Value: fitFloor}, {Key: "raw_points", Value: raw}, {Key: "swept_metric", Value: metric},
		{Key: "stat", Value: stat}, {Key: "swept_param", Value: path},
	}
	if reason != "" {
		o = append(o, artifact.Member{Key: "error_reason", Value: reason})
	}
	return o, nil
}

func list64(values []float64) []any {
	list := []any{}
	for _, v := range values {
		list = append(list, v)
	}
	return list
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
	raw := []any{}
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
		raw = append(raw, artifact.Object{{Key: "concurrency", Value: p.value}, {Key: "osl", Value: length},
			{Key: "itl_ms", Value: v}})
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
	grid := []any{}
	for _, c := range concurrencies {
		row := []any{}
		for _, l := range lengths {
			v, ok := found[corner{c, l}]
			row = append(row, numberOrNull(v, ok))
		}
		grid = append(grid, row)
	}
	o := artifact.Object{{Key: "swept_metric", Value: metric}, {Key: "stat", Value: stat},
		{Key: "swept_params", Value: []any{paths[0], paths[1]}}, {Key: "raw_points", Value: raw},
		{Key: "surface", Value: artifact.Object{{Key: "concurrency_axis", Value: axis(concurrencies)},
			{Key: "osl_axis", Value: axis(lengths)}, {Key: "itl_grid", Value: grid}}},
		{Key: "surface_fit_failed", Value: len(raw) == 0}}
	if len(raw) == 0 {
		o = append(o, artifact.Member{Key: "error_reason", Value: fmt.Sprintf("no cell has a usable %s %s", metric, stat)})
	}
	return o, nil
}

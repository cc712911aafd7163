package servermetrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
)

// layouts are the buckets that vLLM has for its latencies, each with a typical latency in seconds.
var layouts = []struct {
	name    string
	typical float64
	upper   []float64
}{
	{"e2e latency", 4, []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920,
		7680, inf}},
	{"first token", 0.15, []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5,
		10, 20, 40, 80, 160, 640, 2560, inf}},
	{"inter-token", 0.03, []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
		20, 40, 80, inf}},
}

// shapes draw latencies around a typical one.
var shapes = []struct {
	name string
	draw func(r *rand.Rand, typical float64) float64
}{
	{"lognormal", func(r *rand.Rand, m float64) float64 { return m * math.Exp(0.6*r.NormFloat64()) }},
	{"bimodal", func(r *rand.Rand, m float64) float64 {
		if r.IntN(10) < 6 {
			return 0.3 * m * math.Exp(0.15*r.NormFloat64())
		}
		return 3 * m * math.Exp(0.2*r.NormFloat64())
	}},
	{"heavy tail", func(r *rand.Rand, m float64) float64 { return 0.5 * m * math.Pow(1-r.Float64(), -1/1.3) }},
	{"narrow", func(r *rand.Rand, m float64) float64 { return m * math.Exp(0.05*r.NormFloat64()) }},
}

// measured are the relative errors of one way to estimate.
type measured struct {
	sum, worst float64
	n          int
}

func (m *measured) add(got, want float64) {
	e := math.Abs(got-want) / want
	m.sum += e
	m.worst = max(m.worst, e)
	m.n++
}

func (m *measured) mean() float64 { return 100 * m.sum / float64(m.n) }

// observe records observations in scrapes of perScrape each and returns what they really were.
func observe(r *rand.Rand, upper []float64, perScrape, scrapes int, draw func() float64) (*Store, []float64) {
	store := NewStore(Options{})
	sample := prom.Sample{Series: histogramOf("h", upper...), Buckets: make([]float64, len(upper))}
	var truth []float64
	for n := range scrapes + 1 {
		store.Endpoint("e").Add(Scrape{TimestampNS: int64(n) * hourInterval, Samples: []prom.Sample{sample}})
		for range perScrape {
			v := draw()
			truth = append(truth, v)
			for k := len(upper) - 1; k >= 0 && v <= upper[k]; k-- {
				sample.Buckets[k]++
			}
			sample.Sum += v
			sample.Count++
		}
	}
	return store, truth[:perScrape*scrapes]
}

// TestEstimatorTable compares the estimates with the true percentiles, beside interpolation within the bucket
// alone. Few observations per scrape tell more about each bucket than many.
func TestEstimatorTable(t *testing.T) {
	const total = 2000
	seeds := testkit.Seeds(2, 10)
	var table strings.Builder
	fmt.Fprintf(&table, "\nmean (worst) relative error in %%, %d observations, %d runs each\n"+
		"%-12s %-12s %-10s %18s %18s\n",
		total, seeds, "shape", "buckets", "per scrape", "estimate", "linear")
	for _, shape := range shapes {
		var overall [2]measured
		for _, layout := range layouts {
			for _, perScrape := range []int{1, 10, 100} {
				estimate, linear := measure(t, shape.draw, layout.typical, layout.upper, perScrape, total/perScrape,
					seeds)
				fmt.Fprintf(&table, "%-12s %-12s %-10d %8.1f (%7.1f) %8.1f (%7.1f)\n", shape.name, layout.name,
					perScrape,
					estimate.mean(), 100*estimate.worst, linear.mean(), 100*linear.worst)
				for i, m := range []measured{estimate, linear} {
					overall[i].sum += m.sum
					overall[i].n += m.n
				}
			}
		}
		fmt.Fprintf(&table, "%-12s %-12s %-10s %8.1f %19.1f\n", shape.name, "all", "", overall[0].mean(),
			overall[1].mean())
		if shape.name == "lognormal" && overall[0].mean() >= overall[1].mean() {
			t.Errorf("on %s the estimate's mean error is %.2f %%, that of linear interpolation %.2f %%",
				shape.name, overall[0].mean(), overall[1].mean())
		}
	}
	t.Log(table.String())
}

func measure(t *testing.T, draw func(*rand.Rand, float64) float64, typical float64, upper []float64, perScrape, scrapes,
	seeds int) (estimate, linear measured) {
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		store, truth := observe(r, upper, perScrape, scrapes, func() float64 { return draw(r, typical) })
		stats := Compute(store, Settings{Phase: Window{0, int64(scrapes) * hourInterval},
			Bounds: true}).Families[0].Series[0]
		d := Distribution{Upper: upper, Buckets: stats.Buckets, Sum: stats.Histogram.Sum, Count: stats.Histogram.Count}
		straight, _ := d.linear()
		slices.Sort(truth)
		for i, want := range percentilesOfSorted(truth) {
			estimate.add(stats.Histogram.Estimates[i], want)
			linear.add(straight[i], want)
			if b := stats.Histogram.Bounds[i]; want < b.Lower || want > b.Upper {
				t.Errorf("%s is %v, outside of its bounds %v", metrics.PercentileKeys[i], want, b)
			}
		}
	}
	return estimate, linear
}

// linear estimates the percentiles by interpolation within the bucket alone, observations above the last
// finite bound being taken as at it; not known without observations or without a finite bound.
func (d *Distribution) linear() (metrics.Percentiles, bool) {
	var out metrics.Percentiles
	finite := d.finite()
	if finite == 0 || d.Buckets[len(d.Buckets)-1] <= 0 {
		return out, false
	}
	total := float64(d.Buckets[len(d.Buckets)-1])
	for i, p := range metrics.PercentileRanks {
		rank := p / 100 * total
		out[i] = d.Upper[finite-1]
		bound, below := 0.0, 0.0
		for k := range finite {
			upTo := float64(d.Buckets[k])
			if upTo >= rank {
				out[i] = bound
				if upTo != below {
					out[i] = bound + (d.Upper[k]-bound)*(rank-below)/(upTo-below)
				}
				break
			}
			bound, below = d.Upper[k], upTo
		}
	}
	return out, true
}

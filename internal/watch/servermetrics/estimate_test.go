package servermetrics

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
)

// The estimates equal those of an independent implementation, whose vectors are in testdata: a histogram's
// samples, one per second from the reference on, which of them is the last in the window, and what comes out.
func TestEstimatesOfAnIndependentImplementation(t *testing.T) {
	file, err := os.Open("testdata/estimates.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		var c struct {
			Upper []string
			Rows  []struct {
				Buckets    []float64
				Sum, Count float64
			}
			Final     int
			Estimates *metrics.Percentiles
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		series := histogramOf("h")
		series.Bounds = c.Upper
		for _, text := range c.Upper {
			upper, _ := strconv.ParseFloat(text, 64)
			series.Upper = append(series.Upper, upper)
		}
		store := NewStore(Options{}).Endpoint("e")
		for i, row := range c.Rows {
			store.Add(Scrape{TimestampNS: int64(i), Samples: []prom.Sample{
				{Series: series, Buckets: row.Buckets, Sum: row.Sum, Count: row.Count}}})
		}
		got := estimatesUpTo(store.Series()[0], c.Final)
		if (got == nil) != (c.Estimates == nil) {
			t.Errorf("line %d: got %v, want %v", n, got, c.Estimates)
			continue
		}
		for i := 0; got != nil && i < len(got); i++ {
			if !near(got[i], c.Estimates[i]) {
				t.Errorf("line %d: %s is %v, want %v", n, metrics.PercentileKeys[i], got[i], c.Estimates[i])
			}
		}
	}
}

// estimatesUpTo returns those of the growth from the first sample to another; all samples teach.
func estimatesUpTo(series *Series, final int) *metrics.Percentiles {
	var s Samples
	series.Read(&s, Window{0, 1<<63 - 1})
	buckets, _ := bucketGrowth(nil, &s, 0, final)
	d := Distribution{Upper: series.Upper, Buckets: buckets, Sum: s.Sum(final) - s.Sum(0),
		Count: int64(s.Count(final) - s.Count(0))}
	if !d.estimable() {
		return nil
	}
	d.Learned = learn(&s, d.finite())
	var e Estimator
	if p, ok := e.Estimate(d); ok {
		return &p
	}
	return nil
}

func TestEstimateNeedsSomething(t *testing.T) {
	for name, d := range map[string]Distribution{
		"no observations":  {Upper: []float64{1, inf}, Buckets: []int64{0, 0}, Sum: 1},
		"no buckets":       {Sum: 1, Count: 1},
		"no finite bucket": {Upper: []float64{inf}, Buckets: []int64{1}, Sum: 1, Count: 1},
		"negative sum":     {Upper: []float64{1, inf}, Buckets: []int64{1, 1}, Sum: -1, Count: 1},
		"infinite sum":     {Upper: []float64{1, inf}, Buckets: []int64{1, 1}, Sum: inf, Count: 1},
		"empty buckets":    {Upper: []float64{1, inf}, Buckets: []int64{0, 0}, Sum: 1, Count: 1},
	} {
		var e Estimator
		if p, ok := e.Estimate(d); ok {
			t.Errorf("%s: estimates %v", name, p)
		}
	}
}

// A first bound below zero holds all observations of its bucket.
func TestFirstBoundBelowZero(t *testing.T) {
	var e Estimator
	p, ok := e.Estimate(Distribution{Upper: []float64{-1, 0, inf}, Buckets: []int64{10, 10, 11}, Sum: 1, Count: 11})
	if !ok || p[0] != -1 || p[4] != -1 {
		t.Errorf("estimates are %v, %v", p, ok)
	}
}

// A learned spread that is tiny beside the bucket, with a mean near its lower bound, becomes two points.
func TestTightBucketBecomesTwoPoints(t *testing.T) {
	b := placed{lower: 0, upper: 1, count: 10, mean: 0.002, meanKnown: true, variance: 4e-6, varianceKnown: true}
	got := b.place(nil, true, 0.5)
	for i, v := range got {
		want := 0.0 // half of them: the deviation equals the distance to the bound
		if i >= 5 {
			want = 0.004
		}
		if !near(v, want) {
			t.Errorf("observation %d lies at %v, want %v", i, v, want)
		}
	}
	if len(got) != 10 {
		t.Errorf("%d observations", len(got))
	}
}

// genDistribution draws a histogram of up to maxPlaced observations together with its observations' bounds.
func genDistribution(t *rapid.T) Distribution {
	d := Distribution{}
	upper := 0.0
	for range rapid.IntRange(1, 8).Draw(t, "finite") {
		upper += rapid.Float64Range(0.001, 10).Draw(t, "width")
		d.Upper = append(d.Upper, upper)
	}
	if rapid.Bool().Draw(t, "infinite") {
		d.Upper = append(d.Upper, inf)
	}
	for k := range d.Upper {
		d.Count += rapid.Int64Range(0, 50).Draw(t, "own")
		d.Buckets = append(d.Buckets, d.Count)
		l := Learned{Intervals: rapid.IntRange(0, 4).Draw(t, "intervals")}
		lower := d.lower(k)
		l.Mean = lower + rapid.Float64Range(-0.1, 1.1).Draw(t, "mean")*(min(d.Upper[k], 1e3)-lower)
		l.Variance = rapid.SampledFrom([]float64{0, 1e-8, 1e-4, 0.01, 1}).Draw(t, "variance")
		d.Learned = append(d.Learned, l)
	}
	d.Sum = rapid.Float64Range(0.001, 2*upper).Draw(t, "mean of all") * float64(d.Count)
	return d
}

// No percentile leaves the bounds that its buckets set, and none is below a lower one.
func TestEstimatesLieWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDistribution(t)
		var e Estimator
		p, ok := e.Estimate(d)
		if ok != (d.Count > 0) {
			t.Fatalf("estimable: %v of %d observations", ok, d.Count)
		}
		if !ok {
			return
		}
		for i, b := range d.bounds() {
			slack := 1e-12 * (1 + p[i])
			if p[i] < b.Lower-slack || p[i] > b.Upper+slack {
				t.Fatalf("%s is %v, outside of %v", metrics.PercentileKeys[i], p[i], b)
			}
			if i > 0 && p[i] < p[i-1] {
				t.Fatalf("%s is %v, below %v", metrics.PercentileKeys[i], p[i], p[i-1])
			}
		}
	})
}

func TestBounds(t *testing.T) {
	d := Distribution{Upper: []float64{1, 2, 5, inf}, Buckets: []int64{50, 90, 98, 100}, Sum: 150, Count: 100}
	got := d.bounds()
	for _, c := range []struct {
		rank int
		want Bound
	}{
		{0, Bound{0, 1}},
		{4, Bound{0.5, 1.5}}, // between observations 50 and 51, one in each bucket
		{5, Bound{1, 2}},
		{7, Bound{2, 5}},
		{8, Bound{5, inf}},
	} {
		if b := got[c.rank]; !near(b.Lower, c.want.Lower) || b.Upper != c.want.Upper && !near(b.Upper, c.want.Upper) {
			t.Errorf("%s lies in %v, want %v", metrics.PercentileKeys[c.rank], b, c.want)
		}
	}
	if got[0].hasUpper() != true || got[8].hasUpper() != false || got[8].hasLower() != true {
		t.Errorf("presence of bounds is wrong: %v", got)
	}
	below := Distribution{Upper: []float64{-1, inf}, Buckets: []int64{1, 1}}
	if below.bounds()[0].hasLower() {
		t.Error("what lies below a negative first bound has a lower bound")
	}
}

func TestBoundsAreFieldsOnRequest(t *testing.T) {
	runScenario(t, `
		series h histogram le 0.1 1.0 +Inf: 0,0,0/0/0@0s 2,3,4/3/4@1s
		window 0.5s..1s
		bounds
		expect h: p1_lower 0 p1_upper 0.1 p50_lower 0.05 p50_upper 0.55 p99_lower 0.973`)
	store, _ := observe(nil, []float64{1, inf}, 1, 1, func() float64 { return 3 })
	s := Compute(store, Settings{Phase: Window{0, hourInterval}, Bounds: true}).Families[0].Series[0]
	if _, ok := s.Get("p99_upper"); ok {
		t.Error("there is an upper bound above the last bucket")
	}
	if f, ok := s.Get("p99_lower"); !ok || f.Value != 1 {
		t.Errorf("p99_lower is %v, %v", f, ok)
	}
}

func TestLinearEstimates(t *testing.T) {
	d := Distribution{Upper: []float64{0.1, 0.5, 1, inf}, Buckets: []int64{20, 60, 90, 100}}
	got, ok := d.linear()
	want := metrics.Percentiles{0.005, 0.025, 0.05, 0.15, 0.4, 0.75, 1, 1, 1}
	for i := range want {
		if !ok || !near(got[i], want[i]) {
			t.Errorf("%s is %v, want %v", metrics.PercentileKeys[i], got[i], want[i])
		}
	}
	if _, ok := (&Distribution{Upper: []float64{1, inf}, Buckets: []int64{0, 0}}).linear(); ok {
		t.Error("there are estimates of nothing")
	}
}

package servermetrics

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
)

func TestTrapSingleObservationAboveTheLastBoundSitsAtItsMean(t *testing.T) {
	runScenario(t, `
		series h histogram le 0.1 1.0 +Inf: 0,0,0/0/0@0s 2,3,4/3/4@1s
		window 0.5s..1s
		expect h: count 4 sum 3 avg 0.75 count_rate 4 sum_rate 3 p1_estimate 0.0265 p5_estimate 0.0325 p10_estimate 0.04 p25_estimate 0.0625 p50_estimate 0.3125 p75_estimate 1.0 p90_estimate 1.81 p95_estimate 2.08 p99_estimate 2.296 only
		buckets h: 2 3 4`)
}

// The published example of a histogram comes out to the last digit.
func TestEstimatesOfThePublishedExample(t *testing.T) {
	var e Estimator
	got, _ := e.Estimate(Distribution{Upper: []float64{0.1, 1, inf}, Buckets: []int64{2, 3, 4}, Sum: 3, Count: 4})
	want := metrics.Percentiles{0.026500000000000003, 0.0325, 0.04000000000000001, 0.06250000000000001, 0.3125, 1.0,
		1.8100000000000005, 2.0799999999999996, 2.296}
	if got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestTrapOneLearnedMeanWithoutVariance(t *testing.T) {
	runScenario(t, `
		series h histogram le 0.1 1.0 +Inf: 0,0,0/0/0@0s 0,10,10/3/10@1s
		window 0.5s..1s
		expect h: p1_estimate 0.1 p25_estimate 0.107625 p50_estimate 0.2655 p75_estimate 0.468 p99_estimate 0.6624`)
}

func TestTrapThreeIntervalsBlend(t *testing.T) {
	// 0.3, 0.32 and 0.28 lie within 0.1 to 1.0 as single observations.
	runScenario(t, `
		series h histogram le 0.1 1.0 +Inf: 0,0,0/0/0@0s 0,1,1/0.3/1@1s 0,2,2/0.62/2@2s 0,3,3/0.9/3@3s
		window 0.5s..3s
		expect h: p50_estimate 0.283333333333333 p99_estimate 0.449933333333333`)
}

func TestTrapTailInterpolatesUpToItsObservation(t *testing.T) {
	runScenario(t, `
		series h histogram le 0.1 1.0 +Inf: 0,0,0/0/0@0s 9,9,10/50.45/10@1s
		window 0.5s..1s
		expect h: p90_estimate 5.085 p99_estimate 45.5085`)
}

func TestTrapImpossibleTailMean(t *testing.T) {
	runScenario(t, `
		series h histogram le 0.1 1.0 +Inf: 0,0,0/0/0@0s 0,0,2/1.5/2@1s
		window 0.5s..1s
		expect h: p1_estimate 1.01 p50_estimate 1.5 p99_estimate 1.99`)
}

func TestTrapSumZeroEstimatesZero(t *testing.T) {
	runScenario(t, `
		series h histogram le 0.1 1.0 +Inf: 0,0,0/0/0@0s 5,5,5/0/5@1s
		window 0.5s..1s
		expect h: count 5 sum 0 avg 0 count_rate 5 sum_rate 0 p1_estimate 0 p5_estimate 0 p10_estimate 0 p25_estimate 0 p50_estimate 0 p75_estimate 0 p90_estimate 0 p95_estimate 0 p99_estimate 0 only`)
}

func TestTrapShiftIsLimitedByTheWidth(t *testing.T) {
	runScenario(t, `
		series h histogram le 0.1 1.0 +Inf: 0,0,0/0/0@0s 10,20,20/11/20@1s
		window 0.5s..1s
		expect h: p50_estimate 0.3025 p75_estimate 0.8875 p90_estimate 1 p95_estimate 1 p99_estimate 1`)
	var e Estimator
	e.Estimate(Distribution{Upper: []float64{0.1, 1, inf}, Buckets: []int64{10, 20, 20}, Sum: 11, Count: 20})
	if got, want := e.values[0], 0.005+0.04; !near(got, want) {
		t.Errorf("the first observation moved to %v, want %v", got, want)
	}
}

func TestTrapVarianceZeroIsNotTight(t *testing.T) {
	d := Distribution{Upper: []float64{0.1, 1, inf}, Buckets: []int64{0, 4, 4}, Sum: 1.2, Count: 4}
	estimate := func(l Learned) metrics.Percentiles {
		d.Learned = []Learned{{}, l}
		var e Estimator
		p, _ := e.Estimate(d)
		return p
	}
	zero := estimate(Learned{Mean: 0.3, Variance: 0, Intervals: 4})
	none := estimate(Learned{Mean: 0.3, Intervals: 1})
	tight := estimate(Learned{Mean: 0.3, Variance: 1e-12, Intervals: 4})
	if zero != none {
		t.Errorf("variance 0: %v, no variance: %v", zero, none)
	}
	if zero[0] == zero[8] || tight[0] != tight[8] {
		t.Errorf("variance 0 spreads to %v, a tiny one to %v", zero, tight)
	}
	// A mean at a bound is unusable: as if nothing had been learned.
	if at, nothing := estimate(Learned{Mean: 1, Variance: 0.01, Intervals: 4}), estimate(Learned{}); at != nothing {
		t.Errorf("mean at the bound: %v, nothing learned: %v", at, nothing)
	}
}

func TestTrapDominantBucket(t *testing.T) {
	for _, c := range []struct {
		largest int64
		want    bool
	}{{949, false}, {950, true}} {
		var e Estimator
		// The mean of the dominant bucket's observations and of all finite ones is near its lower end.
		d := Distribution{Upper: []float64{1, 2, 3, inf}, Buckets: []int64{0, c.largest, 1000, 1000}, Sum: 1300,
			Count:   1000,
			Learned: []Learned{{}, {Mean: 1.9, Intervals: 2}, {}}}
		e.spread(&d)
		if got := e.dominant(e.count()) == 1; got != c.want {
			t.Errorf("%d of 1000: dominant is %v", c.largest, got)
		}
		// 1.9 puts the first observation at 1.4 before the constraint moves it by up to 0.4; 1.3 puts it at the bound.
		if got := e.values[0] == 1; got != c.want {
			t.Errorf("%d of 1000: the first observation lies at %v", c.largest, e.values[0])
		}
		d.Learned[1] = Learned{Mean: 1.9, Variance: 0.0001, Intervals: 3}
		e.spread(&d)
		if e.values[0] < 1.4 {
			t.Errorf("%d of 1000: with a variance the first observation lies at %v", c.largest, e.values[0])
		}
	}
}

// The centre of a dominant bucket is the mean of the finite part: what lies above the last bound is taken out.
func TestTrapDominantCentreIsTheFiniteMean(t *testing.T) {
	var e Estimator
	d := Distribution{Upper: []float64{1, 2, inf}, Buckets: []int64{0, 99, 100}, Sum: 99*1.5 + 50, Count: 100}
	e.spread(&d)
	if got, want := e.values[49], 1.5; !near(got, want) {
		t.Errorf("the middle of the dominant bucket lies at %v, want %v", got, want)
	}
}

func TestTrapScalingTruncatesBucketsAndRoundsTheTailUp(t *testing.T) {
	var e Estimator
	e.Estimate(Distribution{Upper: []float64{1, 2, inf}, Buckets: []int64{999_990, 1_999_993, 2_000_000},
		Sum: 2_000_100, Count: 2_000_000})
	above := 0
	for _, v := range e.values {
		if v > 2 {
			above++
		}
	}
	// 999990·0.05 = 49999.5 and 1000003·0.05 = 50000.15
	if above != 1 || len(e.values) != 49_999+50_000+1 {
		t.Errorf("%d of %d lie above the last bound", above, len(e.values))
	}
}

func TestTrapExactlyTheLimitIsNotScaled(t *testing.T) {
	var e Estimator
	for _, c := range []struct {
		count int64
		want  int
	}{{100_000, 100_000}, {100_001, 49_999 + 50_000}} {
		e.Estimate(Distribution{Upper: []float64{1, 2, inf}, Buckets: []int64{50_000, c.count, c.count}, Sum: 100_000,
			Count: c.count})
		if len(e.values) != c.want {
			t.Errorf("%d observations: %d placed, want %d", c.count, len(e.values), c.want)
		}
	}
}

func TestTrapCounterRateIsOverTheSpanOfSamples(t *testing.T) {
	runScenario(t, `
		series x counter: 0@0s 50@1s 100@2s 200@3s 300@4s 400@5s
		window 2.1s..5s
		expect x: total 300 rate 100 only`)
}

func TestTrapPartialSliceStaysOutOfRates(t *testing.T) {
	runScenario(t, `
		series x counter: 0@0s 100@1s 200@2s 300@3s 400@4s 1000@5s
		window 0s..5s
		slice 2s
		expect x: total 1000 rate 200 rate_avg 100 rate_min 100 rate_max 100 rate_std 0 only
		slices x: 0s..2s total 200 rate 100; 2s..4s total 200 rate 100; 4s..5s partial total 600 rate 600`)
}

func TestTrapStandardDeviationIsTheSamples(t *testing.T) {
	runScenario(t, `
		series two gauge: 1@1s 2@2s
		series one gauge: 7@1s
		window 0s..3s
		expect two: avg 1.5 min 1 max 2 std 0.7071067811865476 p1 1.01 p5 1.05 p10 1.1 p25 1.25 p50 1.5 p75 1.75 p90 1.9 p95 1.95 p99 1.99 only
		expect one: avg 7 min 7 max 7 std 0 p1 7 p5 7 p10 7 p25 7 p50 7 p75 7 p90 7 p95 7 p99 7 only`)
}

func TestTrapGaugeSlicesAreHalfOpen(t *testing.T) {
	runScenario(t, `
		series x gauge: 0@0s 1@0.5s 2@1s 3@1.5s 4@2s 5@2.5s 6@3s 7@3.5s 8@4s
		window 0s..4s
		slice 1s
		slices x: 0s..1s avg 0.5 min 0 max 1; 1s..2s avg 2.5 min 2 max 3; 2s..3s avg 4.5 min 4 max 5; 3s..4s avg 7 min 6 max 8`)
}

func TestTrapSampleAtPhaseStartIsInTheWindow(t *testing.T) {
	runScenario(t, `
		series x counter: 10@0s 20@1s 50@2s
		series g gauge: 10@0s 20@1s 50@2s
		window 1s..2s
		expect x: total 40 rate 20
		expect g: min 20 max 50`)
}

func TestTrapConstantServer(t *testing.T) {
	runScenario(t, `
		series g gauge: 3@0s..59s/1s
		duplicates 1s..59s/1s
		window 10s..40s
		info total_fetches 60 unique_updates 1 first_fetch_ns 0 last_fetch_ns 59e9 first_update_ns 0 last_update_ns 0 duration_seconds 0 avg_update_interval_ms 0 median -1
		expect g: avg 3 std 0 p99 3`)
	store := NewStore(Options{})
	series := gaugeOf("g")
	for i := range 60 {
		store.Endpoint("e").Add(Scrape{TimestampNS: int64(i), Duplicate: i > 0, Samples: samplesOf(series, 3)})
	}
	var samples Samples
	store.Endpoint("e").Series()[0].Read(&samples, Window{0, 59})
	if samples.Len() != 60 {
		t.Errorf("%d samples", samples.Len())
	}
}

func TestTrapBucketsAreCumulative(t *testing.T) {
	runScenario(t, `
		series h histogram le 2.5 5 10 15 20 30 +Inf: 0,0,0,0,0,0,0/0/0@0s 1,1,3,11,18,18,19/260/19@1s
		window 0.5s..1s
		buckets h: 1 1 3 11 18 18 19
		expect h: count 19`)
}

func TestTrapNothingIsSlicedUnlessAsked(t *testing.T) {
	runScenario(t, `
		series x counter: 0@0s 100@1s 200@2s
		series g gauge: 0@0s 100@1s 200@2s
		series h histogram le 1 +Inf: 0,0/0/0@0s 1,2/3/2@1s 2,4/6/4@2s
		window 0s..2s
		expect x: total 200 rate 100 only
		slices x: none
		slices g: none
		slices h: none`)
}

// A bucket that is missing reads 0, whether the parser says so or describes the histogram without it.
func TestTrapMissingBucketInTheLastScrape(t *testing.T) {
	for _, last := range []string{
		"series h histogram le 0.1 1.0 +Inf: 0,5,5/2/5@2s",
		"series h histogram le 1.0 +Inf: 5,5/2/5@2s",
	} {
		runScenario(t, `
			series h histogram le 0.1 1.0 +Inf: 1,1,1/0.05/1@0s 2,3,3/1/3@1s
			`+last+`
			window 0.5s..2s
			slice 1s
			expect h: count 4 sum 1.95 avg 0.4875 count_rate 2 sum_rate 0.975 only
			buckets h: absent
			slices h: 0.5s..1.5s count 2 sum 0.95 avg 0.475 buckets 1 2 2; 1.5s..2s partial count 2 sum 1 avg 0.5 buckets absent
			warnings 1
			warning histogram h at e has buckets that held fewer observations`)
	}
}

// Endpoints that expose the same families have their series side by side.
func TestTrapSameFamiliesAtTwoEndpoints(t *testing.T) {
	var text strings.Builder
	for _, url := range []string{"b", "a"} {
		fmt.Fprintf(&text, "endpoint %s\n", url)
		for _, f := range []struct{ name, kind string }{{"g1", "gauge"}, {"g2", "gauge"}, {"g3", "gauge"},
			{"c", "counter"}} {
			for _, label := range []string{"1", "2"} {
				fmt.Fprintf(&text, "series %s{l=%q} %s: 1@0s 2@1s\n", f.name, label, f.kind)
			}
		}
	}
	runScenario(t, text.String()+`
		window 0s..1s
		families c g1 g2 g3
		warnings 0
		endpoint a
		expect c{l="2"}: total 1
		endpoint b
		expect c{l="1"}: total 1`)
}

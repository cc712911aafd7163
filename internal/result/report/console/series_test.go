package console

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/stats"
)

func TestSeriesTable(t *testing.T) {
	var out strings.Builder
	err := RenderSeries(&out, []SeriesRow{
		{Header: "Request Count", Unit: "requests", Stat: "avg",
			Estimate: stats.Estimate{Mean: 40, Low: 40, High: 40, N: 5}},
		{Header: "Request Error Rate", Unit: "%", Stat: "avg", Order: 9,
			Estimate: stats.Estimate{CV: math.Inf(1), N: 5}},
		{Header: "Time to First Token", Unit: "ms", Stat: "p99", Order: 1,
			Estimate: stats.Estimate{Mean: 1234.567, Std: 123.45, CV: 0.1, Low: 1000, High: 1469.125, N: 3}},
		{Header: "Time to Second Token", Unit: "ms", Stat: "avg", Order: 2,
			Estimate: stats.Estimate{Mean: 2, Std: 0.4, CV: 0.2, Low: -1.5, High: 5.5, N: 2}},
		{Header: "Inter Token Latency", Unit: "ms", Stat: "avg", Order: 3,
			Estimate: stats.Estimate{Mean: 8, Std: 0.4, CV: 0.05, Low: 7, High: 9, N: 2}},
		{Header: "Reasoning Tokens", Unit: "tokens", Stat: "avg", Order: 4,
			Estimate: stats.Confidence([]float64{8}, 0.999)},
	}, 0.999, Options{})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/series.txt", []byte(out.String()))
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0.95: "95 %", 0.999: "99.9 %", 0.9: "90 %", 0.99999: "99.999 %",
		1e-4: "0.01 %"} {
		if got := Percent(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}

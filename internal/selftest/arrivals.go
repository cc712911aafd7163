package selftest

import (
	"aiperf/internal/watch/trust"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// arrivalTest is a requested rate.
type arrivalTest struct {
	rate                int
	seconds, quick      float64
	delivered, lagP50MS float64 // good: delivered is the minimum, the lags are maxima
	lagP99MS            float64
}

// The limits are what an idle machine with four cores should reach: the count within 0.1 % and lags of 0.1 and 1 ms at
// 1,000 requests/s, the count within 1 % at 10,000. At 100 requests/s processors enter sleep states between two sends.
var arrivalTests = []arrivalTest{
	{100, 3, 0.5, 0.999, 0.25, 1},
	{1000, 2, 1, 0.999, 0.1, 1},
	{10000, 2, 0.5, 0.99, 1, 5},
}

// arrivals requests rates and reads from the server's record what arrived.
func (t *tester) arrivals() ([]Section, error) {
	s := Section{ID: "arrivals", Title: "Arrivals",
		Meaning: "rate at the server divided by the requested constant rate; delay of sends behind the " +
			"schedule and gaps at the server, in ms",
		Columns: []string{"sent", "delivered", "lag p50", "p99", "max", "gap p1", "p50", "p99"}}
	for _, test := range arrivalTests {
		line, err := t.arrive(test)
		if errors.Is(err, errStopped) {
			return []Section{s}, err
		}
		if err != nil {
			line = Line{Grade: Limited, Note: err.Error()}
		}
		line.ID, line.Title = fmt.Sprintf("rate_%d", test.rate), whole(int64(test.rate))+"/s"
		s.Lines = append(s.Lines, line)
	}
	return []Section{s}, nil
}

func (t *tester) arrive(test arrivalTest) (Line, error) {
	count := int(float64(test.rate) * pick(t, test.seconds, test.quick))
	out, truth, err := t.exchange(fmt.Sprintf("rate-%d", test.rate), []string{"--fast"},
		[]string{"--request-rate", strconv.Itoa(test.rate), "--arrival-pattern", "constant", "--request-count",
			strconv.Itoa(count),
			"--isl", "16", "--osl", "1", "--num-dataset-entries", "100"})
	if err != nil {
		return Line{}, err
	}
	summary, err := out.summary()
	if err != nil {
		return Line{}, err
	}
	h, err := summary.health()
	if err != nil {
		return Line{}, err
	}
	return arrivalLine(test, out.Result.Counts.Sent, out.Result.Counts.Errors, truth, orZero(h.ScheduleLag)), nil
}

// arrivalLine grades a rate. If no request failed and the server received fewer than were sent, that is a fault and
// not a matter of speed.
func arrivalLine(test arrivalTest, sent, failed int64, truth []serverLine, lag trust.LagDocument) Line {
	at := make([]int64, len(truth))
	for i := range truth {
		at[i] = truth[i].ArrivalNS
	}
	slices.Sort(at)
	gaps := make([]float64, 0, len(at))
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, float64(at[i]-at[i-1])/1e6)
	}
	slices.Sort(gaps)
	delivered := 0.0
	if n := len(at); n > 1 && at[n-1] > at[0] {
		delivered = float64(n-1) / (float64(at[n-1]-at[0]) / 1e9) / float64(test.rate)
	}
	p := func(rank float64) float64 { return percentile(gaps, rank) }
	line := Line{
		Cells: []string{whole(sent), number(100*delivered) + " %", number(lag.P50), number(lag.P99), number(lag.Max),
			number(p(1)), number(p(50)), number(p(99))},
		Figures: []Figure{{"target_per_second", int64(test.rate)}, {"sent", sent}, {"received", int64(len(truth))},
			{"failed", failed},
			{"delivered_share", delivered}, {"send_lag_p50_ms", lag.P50}, {"send_lag_p99_ms", lag.P99},
			{"send_lag_max_ms", lag.Max}},
	}
	if len(gaps) > 0 {
		avg, std := moments(gaps)
		line.Figures = append(line.Figures, Figure{"gap_avg_ms", avg}, Figure{"gap_std_ms", std},
			Figure{"gap_p1_ms", p(1)}, Figure{"gap_p50_ms", p(50)}, Figure{"gap_p99_ms", p(99)},
			Figure{"gap_max_ms", p(100)})
	}
	switch {
	case failed == 0 && int64(len(truth)) != sent:
		line.Grade, line.Note = Fail, fmt.Sprintf("%s requests were sent, the server received %s", whole(sent),
			whole(int64(len(truth))))
	case failed > 0:
		line.Grade, line.Note = Limited, fmt.Sprintf("%s requests failed", whole(failed))
	case delivered < test.delivered || lag.P50 > test.lagP50MS || lag.P99 > test.lagP99MS:
		line.Grade = Limited
		line.Note = fmt.Sprintf("good means at least %s %% delivered and lags of at most %s ms at p50 and %s ms at p99",
			number(100*test.delivered), number(test.lagP50MS), number(test.lagP99MS))
	default:
		line.Grade = Good
	}
	return line
}

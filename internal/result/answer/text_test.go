package answer_test

import (
	"math"
	"testing"
	"time"

	"aiperf/internal/result/answer"
)

func TestIntervalsHaveTheDigitsThatTheirWidthCallsFor(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{{11.9, 12.9, "11.9–12.9"}, {184, 199, "184–199"}, {66.2, 71.3, "66–71"},
		{0.0123, 0.0141, "0.0123–0.0141"},
		{1234, 5678, "1,234–5,678"}, {-6.2, 4.1, "-6 to 4"}, {5, 5, "5–5"},
		{math.NaN(), 1, ""}, {0, math.Inf(1), ""}} {
		if got := answer.Between(c.low, c.high); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

func TestHeadlineSaysWhatIsKnown(t *testing.T) {
	unknown := math.NaN()
	rate := answer.Parameter{Name: "request rate", Unit: "requests/s"}
	users := answer.Parameter{Name: "concurrency"}
	for want, c := range map[string]answer.Capacity{
		"12.4 requests/s, 95 %: 11.9–12.9": {Outcome: answer.Found, Load: rate, Value: 12.42, Low: 11.9, High: 12.9,
			Level: 0.95, Rate: answer.Single(unknown)},
		"concurrency 186, 95 %: 178–195 (12.4 requests/s)": {Outcome: answer.Found, Load: users, Value: 186, Low: 178,
			High: 195, Level: 0.95, Rate: answer.Single(12.4)},
		"concurrency 186": {Outcome: answer.Found, Load: users, Value: 186, Low: unknown, High: unknown,
			Rate: answer.Single(unknown)},
		"at least concurrency 1,000: the largest load of the range meets all limits": {Outcome: answer.WholeRange,
			Load: users,
			Lo:   1, Hi: 1000, Value: 1000, Rate: answer.Single(unknown)},
		"none: not even concurrency 1 meets the limits": {Outcome: answer.NotEvenSmallest, Load: users, Lo: 1, Hi: 1000,
			Value: unknown, Rate: answer.Single(unknown)},
		"not decided: concurrency between 64 and 128": {Outcome: answer.Undecided, Load: users,
			Value: 64, Low: 64, High: 128,
			Rate: answer.Single(unknown)},
		"not decided: concurrency 64 met the limits, beyond is not known": {Outcome: answer.Undecided, Load: users,
			Value: 64,
			Low:   unknown, High: unknown, Rate: answer.Single(unknown)},
		"prompts of 2,048 tokens, 95 %: 2,000–2,100": {Outcome: answer.Found,
			Load:  answer.NewParameter("datasets.main.prompts.isl"),
			Value: 2048, Low: 2000, High: 2100, Level: 0.95, Rate: answer.Single(unknown)},
		"at least replies of 4,096 tokens: the largest load of the range meets all limits": {Outcome: answer.WholeRange,
			Load: answer.NewParameter("datasets.main.prompts.osl"), Hi: 4096, Value: 4096, Rate: answer.Single(unknown)},
		"not decided: number of users between 8 and 12 users": {Outcome: answer.Undecided,
			Load: answer.NewParameter("phases.profiling.users"), Value: 8, Low: 8, High: 12, Rate: answer.Single(unknown)},
		"not decided": {Load: users, Value: unknown, Low: unknown, High: unknown, Rate: answer.Single(unknown)},
	} {
		if got := c.Headline(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{1500 * time.Millisecond: "1.5 s", 192 * time.Second: "3 min 12 s",
		59_960 * time.Millisecond: "60 s", 2*time.Hour + 90*time.Second: "2 h 1 min"} {
		if got := answer.Took(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// Which loads were measured is said beside the answer, and an estimate only as one.
func TestWhichLoadsWereMeasured(t *testing.T) {
	of := answer.NewParameter("phases.profiling.concurrency")
	for want, c := range map[string]answer.Capacity{
		"concurrency 24 met the limits, concurrency 27 did not, estimate of the boundary 25": {
			Outcome: answer.Found, Value: 24, Within: 24, Beyond: 27, Estimate: 25},
		"concurrency 24 met the limits, concurrency 25 did not": {
			Outcome: answer.Found, Value: 24, Within: 24, Beyond: 25, Estimate: 24},
		"concurrency 8 met the limits": {
			Outcome: answer.Found, Value: 8, Within: 8, Beyond: math.NaN(), Estimate: math.NaN()},
		"": {Outcome: answer.WholeRange, Value: 64, Within: 64, Beyond: math.NaN(), Estimate: 64},
	} {
		c.Load = of
		if got := c.Measured(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package twin_test

import (
	"math"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
	"aiperf/internal/measure/twin"

	"pgregory.net/rapid"
)

var unknown = math.NaN()

// lengths are requests of sessions of their own, at the same time, with prompts of these lengths.
func lengths(list ...int64) (out []twin.Request) {
	for i, n := range list {
		out = append(out, twin.Request{Session: uint64(i), AtMS: 1, TookMS: unknown, ThinkMS: unknown, Input: n, Output: -1})
	}
	return out
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// F of 1, 2, 3, 4 and G of 1, 2, 3, 9 are apart between 4 and 9 only: 1 − 3/4.
func TestDistanceIsThatOfTheDistributions(t *testing.T) {
	for name, of := range map[string]struct {
		a, b        []int64
		slack, want float64
	}{
		"equal":                          {[]int64{5, 5, 7}, []int64{7, 5, 5}, 0, 0},
		"one value of four is off":       {[]int64{1, 2, 3, 4}, []int64{1, 2, 3, 9}, 0, 0.25},
		"by less than the slack":         {[]int64{1, 2, 3, 4}, []int64{1, 2, 3, 9}, 5, 0},
		"by more than the slack":         {[]int64{1, 2, 3, 4}, []int64{1, 2, 3, 9}, 4, 0.25},
		"nothing in common":              {[]int64{1, 2}, []int64{3, 4, 5}, 0, 1},
		"twice as many of the same":      {[]int64{1, 2}, []int64{1, 1, 2, 2}, 0, 0},
		"a third of one is half of many": {[]int64{1, 2, 2}, []int64{1, 2}, 0, 0.5 - 1.0/3},
	} {
		a, b := twin.Recorded(lengths(of.a...)), twin.Recorded(lengths(of.b...))
		near(t, name, twin.Distance(a.Inputs, b.Inputs, of.slack), of.want)
		near(t, name+", turned round", twin.Distance(b.Inputs, a.Inputs, of.slack), of.want)
	}
}

func TestWithoutSlackTheDistanceIsKolmogorovSmirnovs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 20), 1, 40)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		floats := func(list []int64) (out []float64) {
			for _, n := range list {
				out = append(out, float64(n))
			}
			return out
		}
		want, _ := stats.SameDistribution(floats(a), floats(b))
		got := twin.Distance(twin.Recorded(lengths(a...)).Inputs, twin.Recorded(lengths(b...)).Inputs, 0)
		if math.Abs(got-want) > 1e-12 {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// Of more than a thousand values a thousand are kept: the distance of all is moved by a thousandth at most.
func TestManyValuesAreThinned(t *testing.T) {
	var a, b []int64
	for i := range int64(5000) {
		a, b = append(a, i), append(b, i+500)
	}
	x, y := twin.Recorded(lengths(a...)).Inputs, twin.Recorded(lengths(b...)).Inputs
	if len(x.Values) != 1000 || x.Count != 5000 || x.Mean != 2499.5 || x.Max != 4999 {
		t.Errorf("got %d values of %d, mean %v, max %v", len(x.Values), x.Count, x.Mean, x.Max)
	}
	if got := twin.Distance(x, y, 0); math.Abs(got-0.1) > 0.001 {
		t.Errorf("got %v, want 0.1", got)
	}
}

// Two requests, one from 0 to 100 ms and one from 50 to 200 ms: 250 ms of requests in 200 ms, at most two at once. The
// replay has the second one 100 ms later: in flight 1 until 100 ms and from 150 to 300 ms. Between 50 and 100 it is one
// less, between 100 and 150 ms one less, between 200 and 300 one more: 200 ms of 500 are apart.
func TestRequestsInFlightAreComparedOverTime(t *testing.T) {
	side := func(second float64) []twin.Request {
		return []twin.Request{
			{Session: 1, AtMS: 1000, TookMS: 100, ThinkMS: unknown, Input: -1, Output: -1},
			{Session: 2, AtMS: 1000 + second, TookMS: 150, ThinkMS: unknown, Input: -1, Output: -1},
		}
	}
	a := twin.Recorded(side(50))
	b := twin.Replayed(side(150), a.Flight)
	near(t, "mean", a.Flight.Mean, 1.25)
	near(t, "peak", a.Flight.Peak, 2)
	near(t, "bin", a.Flight.BinMS, 2)
	near(t, "first bin", a.Flight.Means[0], 1)
	near(t, "a bin of both", a.Flight.Means[30], 2)
	near(t, "peak of the replay", b.Flight.Peak, 1)
	near(t, "distance", twin.Area(a.Flight, b.Flight), 200.0/500)
	near(t, "of itself", twin.Area(a.Flight, a.Flight), 0)
}

func TestWhatIsNotKnownOfEachRequestIsNotCompared(t *testing.T) {
	list := lengths(3, 4)
	list[1].AtMS, list[0].Input = unknown, -1
	f := twin.Recorded(list)
	if f.Starts != nil || f.SessionStarts != nil || f.Inputs != nil || f.Flight != nil || f.Thinks != nil {
		t.Errorf("got %+v", f)
	}
	if f.Turns == nil || f.Requests != 2 || f.Sessions != 2 {
		t.Errorf("got %+v", f)
	}
	rows := twin.Compare(&f, &f, unknown)
	if len(rows) != 2 || rows[0].Measure != twin.Requests || rows[1].Measure != twin.Turns {
		t.Errorf("got %+v", rows)
	}
}

// Sessions begin every 10 ms, and four of 40 begin 200 ms late. At each instant until then four are missing, less the one
// that begins in the next 10 ms, which count as equal, and less the one that may be off: 2 of 40.
func TestOneTimeMayBeOff(t *testing.T) {
	side := func(late int) twin.Facts {
		var list []twin.Request
		for i := range 40 {
			q := twin.Request{Session: uint64(i), AtMS: float64(10 * i), TookMS: 10, ThinkMS: unknown, Input: 8, Output: 4}
			if i >= 10 && i < 10+late {
				q.AtMS += 200
			}
			list = append(list, q)
		}
		f := twin.Recorded(list)
		f.Scheduled = true
		return f
	}
	recorded := side(0)
	for late, want := range map[int]float64{0: 0, 1: 0, 4: 0.05} {
		replayed := side(late)
		for _, row := range twin.Compare(&recorded, &replayed, 50) {
			if row.Measure == twin.SessionStarts {
				near(t, "session starts", row.Distance, want)
			}
		}
	}
}

// A reply of 10 instead of 20 tokens in every second request: half of the distribution, and a quarter of the mean.
func TestLengthsAreComparedByDistributionAndMean(t *testing.T) {
	a, b := twin.Recorded(lengths(20, 20, 20, 20)), twin.Recorded(lengths(20, 10, 20, 10))
	b.Cache, a.Cache = &twin.Cache{Known: 30, Tokens: 100}, &twin.Cache{Known: 45, Tokens: 100}
	share := 0.5
	b.Server = &share
	want := map[string]twin.Row{
		twin.Inputs:      {Recorded: 20, Replayed: 15, Distance: 0.5, KS: 0.5, Mean: 0.25},
		twin.Sharing:     {Recorded: 45, Replayed: 30, Distance: 0.15, KS: unknown, Mean: unknown},
		twin.ServerCache: {Recorded: unknown, Replayed: 50, Distance: unknown, KS: unknown, Mean: unknown},
	}
	for _, row := range twin.Compare(&a, &b, unknown) {
		if w, ok := want[row.Measure]; ok {
			delete(want, row.Measure)
			near(t, row.Measure, row.Recorded, w.Recorded)
			near(t, row.Measure, row.Replayed, w.Replayed)
			near(t, row.Measure, row.Distance, w.Distance)
			near(t, row.Measure, row.KS, w.KS)
			near(t, row.Measure, row.Mean, w.Mean)
		}
		if row.Title() == "" {
			t.Errorf("%s has no title", row.Measure)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestThinkTimesAreThoseBetweenRecords(t *testing.T) {
	c := twin.NewCollector(true)
	add := func(session string, turn int, startMS, tookMS int64, usage int64) {
		r := &record.Record{Facts: record.NewFacts()}
		r.CorrelationID, r.ConversationID, r.TurnIndex = session, "c-"+session, turn
		r.Facts[record.StartWall], r.Facts[record.End] = startMS*1e6, tookMS*1e6
		r.Facts[record.OutputTokens], r.Facts[record.ReasoningTokens] = 3, 4
		if usage > 0 {
			r.Facts[record.UsageCompletion] = usage
		}
		c.Add(r)
	}
	add("a", 1, 400, 10, 9) // which ended before the first one was known
	add("a", 0, 100, 50, 0)
	add("b", 0, 100, 70, 0)
	list, sent, ok := c.Requests()
	if !ok || len(list) != 3 || len(sent) != 3 {
		t.Fatalf("got %v %v %v", list, sent, ok)
	}
	last := list[2]
	near(t, "think time", last.ThinkMS, 250)
	if last.Output != 9 || list[0].Output != 7 {
		t.Errorf("reply lengths: got %d and %d, want those of the server, else the sum of both texts", last.Output,
			list[0].Output)
	}
	if f := twin.Replayed(list, nil); f.Thinks == nil || f.Thinks.Count != 1 || f.Sessions != 2 {
		t.Errorf("got %+v", f)
	}
}

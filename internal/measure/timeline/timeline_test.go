package timeline_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/timeline"
)

const origin = int64(1_700_000_000_000_000_000)

// request returns a success that was sent so long after the start.
func request(at, ttft, latency time.Duration, tokens int64) *record.Record {
	r := &record.Record{Facts: record.NewFacts()}
	r.Facts[record.StartWall] = origin + int64(at)
	r.Facts[record.CreditIssued] = -int64(time.Millisecond)
	r.Facts[record.FirstContent], r.Facts[record.LastContent] = int64(ttft), int64(latency)
	r.Facts[record.LastResponse], r.Facts[record.End] = int64(latency), int64(latency)
	r.Facts[record.OutputTokens], r.Facts[record.InputTokens] = tokens, 100
	r.Facts[record.Contents] = tokens
	return r
}

func failed(at time.Duration, id string) *record.Record {
	r := &record.Record{Facts: record.NewFacts(),
		Err: &record.Error{Type: "X", Code: 500, HasCode: true, Message: "boom"}}
	r.RequestID = id
	r.Facts[record.StartWall], r.Facts[record.End], r.Facts[record.Failed] = origin+int64(at), int64(time.Millisecond),
		1
	return r
}

// run is many requests over a time.
func run(n int, over time.Duration, seed uint64) []*record.Record {
	random := rand.New(rand.NewPCG(seed, 1))
	var out []*record.Record
	for range n {
		at := time.Duration(random.Int64N(int64(over)))
		ttft := time.Duration(1e6 + random.Int64N(1e8))
		out = append(out, request(at, ttft, ttft+time.Duration(random.Int64N(3e9)), 1+random.Int64N(200)))
	}
	return out
}

func recorded(list []*record.Record) *timeline.Recorder {
	r := timeline.New(origin)
	for _, rec := range list {
		r.Add(rec)
	}
	return r
}

func TestOrderOfRequestsDoesNotMatter(t *testing.T) {
	list := run(3000, 5*time.Minute, 1)
	for i := range 20 {
		list = append(list, failed(time.Duration(i)*time.Second, string(rune('a'+i))))
	}
	first := recorded(list)
	rand.New(rand.NewPCG(2, 2)).Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	second := recorded(list)
	g := first.Grid(origin, origin+int64(5*time.Minute))
	if other := second.Grid(origin, origin+int64(5*time.Minute)); g != other {
		t.Fatalf("grids %+v and %+v", g, other)
	}
	a, b := first.Points(g), second.Points(g)
	equal := func(what string, a, b []float64) {
		if !slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }) {
			t.Errorf("%s differ", what)
		}
	}
	equal("sent", a.Sent, b.Sent)
	equal("output", a.Output, b.Output)
	equal("in flight", a.InFlight, b.InFlight)
	for i := range a.Bands {
		equal("bands", a.Bands[i].P99, b.Bands[i].P99)
		equal("bands", a.Bands[i].Max, b.Bands[i].Max)
	}
	if !reflect.DeepEqual(first.Distributions(), second.Distributions()) {
		t.Error("distributions differ")
	}
	key := (&record.Error{Type: "X", Code: 500, HasCode: true, Message: "boom"}).Key()
	samples := second.Samples(key)
	const most = 3 // requests that are named for an error
	if len(samples) != most || samples[0].RequestID != "a" ||
		!reflect.DeepEqual(samples, first.Samples(key)) {
		t.Errorf("samples %+v", samples)
	}
}

// What bins hold is what the requests did, whatever the length of the bins.
func TestBinsKeepTotals(t *testing.T) {
	for _, over := range []time.Duration{2 * time.Second, time.Minute, 3 * time.Hour} {
		list := run(500, over, 3)
		r := recorded(list)
		end := origin
		var tokens, flight float64
		for _, rec := range list {
			end = max(end, rec.Facts[record.StartWall]+rec.Facts[record.End])
			tokens += float64(rec.Facts[record.OutputTokens])
			flight += float64(rec.Facts[record.End]) / 1e9
		}
		g := r.Grid(origin, end)
		if g.Count > timeline.MostPoints+1 || r.Bins() > timeline.MaxBins {
			t.Errorf("%v: %d points, %d bins", over, g.Count, r.Bins())
		}
		p := r.Points(g)
		var gotTokens, gotFlight, sent, done float64
		for i := range p.Sent {
			seconds := float64(g.Covered(i)) / 1e9
			gotTokens += p.Output[i] * seconds
			gotFlight += p.InFlight[i] * seconds
			sent += p.Sent[i] * seconds
			done += p.Done[i] * seconds
		}
		for _, c := range []struct {
			what      string
			got, want float64
		}{{"tokens", gotTokens, tokens}, {"in flight", gotFlight, flight}, {"sent", sent, 500}, {"done", done, 500}} {
			if math.Abs(c.got-c.want) > 1e-6*c.want {
				t.Errorf("%v: %s %g, want %g", over, c.what, c.got, c.want)
			}
		}
	}
}

func TestInFlightIsTheAverageOfEachBin(t *testing.T) {
	// One request from 0.5 s to 2.5 s, another from 1 s to 2 s.
	r := recorded([]*record.Record{request(500*time.Millisecond, 1e6, 2*time.Second, 1),
		request(time.Second, 1e6, time.Second, 1)})
	g := r.Grid(origin-int64(time.Second), origin+int64(3*time.Second))
	g.WidthNS, g.First, g.Count = int64(time.Second), -1, 4
	p := r.Points(g)
	if !math.IsNaN(p.InFlight[0]) {
		t.Errorf("before the start: %g", p.InFlight[0])
	}
	if want := []float64{0.5, 2, 0.5}; !slices.Equal(p.InFlight[1:], want) {
		t.Errorf("%v, want %v", p.InFlight[1:], want)
	}
}

func TestQuantilesOfSketchesAreNear(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, precision := range []uint{timeline.BandPrecision, timeline.WholePrecision} {
		var s timeline.Sketch
		var values []float64
		for range 20_000 {
			v := int64(math.Exp(random.NormFloat64()*2 + 12))
			s.Add(v, precision)
			values = append(values, float64(v))
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
			place, off := q*float64(len(values)-1), 1/float64(int(1)<<precision)
			low, high := values[int(math.Floor(place))], values[int(math.Ceil(place))]
			if got := s.Quantile(q, precision); got < low*(1-off) || got > high*(1+off) {
				t.Errorf("precision %d: %g quantile %g, want %g to %g", precision, q, got, low, high)
			}
		}
	}
}

func FuzzClasses(f *testing.F) {
	f.Add(int64(0), uint8(5))
	f.Add(int64(math.MaxInt64), uint8(10))
	f.Add(int64(1<<11), uint8(10))
	f.Fuzz(func(t *testing.T, v int64, p uint8) {
		precision := uint(p%12 + 1)
		v = max(v, 0)
		class := timeline.ClassOf(v, precision)
		low, width := timeline.ClassRange(class, precision)
		if v < low || v-low >= width {
			t.Errorf("%d is in class %d from %d, %d wide", v, class, low, width)
		}
		if width > 1 && low>>precision < width {
			t.Errorf("class %d from %d is %d wide: wider than its share", class, low, width)
		}
	})
}

func TestHistogramsCountEachRequestOnce(t *testing.T) {
	list := run(2000, time.Minute, 5)
	list = append(list, request(0, time.Second, 2*time.Hour, 5)) // a tail
	for _, d := range recorded(list).Distributions() {
		for _, h := range []*timeline.Histogram{&d.Linear, d.Log} {
			if h == nil {
				continue
			}
			total := h.Beyond
			for i, n := range h.Counts {
				total += n
				if h.Edges[i+1] <= h.Edges[i] || h.Below[i+1] < h.Below[i] {
					t.Errorf("%s: edges %v, below %v", d.Tag, h.Edges, h.Below)
					break
				}
			}
			if total != d.Count {
				t.Errorf("%s: %d of %d are in columns", d.Tag, total, d.Count)
			}
			if len(h.Counts) > timeline.MostColumns+1 {
				t.Errorf("%s: %d columns", d.Tag, len(h.Counts))
			}
		}
		if d.Tag == "request_latency" && (d.Linear.Beyond != 1 || d.Log.Beyond != 0) {
			t.Errorf("beyond the axes: %d and %d", d.Linear.Beyond, d.Log.Beyond)
		}
	}
}

func TestWholeNumbersHaveColumnsOfTheirOwn(t *testing.T) {
	var list []*record.Record
	for i := range int64(40) {
		list = append(list, request(time.Duration(i)*time.Second, 1e6, 1e9, 3+i%4))
	}
	for _, d := range recorded(list).Distributions() {
		if d.Tag == "output_sequence_length" && !slices.Equal(d.Linear.Counts, []int64{10, 10, 10, 10}) {
			t.Errorf("columns %v between %v", d.Linear.Counts, d.Linear.Edges)
		}
	}
}

// A stamp that cannot be does neither end the program nor make the bins many.
func TestImpossibleStamps(t *testing.T) {
	r := timeline.New(origin)
	for _, at := range []int64{math.MinInt64 / 2, -1, math.MaxInt64/2 - origin} {
		rec := request(0, 1e6, 1e9, 5)
		rec.Facts[record.StartWall] = origin + at
		r.Add(rec)
	}
	if r.Bins() > timeline.MaxBins {
		t.Errorf("%d bins", r.Bins())
	}
}

func BenchmarkAdd(b *testing.B) {
	list := run(10_000, time.Minute, 6)
	r := timeline.New(origin)
	for i := 0; b.Loop(); i++ {
		r.Add(list[i%len(list)])
	}
}

func TestWindowIsARunningMean(t *testing.T) {
	g := timeline.Grid{WidthNS: int64(250 * time.Millisecond), Count: 60}
	w := g.Window(time.Second)
	if w.Bins != 5 || w.Seconds != 1.25 {
		t.Fatalf("%+v", w)
	}
	none := math.NaN()
	got := w.Mean([]float64{none, 10, 0, 0, 0, 10})
	for i, want := range []float64{none, 10.0 / 3, 2.5, 4, 2.5, 10.0 / 3} {
		if math.Abs(got[i]-want) > 1e-9 || math.IsNaN(got[i]) != math.IsNaN(want) {
			t.Errorf("mean %d is %g, want %g", i, got[i], want)
		}
	}
	if w := (timeline.Grid{WidthNS: int64(time.Second), Count: 60}).Window(time.Second); w.Bins != 1 {
		t.Errorf("bins of a second are averaged over %d", w.Bins)
	}
	if w := (timeline.Grid{WidthNS: int64(10 * time.Millisecond), Count: 30}).Window(time.Second); w.Bins != 3 {
		t.Errorf("a short run is averaged over %d bins", w.Bins)
	}
}

// Lines of more than a minute have no points that are shorter than a second: single requests make them noise.
func TestPointsOfLongRunsLastASecond(t *testing.T) {
	r := recorded(run(20_000, 100*time.Second, 1))
	if g := r.Grid(origin, origin+int64(100*time.Second)); g.WidthNS < int64(time.Second) {
		t.Errorf("points of %v", time.Duration(g.WidthNS))
	}
}

package servermetrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/watch/prom"
)

// plain keeps samples in lists, the way the store must seem to.
type plain struct {
	samples map[*prom.Series][]Sample
	scrapes []int64
	first   map[*prom.Series]int // the number of the page with the series' earliest sample
}

// scrape notes a page; one without samples is none.
func (p *plain) scrape(ns int64, some bool) {
	if some {
		p.scrapes = append(p.scrapes, ns)
	}
}

func (p *plain) add(ns int64, sample prom.Sample) {
	if first, known := p.first[sample.Series]; !known || ns < p.scrapes[first] {
		p.first[sample.Series] = len(p.scrapes) - 1
	}
	p.samples[sample.Series] = append(p.samples[sample.Series], Sample{
		TimestampNS: ns, Value: sample.Value, Buckets: slices.Clone(sample.Buckets), Sum: sample.Sum,
		Count: sample.Count,
	})
}

// had reports whether a series has a sample before an instant.
func (p *plain) had(s *prom.Series, ns int64) bool {
	return slices.ContainsFunc(p.samples[s], func(sample Sample) bool { return sample.TimestampNS < ns })
}

// read returns the samples of a window in order of time after the last one before it.
func (p *plain) read(s *prom.Series, w Window) (out []Sample, reference bool) {
	sorted := slices.Clone(p.samples[s])
	slices.SortStableFunc(sorted, func(a, b Sample) int { return int(a.TimestampNS - b.TimestampNS) })
	for _, sample := range sorted {
		switch {
		case sample.TimestampNS < w.StartNS:
			out, reference = append(out[:0], sample), true
		case sample.TimestampNS <= w.EndNS:
			out = append(out, sample)
		}
	}
	if reference || len(out) == 0 || s.Family.Type == prom.Gauge {
		return out, reference
	}
	// It began within the window: 0 on the page that counts as reference and on the one before its first.
	var pages []int64
	for _, at := range p.scrapes {
		if at < out[0].TimestampNS {
			pages = append(pages, at)
		}
	}
	for i, at := range p.scrapes { // pages of the same instant are in order of arrival
		if at == out[0].TimestampNS && i < p.first[s] {
			pages = append(pages, at)
		}
	}
	if len(pages) == 0 {
		return out, false
	}
	slices.Sort(pages)
	zero := func(at int64) Sample { return Sample{TimestampNS: at, Buckets: make([]float64, len(s.Upper))} }
	at := 0
	for at+1 < len(pages) && pages[at+1] < w.StartNS {
		at++
	}
	zeros := []Sample{zero(pages[at])}
	if at+1 < len(pages) {
		zeros = append(zeros, zero(pages[len(pages)-1]))
	}
	return append(zeros, out...), true
}

// walk is a random series: how likely a value is new, and where new values come from.
type walk struct {
	series *prom.Series
	change float64
	absent float64
	draw   func(r *rand.Rand, before float64) float64
	now    prom.Sample
}

func (w *walk) step(r *rand.Rand) {
	if r.Float64() >= w.change {
		return
	}
	if w.series.Family.Type != prom.Histogram {
		w.now.Value = w.draw(r, w.now.Value)
		return
	}
	for i := range w.now.Buckets {
		if r.IntN(3) == 0 {
			w.now.Buckets[i] = w.draw(r, w.now.Buckets[i])
		}
	}
	w.now.Sum += r.Float64()
	w.now.Count = w.draw(r, w.now.Count)
}

var draws = map[string]func(r *rand.Rand, before float64) float64{
	"small steps": func(r *rand.Rand, v float64) float64 { return v + float64(r.IntN(7)-3) },
	"large steps": func(r *rand.Rand, v float64) float64 { return v + float64(r.IntN(1<<40)) },
	"fractions":   func(r *rand.Rand, _ float64) float64 { return r.NormFloat64() },
	"any":         func(r *rand.Rand, _ float64) float64 { return anyFinite(r) },
	"edges": func(r *rand.Rand, _ float64) float64 {
		edges := []float64{0, math.Copysign(0, -1), 1, -1, exactIntegers, -exactIntegers, exactIntegers + 2,
			math.MaxFloat64,
			-math.MaxFloat64, math.SmallestNonzeroFloat64, 0.5, 1 << 60}
		return edges[r.IntN(len(edges))]
	},
}

func anyFinite(r *rand.Rand) float64 {
	for {
		if v := math.Float64frombits(r.Uint64()); v-v == 0 {
			return v
		}
	}
}

// Whatever is stored, in whatever order it arrives, reads as if it lay in lists.
func TestStoreEqualsPlainStorage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		scrapes := rapid.SampledFrom([]int{1, 5, 100, 700}).Draw(t, "scrapes")
		late := rapid.SampledFrom([]float64{0, 0, 0.02, 0.5}).Draw(t, "late")
		duplicates := rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "duplicates")
		var walks []*walk
		for name, draw := range draws {
			for _, s := range []*prom.Series{gaugeOf(name), histogramOf("h "+name, 1, 2, 5, inf),
				histogramOf("bare " + name)} {
				walks = append(walks, &walk{
					series: s, draw: draw,
					change: rapid.SampledFrom([]float64{0, 0.02, 0.5, 1}).Draw(t, "change"),
					absent: rapid.SampledFrom([]float64{0, 0, 0.01, 0.7}).Draw(t, "absent"),
					now:    prom.Sample{Series: s, Buckets: make([]float64, len(s.Upper))},
				})
			}
		}
		model := plain{samples: map[*prom.Series][]Sample{}, first: map[*prom.Series]int{}}
		store := NewStore(Options{}).Endpoint("e")
		ns, last := int64(0), []prom.Sample(nil)
		for range scrapes {
			ns += int64(r.IntN(3)) // sometimes the same instant
			at := ns
			if r.Float64() < late {
				at -= int64(r.IntN(40))
			}
			duplicate := last != nil && r.Float64() < duplicates
			var samples []prom.Sample
			if !duplicate {
				last = nil
				for _, w := range walks {
					w.step(r)
					if r.Float64() >= w.absent {
						samples = append(samples, w.now)
						last = append(last, w.now)
					}
				}
			}
			store.Add(Scrape{TimestampNS: at, Duplicate: duplicate, Samples: samples})
			model.scrape(at, len(samples) > 0 || duplicate)
			for i := range last {
				last[i].Buckets = slices.Clone(last[i].Buckets)
				model.add(at, last[i])
			}
		}
		for _, s := range store.Series() {
			checkReading(t, r, &model, s, walks, ns)
		}
	})
}

func checkReading(t *rapid.T, r *rand.Rand, model *plain, s *Series, walks []*walk, end int64) {
	at := slices.IndexFunc(walks, func(w *walk) bool { return w.series.Family.Name == s.Family.Name })
	var got Samples
	for range 8 {
		w := Window{StartNS: int64(r.IntN(int(end)+3)) - 1}
		w.EndNS = w.StartNS + int64(r.IntN(int(end)+3))
		want, reference := model.read(walks[at].series, w)
		s.Read(&got, w)
		if got.Len() != len(want) || got.Reference != reference {
			t.Fatalf("%s %v: %d samples, reference %v; want %d, %v", s.Family.Name, w, got.Len(), got.Reference,
				len(want), reference)
		}
		for i := range want {
			if !sameSample(got.At(i), want[i]) {
				t.Fatalf("%s %v, sample %d: %+v, want %+v", s.Family.Name, w, i, got.At(i), want[i])
			}
		}
		one, found := s.LastBefore(w.StartNS)
		// A reference of 0 is none of the series' samples.
		if real := reference && got.First() == 1 && model.had(walks[at].series, w.StartNS); found != real ||
			found && !sameSample(one, want[0]) {
			t.Fatalf("%s before %d: %+v %v", s.Family.Name, w.StartNS, one, found)
		}
	}
}

// sameSample compares to the bit.
func sameSample(a, b Sample) bool {
	return a.TimestampNS == b.TimestampNS && len(a.Buckets) == len(b.Buckets) && sameBits(a.Buckets, b.Buckets) &&
		sameBits([]float64{a.Value, a.Sum, a.Count}, []float64{b.Value, b.Sum, b.Count})
}

func TestRowsSurviveCoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		width := rapid.SampledFrom([]int{1, 2, 3, 24}).Draw(t, "width")
		draw := draws[rapid.SampledFrom([]string{"small steps", "large steps", "fractions", "any", "edges"}).Draw(t,
			"draw")]
		before, row := make([]float64, width), make([]float64, width)
		for i := range row {
			before[i] = draw(r, 0)
			row[i] = draw(r, before[i])
		}
		code := appendRow(nil, before, row)
		got := slices.Clone(before)
		if n := readRow(append(code, 0xff), got); n != len(code) || !sameBits(got, row) {
			t.Fatalf("%v after %v came back as %v, %d of %d bytes read", row, before, got, n, len(code))
		}
	})
}

func TestSameSeriesTwiceInAScrapeLastCounts(t *testing.T) {
	e := NewStore(Options{}).Endpoint("e")
	a, again := gaugeOf("g"), gaugeOf("g")
	e.Add(Scrape{TimestampNS: 1, Samples: []prom.Sample{{Series: a, Value: 1}, {Series: again, Value: 2}}})
	e.Add(Scrape{TimestampNS: 2, Samples: []prom.Sample{{Series: again, Value: 3}, {Series: a, Value: 4}}})
	var samples Samples
	e.Series()[0].Read(&samples, Window{1, 2})
	if got := fmt.Sprint(samples.Len(), samples.Value(0), samples.Value(1)); got != "2 2 4" {
		t.Errorf("samples are %s", got)
	}
}

func TestEmptyScrapesAreNone(t *testing.T) {
	store := NewStore(Options{})
	store.Endpoint("e").Add(Scrape{TimestampNS: 1})
	store.Endpoint("e").Add(Scrape{TimestampNS: 1, Duplicate: true})
	if n := len(store.Endpoints()); n != 0 {
		t.Errorf("%d endpoints delivered", n)
	}
	if r := Compute(store, Settings{Phase: Window{0, 9}}); len(r.Families) != 0 {
		t.Errorf("families are %v", r.Families)
	}
}

func TestEndpointOrders(t *testing.T) {
	store := NewStore(Options{})
	for _, url := range []string{"c", "a", "b"} {
		store.Endpoint(url)
	}
	for _, url := range []string{"b", "c"} {
		store.Endpoint(url).Add(Scrape{TimestampNS: 1, Samples: samplesOf(gaugeOf("g"), 1)})
	}
	urls := func(list []*EndpointStore) (out string) {
		for _, e := range list {
			out += e.URL()
		}
		return out
	}
	if got := urls(store.Endpoints()) + " " + urls(store.ByFirstScrape()); got != "cb bc" {
		t.Errorf("orders are %s", got)
	}
}

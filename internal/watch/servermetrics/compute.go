package servermetrics

import (
	"runtime"
	"sync"
	"sync/atomic"

	"aiperf/internal/watch/prom"
)

// Settings say what to compute.
type Settings struct {
	// Phase is the phase that counts: from its start to the end of its last request.
	Phase Window
	// Closed keeps what came after the phase out: otherwise its window lasts to the final scrape of each endpoint.
	Closed bool
	// SliceNS is the length of timeslices; 0 means none.
	SliceNS int64
	// Bounds adds to each estimated percentile between which bounds the true one lies.
	Bounds bool
}

// Compute returns the statistics of a phase. It wants the collection to be over.
func Compute(store *Store, o Settings) *Results {
	families, warnings := store.Families()
	for _, e := range store.Endpoints() {
		if why := e.NoTotals(); why != "" {
			warnings = append(warnings, "Server metrics: "+why+"; there are no figures of its counters and histograms")
		}
	}
	warnings = append(warnings, store.samePages()...)
	jobs := plan(store, families, o)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		workers.Go(func() {
			var w worker
			for i := next.Add(1) - 1; i < int64(len(jobs)); i = next.Add(1) - 1 {
				w.do(&jobs[i])
			}
		})
	}
	workers.Wait()
	r := collect(families, jobs, warnings)
	r.Summaries = summaries(store, o)
	return r
}

// summaries returns those with a sample in the window; what they say is worked out where it is asked for.
func summaries(store *Store, o Settings) []FamilyStats {
	families, _ := store.familiesOf(func(e *EndpointStore) []*Series { return e.summaries })
	jobs := plan(store, families, o)
	var samples Samples
	for i := range jobs {
		s := &jobs[i].stats
		s.Series.Read(&samples, s.window)
		jobs[i].present = samples.Len() > 0 && !s.mixed
	}
	return collect(families, jobs, nil).Families
}

// job is the computation of one series.
type job struct {
	stats    SeriesStats
	bounds   bool
	present  bool
	warnings []string
}

// plan lists what is to be computed, a job for each series, in the order of the output. The window of an open phase
// ends with the last scrape of each endpoint.
func plan(store *Store, families []Family, o Settings) []job {
	windows, mixed, again := map[*EndpointStore]Window{}, store.mixed(), store.again()
	for _, e := range store.Endpoints() {
		windows[e] = o.Phase
		if !o.Closed {
			windows[e] = e.Window(o.Phase)
		}
	}
	count := 0
	for _, f := range families {
		count += len(f.Series)
	}
	jobs := make([]job, 0, count)
	for _, f := range families {
		for _, s := range f.Series {
			jobs = append(jobs, job{bounds: o.Bounds, stats: SeriesStats{
				Series: s, EndpointURL: s.endpoint.url, Labels: s.Labels,
				window: windows[s.endpoint], sliceNS: o.SliceNS, mixed: mixed[s.endpoint],
				again: again[s.endpoint] != nil,
			}})
		}
	}
	return jobs
}

// collect puts what is present back into its families.
func collect(families []Family, jobs []job, warnings []string) *Results {
	r := &Results{Warnings: warnings, Families: make([]FamilyStats, 0, len(families))}
	for _, f := range families {
		out := FamilyStats{Family: f.Family, Series: make([]SeriesStats, 0, len(f.Series))}
		for range f.Series {
			if jobs[0].present {
				out.Series = append(out.Series, jobs[0].stats)
			}
			r.Warnings = append(r.Warnings, jobs[0].warnings...)
			jobs = jobs[1:]
		}
		if len(out.Series) > 0 {
			r.Families = append(r.Families, out)
		}
	}
	return r
}

// worker computes one series after the other in the same memory.
type worker struct {
	estimator Estimator
	samples   Samples
	values    []float64
}

func (w *worker) do(j *job) {
	s := &j.stats
	if s.mixed && s.Series.Grows() {
		return
	}
	s.Series.Read(&w.samples, s.window)
	switch s.Series.Family.Type {
	case prom.Histogram:
		w.histogram(j)
	case prom.Counter:
		w.counter(j)
	default:
		w.gauge(j)
	}
}

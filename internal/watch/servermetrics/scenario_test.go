package servermetrics

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/watch/prom"
)

// A scenario reports what endpoints said and what must come out, one statement a line:
//
//	endpoint URL                                  what follows is about this endpoint (default: e)
//	series NAME{k="v"} TYPE: 0@0s 50@1s 7@2s..9s/1s   samples: value@time, or the same one at several times
//	series NAME histogram le 1 2 +Inf: 0,0,0/0/0@0s   samples of a histogram: buckets/sum/count@time
//	duplicates 1s 2s..9s/1s                       bodies at these times equal the one before
//	arrival 0s 2s 1s                              scrapes arrive in this order, the others after them
//	window 2s..5s                                 the profiling phase
//	closed                                        the window ends with the phase, whatever is scraped later
//	slice 2s                                      the length of slices
//	bounds                                        percentiles with bounds
//	expect SERIES: total 300 rate 100             these statistics; "only" at the end: and no others
//	expect SERIES: absent
//	buckets SERIES: 1 2 3                         or absent
//	slices SERIES: 0s..2s total 1 rate 0.5; 2s..3s partial total 1 rate 1    or none; buckets 1 2 3 at the end
//	warning TEXT                                  one of the warnings contains it
//	warnings N                                    how many there are
//	families a b c                                the names that have statistics
//	info total_fetches 2 …                        the description of the endpoint
type scenario struct {
	t         *testing.T
	now       string // the current endpoint
	endpoints []string
	scrapes   map[string]map[int64]*Scrape
	parsed    map[string]*prom.Series
	arrival   []int64
	settings  Settings
	stored    []string // warnings of the store
	store     *Store
	results   *Results
}

// runScenario runs the statements of a text; lines that start with # are comments.
func runScenario(t *testing.T, text string) {
	t.Helper()
	s := &scenario{t: t, now: "e", scrapes: map[string]map[int64]*Scrape{}, parsed: map[string]*prom.Series{}}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := s.do(word, rest); err != nil {
			t.Errorf("line %d: %s: %v", n+1, line, err)
		}
	}
}

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n== ")[1:] {
			name, body, _ := strings.Cut(part, "\n")
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, func(t *testing.T) { runScenario(t, body) })
		}
	}
}

func (s *scenario) do(word, rest string) error {
	setup := map[string]func(string) error{
		"series": s.series, "duplicates": s.duplicates, "arrival": s.order, "window": s.window, "slice": s.slice,
		"bounds": func(string) error { s.settings.Bounds = true; return nil },
		"closed": func(string) error { s.settings.Closed = true; return nil },
	}
	check := map[string]func(string) error{
		"expect": s.expect, "buckets": s.buckets, "slices": s.slices, "warning": s.warning, "warnings": s.warnings,
		"families": s.families, "info": s.info,
	}
	if word == "endpoint" {
		s.now = rest
		return nil
	}
	if f := setup[word]; f != nil && s.results == nil {
		return f(rest)
	}
	f := check[word]
	if f == nil {
		return fmt.Errorf("no such statement here")
	}
	if s.results == nil {
		s.compute()
	}
	return f(rest)
}

func (s *scenario) series(text string) error {
	head, samples, _ := strings.Cut(text, ": ")
	words := strings.Fields(head)
	series, err := s.description(words)
	if err != nil {
		return err
	}
	for _, word := range strings.Fields(samples) {
		value, at, _ := strings.Cut(word, "@")
		times, err := instants(at)
		if err != nil {
			return err
		}
		for _, ns := range times {
			sample, err := parseSample(series, value)
			if err != nil {
				return err
			}
			scrape := s.scrape(ns)
			scrape.Samples = append(scrape.Samples, sample)
		}
	}
	return nil
}

// description returns the series that the words NAME{…} TYPE [le …] describe; the same words give the same one.
func (s *scenario) description(words []string) (*prom.Series, error) {
	key := s.now + " " + strings.Join(words, " ")
	if known := s.parsed[key]; known != nil {
		return known, nil
	}
	name, labels, _ := strings.Cut(words[0], "{")
	series := &prom.Series{Family: &prom.Family{Name: name}}
	for _, pair := range strings.FieldsFunc(labels, func(r rune) bool { return r == ',' || r == '}' }) {
		k, v, _ := strings.Cut(pair, "=")
		series.Labels = append(series.Labels, prom.Label{Name: k, Value: strings.Trim(v, `"`)})
	}
	kind := slices.Index([]string{"unknown", "gauge", "counter", "histogram"}, words[1])
	if kind < 0 {
		return nil, fmt.Errorf("no type %q", words[1])
	}
	series.Family.Type = prom.Type(kind)
	if len(words) > 3 {
		series.Bounds = words[3:]
	}
	for _, bound := range series.Bounds {
		upper, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			return nil, err
		}
		series.Upper = append(series.Upper, upper)
	}
	s.parsed[key] = series
	return series, nil
}

func (s *scenario) scrape(ns int64) *Scrape {
	of := s.scrapes[s.now]
	if of == nil {
		of = map[int64]*Scrape{}
		s.scrapes[s.now] = of
		s.endpoints = append(s.endpoints, s.now)
	}
	if of[ns] == nil {
		of[ns] = &Scrape{TimestampNS: ns}
	}
	return of[ns]
}

func parseSample(series *prom.Series, text string) (prom.Sample, error) {
	sample := prom.Sample{Series: series}
	var err error
	number := func(text string) float64 {
		v, e := strconv.ParseFloat(text, 64)
		if e != nil {
			err = e
		}
		return v
	}
	if series.Family.Type != prom.Histogram {
		sample.Value = number(text)
		return sample, err
	}
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return sample, fmt.Errorf("%q is not buckets/sum/count", text)
	}
	for _, v := range strings.FieldsFunc(parts[0], func(r rune) bool { return r == ',' }) {
		sample.Buckets = append(sample.Buckets, number(v))
	}
	sample.Sum, sample.Count = number(parts[1]), number(parts[2])
	return sample, err
}

// instants returns one time, or those from..to/step.
func instants(text string) ([]int64, error) {
	from, rest, ranged := strings.Cut(text, "..")
	to, step, _ := strings.Cut(rest, "/")
	if !ranged {
		to, step = from, "1s"
	}
	var d [3]time.Duration
	for i, part := range []string{from, to, step} {
		var err error
		if d[i], err = time.ParseDuration(part); err != nil {
			return nil, err
		}
	}
	var out []int64
	for at := d[0]; at <= d[1]; at += d[2] {
		out = append(out, int64(at))
	}
	return out, nil
}

func (s *scenario) instantsOf(text string) ([]int64, error) {
	var out []int64
	for _, word := range strings.Fields(text) {
		times, err := instants(word)
		if err != nil {
			return nil, err
		}
		out = append(out, times...)
	}
	return out, nil
}

func (s *scenario) duplicates(text string) error {
	times, err := s.instantsOf(text)
	for _, ns := range times {
		s.scrape(ns).Duplicate = true
	}
	return err
}

func (s *scenario) order(text string) (err error) {
	s.arrival, err = s.instantsOf(text)
	return err
}

func (s *scenario) slice(text string) error {
	d, err := time.ParseDuration(text)
	s.settings.SliceNS = int64(d)
	return err
}

func (s *scenario) window(text string) (err error) {
	s.settings.Phase, err = parseWindow(text)
	return err
}

func parseWindow(text string) (Window, error) {
	from, to, _ := strings.Cut(text, "..")
	start, err := time.ParseDuration(from)
	if err != nil {
		return Window{}, err
	}
	end, err := time.ParseDuration(to)
	return Window{StartNS: int64(start), EndNS: int64(end)}, err
}

func (s *scenario) compute() {
	s.store = NewStore(Options{Warn: func(m string) { s.stored = append(s.stored, m) }})
	for _, url := range s.endpoints {
		e := s.store.Endpoint(url)
		times := slices.Clone(s.arrival)
		var rest []int64
		for ns := range s.scrapes[url] {
			if !slices.Contains(times, ns) {
				rest = append(rest, ns)
			}
		}
		slices.Sort(rest)
		for _, ns := range append(times, rest...) {
			if scrape := s.scrapes[url][ns]; scrape != nil {
				e.Add(*scrape)
			}
		}
	}
	s.results = Compute(s.store, s.settings)
}

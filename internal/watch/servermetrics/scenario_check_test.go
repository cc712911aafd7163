package servermetrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
)

// find returns the statistics of a series of the current endpoint.
func (s *scenario) find(name string) *SeriesStats {
	for _, f := range s.results.Families {
		for i := range f.Series {
			if f.Series[i].EndpointURL == s.now && shown(f.Series[i].Series) == name {
				return &f.Series[i]
			}
		}
	}
	return nil
}

// shown returns a series as scenarios write it.
func shown(s *Series) string {
	if len(s.Labels) == 0 {
		return s.Family.Name
	}
	var pairs []string
	for _, l := range s.Labels {
		pairs = append(pairs, fmt.Sprintf("%s=%q", l.Name, l.Value))
	}
	return s.Family.Name + "{" + strings.Join(pairs, ",") + "}"
}

func (s *scenario) expect(text string) error {
	name, want, _ := strings.Cut(text, ": ")
	found := s.find(name)
	if want == "absent" {
		if found != nil {
			return fmt.Errorf("there are statistics: %v", found.Fields())
		}
		return nil
	}
	if found == nil {
		return fmt.Errorf("no statistics")
	}
	words := strings.Fields(want)
	only := words[len(words)-1] == "only"
	if only {
		words = words[:len(words)-1]
	}
	if only && len(found.Fields()) != len(words)/2 {
		return fmt.Errorf("statistics are %v", found.Fields())
	}
	return compare(words, found.Fields())
}

// compare compares key value key value … with fields.
func compare(words []string, got []metrics.Statistic) error {
	for i := 0; i+1 < len(words); i += 2 {
		want, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(got, func(f metrics.Statistic) bool { return f.Key == words[i] })
		if at < 0 {
			return fmt.Errorf("no %s among %v", words[i], got)
		}
		if !near(got[at].Value, want) {
			return fmt.Errorf("%s is %v", words[i], got[at].Value)
		}
	}
	if len(words)%2 != 0 {
		return fmt.Errorf("%q has no value", words[len(words)-1])
	}
	return nil
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b))
}

func (s *scenario) buckets(text string) error {
	name, want, _ := strings.Cut(text, ": ")
	found := s.find(name)
	if found == nil {
		return fmt.Errorf("no statistics")
	}
	return compareBuckets(want, found.Buckets)
}

func compareBuckets(want string, got []int64) error {
	shown := strings.Trim(fmt.Sprint(got), "[]")
	if got == nil {
		shown = "absent"
	}
	if shown != want {
		return fmt.Errorf("buckets are %s", shown)
	}
	return nil
}

func (s *scenario) slices(text string) error {
	name, want, _ := strings.Cut(text, ": ")
	found := s.find(name)
	if found == nil {
		return fmt.Errorf("no statistics")
	}
	var wanted []string
	if want != "none" {
		wanted = strings.Split(want, "; ")
	}
	n := 0
	for slice := range found.Timeslices() {
		if n == len(wanted) {
			return fmt.Errorf("one more: %+v", slice)
		}
		if err := compareSlice(wanted[n], &slice, found.Series.Family.Type); err != nil {
			return fmt.Errorf("slice %d: %w", n, err)
		}
		n++
	}
	if n != len(wanted) || n != found.SliceCount {
		return fmt.Errorf("there are %d, announced are %d", n, found.SliceCount)
	}
	return nil
}

func compareSlice(text string, got *Slice, t prom.Type) error {
	text, buckets, hasBuckets := strings.Cut(text, " buckets ")
	words := strings.Fields(text)
	want, err := parseWindow(words[0])
	if err != nil {
		return err
	}
	words = words[1:]
	partial := len(words) > 0 && words[0] == "partial"
	if partial {
		words = words[1:]
	}
	if got.StartNS != want.StartNS || got.EndNS != want.EndNS || got.Partial != partial {
		return fmt.Errorf("is %v..%v, partial: %v", time.Duration(got.StartNS), time.Duration(got.EndNS), got.Partial)
	}
	if hasBuckets {
		if err := compareBuckets(buckets, got.Buckets); err != nil {
			return err
		}
	}
	return compare(words, got.Fields(t))
}

func (s *scenario) allWarnings() []string {
	return append(slices.Clone(s.stored), s.results.Warnings...)
}

func (s *scenario) warning(text string) error {
	for _, w := range s.allWarnings() {
		if strings.Contains(w, text) {
			return nil
		}
	}
	return fmt.Errorf("warnings are %q", s.allWarnings())
}

func (s *scenario) warnings(text string) error {
	if got := s.allWarnings(); strconv.Itoa(len(got)) != text {
		return fmt.Errorf("warnings are %q", got)
	}
	return nil
}

func (s *scenario) families(text string) error {
	var names []string
	for _, f := range s.results.Families {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != text {
		return fmt.Errorf("families are %s", got)
	}
	return nil
}

func (s *scenario) info(text string) error {
	i := s.store.Endpoint(s.now).Info()
	got := []metrics.Statistic{
		{Key: "total_fetches", Value: float64(i.TotalFetches)},
		{Key: "first_fetch_ns", Value: float64(i.FirstFetchNS)}, {Key: "last_fetch_ns", Value: float64(i.LastFetchNS)},
		{Key: "unique_updates", Value: float64(i.UniqueUpdates)},
		{Key: "first_update_ns", Value: float64(i.FirstUpdateNS)},
		{Key: "last_update_ns", Value: float64(i.LastUpdateNS)},
		{Key: "duration_seconds", Value: i.DurationSeconds},
		{Key: "avg_update_interval_ms", Value: i.AvgUpdateIntervalMS},
		{Key: "avg_fetch_latency_ms", Value: i.AvgFetchLatencyMS},
		{Key: "median", Value: -1},
	}
	if i.MedianUpdateIntervalMS != nil {
		got[len(got)-1].Value = *i.MedianUpdateIntervalMS
	}
	return compare(strings.Fields(text), got)
}

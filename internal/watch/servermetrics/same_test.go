package servermetrics

import (
	"strings"
	"testing"

	"aiperf/internal/watch/prom"
)

// page adds a scrape of a server with so many requests waiting and prompt tokens counted; 0 is no start time.
func page(e *EndpointStore, second int64, start, waiting, prompt float64) {
	e.mu.Lock()
	var of [3]*prom.Series
	for p := range e.sources { // a parser describes a series once
		for i, name := range [...]string{"process_start_time_seconds", "vllm:num_requests_waiting", "vllm:prompt_tokens"} {
			if p.Family.Name == name {
				of[i] = p
			}
		}
	}
	e.mu.Unlock()
	if of[1] == nil {
		of = [3]*prom.Series{gaugeOf("process_start_time_seconds"), gaugeOf("vllm:num_requests_waiting"),
			counterOf("vllm:prompt_tokens")}
	}
	values := map[*prom.Series]float64{of[1]: waiting, of[2]: prompt}
	if start > 0 {
		values[of[0]] = start
	}
	e.Add(scrapeOf(second, values))
}

func TestServerWithTwoAddressesCountsOnce(t *testing.T) {
	type scrapes struct{ start, more float64 }
	for name, c := range map[string]struct {
		a, b scrapes
		want float64
		warn string
	}{
		"one process":                  {scrapes{1000.25, 0}, scrapes{1000.25, 0}, 3, "b is the page of a, by its start"},
		"scraped a little later":       {scrapes{1000.25, 0}, scrapes{1000.25, 5}, 3, "b is the page of a"},
		"two processes":                {scrapes{1000.25, 0}, scrapes{1000.5, 0}, 6, ""},
		"started at once, other work":  {scrapes{1000.25, 0}, scrapes{1000.25, 1e4}, 6, ""},
		"no start times, same figures": {scrapes{0, 0}, scrapes{0, 0}, 6, "a and b have the same series"},
		"no start times, other work":   {scrapes{0, 0}, scrapes{0, 1e4}, 6, ""},
		"one start time":               {scrapes{1000.25, 0}, scrapes{0, 0}, 6, ""},
	} {
		t.Run(name, func(t *testing.T) {
			store := NewStore(Options{})
			for second := range int64(4) {
				for url, s := range map[string]scrapes{"a": c.a, "b": c.b} {
					_ = store.Endpoint("a") // the order of the configuration
					page(store.Endpoint(url), second, s.start, 3, 100+s.more+10*float64(second))
				}
			}
			r := Compute(store, Settings{Phase: Window{StartNS: 1e9, EndNS: 2e9}})
			wantLive(t, "waiting", LoadOf(r).Waiting, c.want)
			live := store.Live(nil)
			wantLive(t, "waiting now", live.Waiting, c.want)
			pages := int(c.want / 3)
			if got := Totals(store, Window{StartNS: 1e9, EndNS: 2e9}, nil); got == nil || got.Pages != pages {
				t.Errorf("totals are of %+v, want %d pages", got, pages)
			}
			said := strings.Join(r.Warnings, "\n")
			if c.warn == "" && said != "" || !strings.Contains(said, c.warn) {
				t.Errorf("warnings %q, want %q", said, c.warn)
			}
		})
	}
}

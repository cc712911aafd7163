package servermetrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aiperf/internal/watch/prom"
)

// turnsOf makes the store of an endpoint whose pages, one a second from second 0 on, are those of servers: turn says
// whose turn it is, page what its counters are.
func turnsOf(pages int, turn func(second int) int, page func(server, second int) map[*prom.Series]float64) *Store {
	store := NewStore(Options{})
	for second := range pages {
		store.Endpoint("http://lb/metrics").Add(scrapeOf(int64(second), page(turn(second), second)))
	}
	return store
}

func TestServersThatAnswerInTurn(t *testing.T) {
	start, requests, tokens := gaugeOf(startTime), counterOf("vllm:request_success"), counterOf("vllm:generation_tokens")
	other := counterOf("errors")
	values := func(base ...float64) func(server, second int) map[*prom.Series]float64 {
		return func(server, second int) map[*prom.Series]float64 {
			v := base[server] + float64(second)
			return map[*prom.Series]float64{requests: v, tokens: 16 * v, other: 1}
		}
	}
	started := func(step float64, of func(server, second int) map[*prom.Series]float64) func(server, second int) map[*prom.Series]float64 {
		return func(server, second int) map[*prom.Series]float64 {
			page := of(server, second)
			page[start] = 1.7e9 + step*float64(server)
			return page
		}
	}
	robin := func(n int) func(int) int { return func(second int) int { return second % n } }
	restarts := func(every int) func(server, second int) map[*prom.Series]float64 {
		return func(_, second int) map[*prom.Series]float64 {
			v := float64(second%every) + 1
			return map[*prom.Series]float64{requests: v, tokens: 16 * v, start: 1.7e9 + float64(second/every)}
		}
	}
	for _, c := range []struct {
		name    string
		pages   int
		turn    func(int) int
		page    func(server, second int) map[*prom.Series]float64
		want    bool
		servers int
	}{
		{"two, by their start", 5, robin(2), started(100, values(1000, 300)), true, 2},
		{"two that count alike, by their start", 5, robin(2), started(100, values(0, 0)), true, 2},
		{"two that started together, by their counters too", 5, robin(2), started(1, values(1000, 300)), true, 2},
		{"three, by their start", 9, robin(3), started(100, values(50, 40, 60)), true, 3},
		{"two, by their counters", 12, robin(2), values(1000, 300), true, 0},
		{"three, by their counters", 24, robin(3), values(1000, 300, 600), true, 0},
		{"two at random, by their counters", 40, func(s int) int { return s * s / 3 % 2 }, values(1000, 300), true, 0},
		{"one", 40, robin(1), started(1, values(5)), false, 0},
		{"one whose start varies with the clock", 40, robin(2), started(1, values(5, 5)), false, 0},
		{"one that is restarted again and again", 90, robin(1), restarts(20), false, 0},
		{"one that is replaced", 40, func(s int) int { return s / 20 }, started(100, values(1000, 0)), false, 0},
		{"one with a page that came too late, now and then", 400, func(s int) int { return s % 100 / 99 },
			values(1000, 900), false, 0},
		{"one with a counter that goes up and down", 60, robin(1), func(_, second int) map[*prom.Series]float64 {
			v := float64(second)
			return map[*prom.Series]float64{requests: v, tokens: 16 * v, counterOfSame("in_use"): float64(second % 2)}
		}, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := turnsOf(c.pages, c.turn, c.page)
			e := store.Endpoint("http://lb/metrics")
			if servers, answered := e.InTurn(); answered != c.want || servers != c.servers {
				t.Errorf("%d servers in turn: %v", servers, answered)
			}
			// The judgement is one of the instants, not of the arrivals.
			late := NewStore(Options{})
			for second := range c.pages {
				at := second ^ 1
				if at >= c.pages {
					at = second
				}
				late.Endpoint("http://lb/metrics").Add(scrapeOf(int64(at), c.page(c.turn(at), at)))
			}
			if servers, answered := late.Endpoint("http://lb/metrics").InTurn(); answered != c.want || servers != c.servers {
				t.Errorf("as they arrived, %d servers in turn: %v", servers, answered)
			}
		})
	}
}

// counterOfSame returns the same counter for the same name.
func counterOfSame(name string) *prom.Series {
	if sameCounters[name] == nil {
		sameCounters[name] = counterOf(name)
	}
	return sameCounters[name]
}

var sameCounters = map[string]*prom.Series{}

// Pages of several servers have no growth: no totals, no rates, no percentiles, one warning.
func TestNoTotalsOfServersThatAnswerInTurn(t *testing.T) {
	runScenario(t, `
		endpoint http://lb/metrics
		series process_start_time_seconds gauge: 1000@0s 2000@1s 1000@2s 2000@3s 1000@4s
		series x counter: 100@0s 30@1s 101@2s 31@3s 102@4s
		series y{l="a"} counter: 0@0s 3@1s 0@2s 4@3s 0@4s
		series h histogram le 1 +Inf: 1,2/3/2@0s 9,9/9/9@1s 2,3/4/3@2s 9,10/11/10@3s 3,4/5/4@4s
		series vllm:kv_cache_usage_perc gauge: 0.25@0s 0.75@1s 0.25@2s 0.75@3s 0.25@4s
		window 0.5s..4s
		slice 1s
		families process_start_time_seconds vllm:kv_cache_usage_perc
		expect x: absent
		expect h: absent
		warnings 1
		warning http://lb/metrics is answered by 2 servers in turn: name the page of each with --server-metrics URL`)
}

// lbPages are lines of ledgerOf for an address at which two servers answer.
func lbPages() (lines []string) {
	for second := 9; second <= 21; second++ {
		server := second % 2
		lines = append(lines, fmt.Sprintf(`lb %d: gauge:process_start_time_seconds %d vllm:request_success{finished_reason="stop"} %d vllm:prompt_tokens %d`,
			second, 1000+1000*server, 500*server+second, 5000*server+10*second))
	}
	return lines
}

func TestTotalsOfServersThatAnswerInTurn(t *testing.T) {
	const why = "lb is answered by 2 servers in turn: name the page of each with --server-metrics URL"
	pages := lbPages()
	got := totalsText(ledgerOf(t, nil, pages...))
	if want := "vLLM requests!" + why + " aborted_requests!" + why + " prompt_tokens!" + why; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// With the page of each beside it, it is no page of its own.
	got = totalsText(ledgerOf(t, nil, append(pages,
		`a 9: vllm:request_success{finished_reason="stop"} 5 vllm:prompt_tokens 50`,
		`b 9: vllm:request_success{finished_reason="stop"} 505 vllm:prompt_tokens 5050`,
		`a 21: vllm:request_success{finished_reason="stop"} 11 vllm:prompt_tokens 110`,
		`b 21: vllm:request_success{finished_reason="stop"} 511 vllm:prompt_tokens 5110`)...))
	if want := "vLLM requests=12 aborted_requests=0 prompt_tokens=120"; got != want {
		t.Errorf("beside the page of each\ngot  %s\nwant %s", got, want)
	}
}

// What one of several servers says is not the queue of all; its cache is one of theirs.
func TestLoadOfServersThatAnswerInTurn(t *testing.T) {
	start, requests := gaugeOf(startTime), counterOf("vllm:prompt_tokens")
	waiting, running, kv := gaugeOf("vllm:num_requests_waiting"), gaugeOf("vllm:num_requests_running"),
		gaugeOf("vllm:kv_cache_usage_perc")
	store := turnsOf(9, func(second int) int { return second % 2 },
		func(server, second int) map[*prom.Series]float64 {
			return map[*prom.Series]float64{start: 1000 * float64(1+server), requests: float64(second + 100*server),
				waiting: float64(7 * server), running: 2, kv: 0.5 + 0.25*float64(server)}
		})
	l := LoadOf(Compute(store, Settings{Phase: Window{StartNS: 1e9, EndNS: 8e9}}))
	wantLive(t, "waiting", l.Waiting, -1)
	wantLive(t, "running", l.Running, -1)
	wantLive(t, "fullest cache", l.KVUsageMax, 75)
	live := store.Live(store.Mark())
	wantLive(t, "live waiting", live.Waiting, -1)
	wantLive(t, "live input", live.InputRate, -1)
	wantLive(t, "live cache", live.KVUsage, 50)
	now := store.Now(int64(10 * time.Second))
	wantLive(t, "requests now", now.RequestRate, -1)
	wantLive(t, "running now", now.Running, -1)
	if now.Kind != "vLLM" || !strings.Contains(now.Remark, "answered by 2 servers in turn") {
		t.Errorf("%q, %q", now.Kind, now.Remark)
	}
	if list := Highlights(Compute(store, Settings{Phase: Window{StartNS: 1e9, EndNS: 8e9}})); len(list) != 1 {
		t.Errorf("highlights are %+v", list)
	}
	if curves := Curves(store); len(curves) != 4 {
		t.Errorf("%d curves, want those of the gauges", len(curves))
	}
}

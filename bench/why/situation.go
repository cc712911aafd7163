package main

import (
	"slices"
	"strings"
)

// situation is an arranged run. Its cause and the words of its advice were written down before there was any rule that
// could name them.
type situation struct {
	name string
	// causes are the codes that are right, the first of them the one that is expected.
	causes []string
	// advice are the words of which the advice must have one, in lower case.
	advice  []string
	healthy bool

	// servers are the options of the mock servers; each is one.
	servers []string
	network *network
	dynamo  *dynamo
	vllm    *vllm
	// client are the options of aiperf profile; env its further environment.
	client string
	env    []string
	// limited: the client has no priority, for it is the cause.
	limited bool
	// before is a run of its own before the one that counts; "" = none.
	before string
	// gpus: the client reads the GPU page of the first server.
	gpus bool
	// figures are read from the pages of the servers.
	figures []figure
}

// stat is what becomes of a figure's values during a run.
type stat int

const (
	largest stat = iota // of a gauge
	grown               // how much a counter grew
	mean                // of a histogram: growth of its sum by growth of its count, in ms
)

// figure is one of a server's page: the sum over all series of the name.
type figure struct {
	label, name string
	of          stat
}

// Figures of several situations.
var (
	vllmQueue = []figure{{"running", "vllm:num_requests_running", largest},
		{"waiting", "vllm:num_requests_waiting", largest},
		{"KV use", "vllm:kv_cache_usage_perc", largest}, {"preemptions", "vllm:num_preemptions_total", grown}}
	vllmTimes = []figure{{"server TTFT ms", "vllm:time_to_first_token_seconds", mean},
		{"queue ms", "vllm:request_queue_time_seconds", mean}, {"prefill ms", "vllm:request_prefill_time_seconds", mean},
		{"server ITL ms", "vllm:inter_token_latency_seconds", mean}}
	vllmCache = []figure{{"looked up", "vllm:prefix_cache_queries_total", grown},
		{"found", "vllm:prefix_cache_hits_total", grown}}
	dcgm = []figure{{"W", "DCGM_FI_DEV_POWER_USAGE", largest},
		{"power throttled ns", "DCGM_FI_DEV_POWER_VIOLATION", grown},
		{"heat throttled ns", "DCGM_FI_DEV_THERMAL_VIOLATION", grown}, {"SM MHz", "DCGM_FI_DEV_SM_CLOCK", largest},
		{"°C", "DCGM_FI_DEV_GPU_TEMP", largest}, {"MiB used", "DCGM_FI_DEV_FB_USED", largest},
		{"MiB", "DCGM_FI_DEV_FB_TOTAL", largest}}
)

// mock reports whether the servers are the mock server.
func (s *situation) mock() bool { return s.dynamo == nil && s.vllm == nil }

// expected returns the cause as the table shows it.
func (s *situation) expected() string {
	if s.healthy {
		return "none"
	}
	return s.causes[0]
}

// outcome is how a verdict compares with what was written down.
type outcome struct {
	first         string // the first cause, or finding
	word          string // of the advice
	named, advice bool
}

func (o outcome) hit() bool { return o.named && o.advice }

// judge compares a verdict with the situation.
func (s *situation) judge(v verdict) outcome {
	if s.healthy {
		return s.alarms(v)
	}
	o := outcome{first: "nothing", word: "-"}
	first, ok := v.cause()
	if !ok {
		return o
	}
	o.first = first.Code
	o.named = slices.Contains(s.causes, first.Code)
	advice := strings.ToLower(first.Advice)
	for _, word := range s.advice {
		if strings.Contains(advice, strings.ToLower(word)) {
			o.word, o.advice = word, true
			break
		}
	}
	return o
}

// alarms says whether a verdict of a healthy run is without a warning.
func (s *situation) alarms(v verdict) outcome {
	o := outcome{first: "nothing", word: "-", named: true, advice: true}
	if len(v.findings) > 0 {
		o.first = v.findings[0].Code + " (" + v.findings[0].Level + ")"
		o.named = !v.findings[0].alarming()
	}
	for _, f := range v.findings {
		if f.Kind != "sure" && f.alarming() {
			o.first, o.named = f.Code+" ("+f.Level+")", false
		}
	}
	return o
}

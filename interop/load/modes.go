//go:build ignore

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// mode is a load, the server for it, and what the arrivals must be.
type mode struct {
	name   string
	flags  []string
	server []string
	judge  func(*verdict, arrivals)
}

func words(s string) []string { return strings.Fields(s) }

// fullOnly are the modes that the quick check leaves out.
var fullOnly = []string{"gamma, smoothness 4", "gamma, smoothness 0.25", "start of a burst"}

// The limits are wide: the seed fixes the draws, and what remains is the noise of the machine.
var modes = []mode{
	{"constant", words("--request-rate 200 --arrival-pattern constant --request-count 800 --osl 1"), words("--fast"),
		spaced(200, 800, 0, 0.6, nil)},
	{"poisson", words("--request-rate 200 --arrival-pattern poisson --request-count 1000 --osl 1"), words("--fast"),
		spaced(200, 1000, 0.9, 1.12, func(x float64) float64 { return 1 - math.Exp(-200*x) })},
	{"gamma, smoothness 4", words("--request-rate 200 --arrival-pattern gamma --arrival-smoothness 4 --request-count " +
		"1000 --osl 1"), words("--fast"),
		spaced(200, 1000, 0.42, 0.62, func(x float64) float64 { // Erlang of shape 4
			z := 800 * x
			return 1 - math.Exp(-z)*(1+z+z*z/2+z*z*z/6)
		})},
	{"gamma, smoothness 0.25", words("--request-rate 200 --arrival-pattern gamma --arrival-smoothness 0.25 " +
		"--request-count 1000 --osl 1"), words("--fast"),
		spaced(200, 1000, 1.5, 2.6, nil)},
	{"duration", words("--request-rate 100 --arrival-pattern constant --benchmark-duration 2 --osl 1"), words("--fast"),
		func(v *verdict, a arrivals) { v.within("requests", float64(len(a)), 190, 200) }},
	{"rate ramp", words("--request-rate 200 --arrival-pattern constant --request-rate-ramp-duration 3 " +
		"--request-count 300 --osl 1"), words("--fast"), ramped},
	{"rate with concurrency", words("--request-rate 1000 --concurrency 6 --request-count 600 --osl 4 --streaming"),
		words("--ttft 8 --itl 2"), capped(6, 0)},
	{"concurrency", words("--concurrency 12 --request-count 1200 --osl 4 --streaming"),
		words("--ttft 8 --itl 2 --ttft-jitter-cv 1"), capped(12, 0)},
	{"prefill concurrency", words("--concurrency 12 --prefill-concurrency 3 --request-count 400 --osl 6 --streaming"),
		words("--ttft 5 --itl 5 --ttft-jitter-cv 1"), capped(12, 3)},
	{"sessions", words("--concurrency 5 --num-sessions 60 --session-turns-mean 3 --osl 2 --streaming"),
		words("--ttft 5 --itl 1"), sessions},
	{"concurrency ramp", words("--concurrency 5 --concurrency-ramp-duration 2 --request-count 5 --osl 1 --streaming"),
		words("--ttft 3000"), steps},
	{"start of a burst", words("--concurrency 64 --request-count 64 --osl 1 --streaming"), words("--ttft 1000"),
		func(v *verdict, a arrivals) { v.within("spread of 64 arrivals in s", a.seconds()[63], 0, 0.3) }},
	{"simultaneous start", words("--concurrency 64 --simultaneous-start --request-count 64 --osl 1 --streaming"),
		words("--ttft 1000"),
		func(v *verdict, a arrivals) { v.within("spread of 64 arrivals in ms", 1e3*a.seconds()[63], 0, 150) }},
	{"fixed schedule", words("--input-file trace.jsonl --custom-dataset-type mooncake_trace --fixed-schedule"),
		words("--fast"), replayed},
	{"rate series", words("--request-rate-series series.json --request-count 250"), words("--fast"), followed},
	{"user-centric", words(
		"--user-centric-rate 50 --num-users 10 --session-turns-mean 5 --benchmark-duration 4 --osl 1"), words("--fast"),
		users},
	{"cancellation", words("--request-rate 200 --request-count 100 --request-cancellation-rate 50 " +
		"--request-cancellation-delay 0.05 --osl 1 --streaming"), words("--ttft 1000"), cancelled},
}

// spaced judges the gaps of a rate: mean, variation and, where given, distribution.
func spaced(rate float64, n int, lowest, highest float64, cumulative func(float64) float64) func(*verdict, arrivals) {
	return func(v *verdict, a arrivals) {
		v.check(len(a) == n, "%d requests", len(a))
		gaps := a.gaps()
		mean, variation := moments(gaps)
		// Four standard errors of the mean, and 3 % for stalls of the machine.
		wide := 4*highest/math.Sqrt(float64(n)) + 0.03
		if highest < 0.9 && lowest == 0 {
			wide = 0.03
		}
		v.within("mean gap in ms", 1e3*mean, 1e3/rate*(1-wide), 1e3/rate*(1+wide))
		v.within("variation", variation, lowest, highest)
		if cumulative != nil {
			// 1.95 / √n is passed by chance once in a thousand.
			v.within("distance from the distribution", distance(gaps, cumulative), 0, 1.95/math.Sqrt(float64(n))+0.02)
		}
	}
}

// ramped judges a rate that grows evenly to 200 in 3 s: arrival k comes at √(2·3·k / 200).
func ramped(v *verdict, a arrivals) {
	at := a.seconds()
	first := math.Sqrt(6.0 / 200)
	var errors []float64
	for k, s := range at {
		errors = append(errors, math.Abs(s+first-math.Sqrt(6*float64(k+1)/200)))
	}
	slices.Sort(errors)
	v.within("median deviation in ms", 1e3*errors[len(errors)/2], 0, 40)
	v.within("time of 300 arrivals in s", at[len(at)-1]+first, 2.95, 3.15)
}

// capped judges the requests that were open at once, and those before their first token.
func capped(limit, prefill int) func(*verdict, arrivals) {
	return func(v *verdict, a arrivals) {
		v.full("open at once", a.overlap((*arrival).last), limit)
		if prefill > 0 {
			v.full("before their first token", a.overlap((*arrival).first), prefill)
		}
	}
}

func (a *arrival) first() int64 { return a.Events[0] }
func (a *arrival) last() int64  { return a.Events[len(a.Events)-1] }

// sessions judges that turns follow each other and that no more sessions are open than allowed.
func sessions(v *verdict, a arrivals) {
	whole := map[string]*arrival{}
	overtaken := 0
	for i := range a {
		id := a[i].session()
		if s := whole[id]; s != nil {
			if a[i].NS < s.last() {
				overtaken++
			}
			s.Events = a[i].Events
			continue
		}
		copied := a[i]
		whole[id] = &copied
	}
	var list arrivals
	for _, s := range whole {
		list = append(list, *s)
	}
	v.check(len(a) == 180 && len(list) == 60, "%d requests of %d sessions", len(a), len(list))
	v.check(overtaken == 0, "%d turns before the end of the one before", overtaken)
	v.full("sessions open at once", list.overlap((*arrival).last), 5)
}

// trace returns a recording of 80 requests in bursts of four, 100 ms apart, that begins at 300 ms.
func trace() (lines string) {
	for k := range 80 {
		lines += fmt.Sprintf("{\"timestamp\": %d, \"input_length\": 10, \"output_length\": 1}\n", 300+100*(k/4))
	}
	return lines
}

func replayed(v *verdict, a arrivals) {
	v.check(len(a) == 80, "%d requests", len(a))
	var late []float64
	for k, s := range a.seconds() {
		late = append(late, math.Abs(s-0.1*float64(k/4)))
	}
	slices.Sort(late)
	v.within("median deviation in ms", 1e3*late[len(late)/2], 0, 5)
	v.within("90th percentile", 1e3*late[len(late)*9/10], 0, 20)
}

// series is a rate that grows evenly from 50 to 150 within 2 s and stays there.
const series = `[{"time_s": 0, "qps": 50}, {"time_s": 2, "qps": 150}]`

// followed judges the arrivals by the integral: 200 within the 2 s, one each 1/150 s afterwards.
func followed(v *verdict, a arrivals) {
	var late []float64
	at := a.seconds()
	instant := func(k float64) float64 {
		if k > 200 {
			return 2 + (k-200)/150
		}
		return math.Sqrt(1+k/25) - 1 // 50 t + 25 t² = k
	}
	for k, s := range at {
		late = append(late, math.Abs(s+instant(1)-instant(float64(k+1))))
	}
	slices.Sort(late)
	v.check(len(a) == 250, "%d requests", len(a))
	v.within("median deviation in ms", 1e3*late[len(late)/2], 0, 5)
	v.within("90th percentile", 1e3*late[len(late)*9/10], 0, 20)
}

// steps judges a limit that grows from 1 to 5 in 2 s, with requests that take longer.
func steps(v *verdict, a arrivals) {
	for i, s := range a.seconds() {
		v.within("step", s, 0.5*float64(i)-0.06, 0.5*float64(i)+0.15)
	}
}

// users judges ten users who each send every 200 ms.
func users(v *verdict, a arrivals) {
	last := map[string]int64{}
	var gaps []float64
	for i := range a {
		id := a[i].session()
		if before, ok := last[id]; ok {
			gaps = append(gaps, float64(a[i].NS-before)/1e9)
		}
		last[id] = a[i].NS
	}
	slices.Sort(gaps)
	v.within("requests in 4 s", float64(len(a)), 192, 202)
	v.within("median gap of a user in s", gaps[len(gaps)/2], 0.195, 0.205)
	v.within("5th percentile", gaps[len(gaps)/20], 0.15, 0.205)
}

// cancelled judges clients of which every second leaves 50 ms after it has sent.
func cancelled(v *verdict, a arrivals) {
	var stayed []float64
	for i := range a {
		if ms := float64(a[i].LastNS-a[i].NS) / 1e6; ms < 500 {
			stayed = append(stayed, ms)
		}
	}
	slices.Sort(stayed)
	v.check(len(a) == 100, "%d requests came whole", len(a))
	v.within("of these left early", float64(len(stayed)), 30, 70)
	if len(stayed) == 0 {
		return
	}
	v.within("median stay of those in ms", stayed[len(stayed)/2], 45, 90)
	v.within("shortest", stayed[0], 30, 90)
}

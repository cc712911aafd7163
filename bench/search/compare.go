package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
)

// outcome is what a search answered and what it cost.
type outcome struct {
	// load is the answer: 0 if not even the smallest load holds, +Inf if every one does.
	load float64
	// low and high are its interval, NaN where the method has none.
	low, high float64
	// limited reports that the method says that the client was the limit.
	limited bool
	probes  int
	seconds float64
	reason  string
}

// method is a way to search.
type method struct {
	name   string
	search func(*Session) outcome
}

// score is how good an outcome is.
type score struct {
	outcome
	// wrong is the relative error of the answer; 1 where it is of the wrong kind.
	wrong   float64
	covered bool
}

func judge(o outcome, t Truth, now float64) score {
	s := score{outcome: o, wrong: math.Inf(1)}
	for _, truth := range []float64{t.At(now), t.Other} {
		switch {
		case truth == 0 && t.Load != 0:
			continue // no second boundary
		case t.Client > 0:
			// Right is: as far as the client goes the limits hold.
			s.wrong = 1
			if o.limited {
				s.wrong = math.Abs(o.load-t.Client) / t.Client
			}
			s.covered = o.limited && !(o.high < t.Client)
		case truth == 0 || math.IsInf(truth, 1):
			if truth == o.load {
				s.wrong, s.covered = 0, true
			} else {
				s.wrong = 1
			}
		default:
			wrong := math.Abs(o.load-truth) / truth
			if math.IsInf(o.load, 1) {
				wrong = 1
			}
			s.wrong = min(s.wrong, wrong)
			s.covered = s.covered || o.low <= truth && truth <= o.high
		}
	}
	return s
}

// compare prints a table of the methods.
func compare(seeds int, only, methodsOnly []string, each bool) error {
	truths, err := Truths()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "server\tmethod\tanswer\tmedian\terror p50\terror p95\t≤ 5 %\tinterval\tprobes\tseconds\t")
	for _, m := range methods() {
		if !chosen(methodsOnly, m.name) {
			continue
		}
		var total []score
		for _, server := range Servers() {
			if !chosen(only, server.Name) {
				continue
			}
			truth := truths[server.Name]
			scores := make([]score, seeds)
			parallel(seeds, func(i int) {
				session := server.Session(uint64(i + 1))
				o := m.search(session)
				scores[i] = judge(o, truth, session.Now)
			})
			total = append(total, scores...)
			if each {
				fmt.Fprintf(w, "%s\t%s\t%.4g\t%s", server.Name, m.name, truth.Load, row(scores, true))
			}
		}
		fmt.Fprintf(w, "all\t%s\t\t%s", m.name, row(total, false))
		w.Flush()
	}
	return w.Flush()
}

func row(scores []score, median bool) string {
	errors, loads := make([]float64, len(scores)), make([]float64, len(scores))
	close, covered, probes, seconds, intervals := 0, 0, 0, 0.0, 0
	for i, s := range scores {
		errors[i], loads[i] = s.wrong, s.load
		if s.wrong <= .05 {
			close++
		}
		if !math.IsNaN(s.low) {
			intervals++
		}
		if s.covered {
			covered++
		}
		probes += s.probes
		seconds += s.seconds
	}
	slices.Sort(errors)
	slices.Sort(loads)
	n := len(scores)
	interval, middle := "-", ""
	if intervals > 0 {
		interval = fmt.Sprintf("%.1f %%", 100*float64(covered)/float64(n))
	}
	if median {
		middle = fmt.Sprintf("%.4g", loads[n/2])
	}
	return fmt.Sprintf("%s\t%.1f %%\t%.1f %%\t%.1f %%\t%s\t%.1f\t%.0f\t\n", middle, 100*errors[n/2],
		100*errors[n*95/100], 100*float64(close)/float64(n), interval, float64(probes)/float64(n), seconds/float64(n))
}

// parallel calls f for the numbers below n on all processors.
func parallel(n int, f func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

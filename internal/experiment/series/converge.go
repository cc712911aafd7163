package series

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/stats"
)

// leastValues is the number of runs that stability needs.
const leastValues = 3

// convergence decides whether further runs are needed.
type convergence struct {
	config.Convergence
	level float64
	log   *slog.Logger
	// values are those of the requests of each run that was read, by its label.
	values map[string][]float64
}

// check reports whether the runs so far agree. If it cannot decide, it logs why, and another run is made.
func (c *convergence) check(done []Run) (why string, met bool) {
	good := Successes(done)
	if len(done) >= leastValues && !c.known(good) {
		c.log.Warn(fmt.Sprintf("--convergence-metric %s: no run has this metric, so the series cannot end early; the "+
			"runs have %s",
			c.Metric, orNothing(tagsOf(good))))
		return "", false
	}
	var err error
	if c.Mode == config.ConvergeDistribution {
		why, met, err = c.sameDistribution(good)
	} else {
		why, met = c.stable(good)
	}
	switch {
	case err != nil:
		c.log.Warn("The convergence of the runs cannot be judged", "error", err)
		return "", false
	case !met && why != "":
		c.log.Info("Not converged after " + fmt.Sprint(len(done)) + " runs: " + why)
	}
	return why, met
}

func orNothing(tags []string) string {
	if len(tags) == 0 {
		return "none"
	}
	return strings.Join(tags, ", ")
}

// known reports whether any run has the metric.
func (c *convergence) known(good []Run) bool {
	return slices.Contains(tagsOf(good), c.Metric)
}

// stable compares the statistic of the runs.
func (c *convergence) stable(good []Run) (why string, met bool) {
	values := valuesOf(good, c.Metric, c.Stat)
	if len(values) < leastValues {
		return "", false
	}
	e := stats.Confidence(values, c.level)
	ratio, name := e.Width(), "the confidence interval is"
	if c.Mode == config.ConvergeCV {
		ratio, name = e.CV, "the standard deviation is"
	}
	return fmt.Sprintf("%s %.4g of the mean of %s %s, threshold %g", name, ratio, c.Metric, c.Stat, c.Threshold),
		ratio < c.Threshold
}

// sameDistribution compares the requests of the last run with those of all before it.
func (c *convergence) sameDistribution(good []Run) (why string, met bool, err error) {
	if len(good) < leastValues {
		return "", false, nil
	}
	var earlier, last []float64
	for i := range good {
		values, err := c.requests(&good[i])
		if err != nil {
			return "", false, err
		}
		if i == len(good)-1 {
			last = append(last, values...)
		} else {
			earlier = append(earlier, values...)
		}
	}
	if len(earlier) < 2 || len(last) < 2 {
		return "", false, nil
	}
	distance, p := stats.SameDistribution(earlier, last)
	return fmt.Sprintf("the %s of the requests of %s differs from the earlier ones by D = %.4g, p = %.4g, threshold %g",
		c.Metric, good[len(good)-1].Info.RunLabel, distance, p, c.Threshold), p > c.Threshold, nil
}

// requests returns the values of the metric in the successful requests of a run.
func (c *convergence) requests(r *Run) ([]float64, error) {
	if values, ok := c.values[r.Info.RunLabel]; ok {
		return values, nil
	}
	values := []float64{}
	_, err := readRequests(r.Artifacts.Path(config.RecordsJSONL), func(tag string, v float64) {
		if tag == c.Metric {
			values = append(values, v)
		}
	})
	if err != nil {
		return nil, err
	}
	if c.values == nil {
		c.values = map[string][]float64{}
	}
	c.values[r.Info.RunLabel] = values
	return values, nil
}

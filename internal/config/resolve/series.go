package resolve

import (
	"fmt"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
)

// series decides how often the benchmark is repeated.
type series struct {
	*asked
	timing *timing
}

// seriesSeed is the seed of a series when the user gave none.
const seriesSeed = 42

// convergenceThreshold is the bound that was given, else that of the mode.
func convergenceThreshold(p *settings.Settings) float64 {
	switch v := p.Float("convergence-threshold"); {
	case v != nil:
		return *v
	case p.Text("convergence-mode") == config.ConvergeCIWidth:
		return 0.10
	default:
		return 0.05
	}
}

// leastRuns is the number of runs before the first check; flags have no say in it.
func (se *series) leastRuns() int {
	if n := se.p.Int("convergence-min-runs"); n != nil {
		return int(*n)
	}
	return 3
}

// repeats resolves the repetition of a run, and the seed that it needs.
func (se *series) repeats(run *config.Run) {
	p := se.p
	s := config.Series{
		Runs: int(*p.Int("num-profile-runs")), Cooldown: option.Seconds(*p.Float("profile-run-cooldown-seconds")),
		Confidence: *p.Float("confidence-level"), WarmupOnce: p.Bool("profile-run-disable-warmup-after-first"),
	}
	if metric := p.Text("convergence-metric"); metric != "" {
		if facts, known := se.catalog.Metric(metric); known {
			metric = facts.Tag
		}
		s.Convergence = &config.Convergence{
			Metric: metric, Stat: p.Text("convergence-stat"), Mode: p.Text("convergence-mode"),
			Threshold: convergenceThreshold(p), MinRuns: min(se.leastRuns(), s.Runs),
		}
	}
	run.Series = s
	run.Probes = config.Probes{EarlyStop: p.Bool("probe-early-stop"), Confidence: *p.Float("probe-confidence"),
		Isolated: p.Bool("probe-isolation")}
	if s.Runs == 1 {
		return
	}
	vary, given := p.Bool("vary-seed-per-trial"), p.Int("random-seed") != nil
	switch {
	case vary:
		run.Series.Seeds = config.VarySeeds
	case !given && !p.Bool("set-consistent-seed"):
		run.Series.Seeds = config.FreshSeeds
		se.warn("%s: the runs send different content, which increases their spread; give --random-seed to send the "+
			"same content", se.flag("set-consistent-seed"))
	}
	if !given && run.Series.Seeds != config.FreshSeeds {
		seed := uint64(seriesSeed)
		run.RandomSeed = &seed
	}
	if !se.given("ui-type") {
		se.info("Several runs use --ui simple, or none without a terminal")
	}
}

// sweeps are the lengths of all comma lists, by flag as typed, in the order of the table.
func (se *series) sweeps() (flags []string, lengths []int) {
	for _, o := range option.All() {
		if list := se.p.Swept(o.Name); list != nil {
			flags, lengths = append(flags, se.flag(o.Name)), append(lengths, len(list))
		}
	}
	return flags, lengths
}

// countedLists are the flags, each with the length of its list.
func countedLists(flags []string, lengths []int) []string {
	list := make([]string, len(flags))
	for i, flag := range flags {
		list[i] = fmt.Sprintf("%s has %d values", flag, lengths[i])
	}
	return list
}

func (se *series) checkSweep() {
	flags, lengths := se.sweeps()
	variants := len(se.p.Texts("variant"))
	if se.given("variant") && variants < 2 {
		se.fault("", "%s must be given at least twice", se.flag("variant"))
	}
	sweeping := len(flags) > 0 || variants > 0 || se.p.Cell
	if sweeping && se.timing.mode == config.FixedSchedule {
		se.fault("V39", "%s: a sweep is incompatible with a fixed schedule",
			strings.Join(append(flags, se.givenOf("variant")...), ", "))
	}
	only := se.givenOf("parameter-sweep-mode", "parameter-sweep-cooldown-seconds", "parameter-sweep-same-seed",
		"sweep-type", "no-sweep-table")
	if !sweeping && len(only) > 0 {
		se.warn("no effect without a sweep: %s", strings.Join(only, ", "))
	}
	search := se.givenOf("search-space", "search-recipe")
	servers, _ := parse.ServeParams(se.p.Texts("serve-params"))
	if several := sweeping || len(search) > 0 || len(servers) > 1; !several {
		if given := se.givenOf("pareto-objectives"); len(given) > 0 {
			se.warn("no effect without a sweep or a search: %s", given[0])
		}
		if given := se.givenOf("resume", "fail-on-partial"); len(given) > 0 && *se.p.Int("num-profile-runs") == 1 {
			se.warn("no effect without a sweep, a search or --num-profile-runs: %s", strings.Join(given, ", "))
		}
	}
	if probes := se.givenOf("probe-early-stop", "probe-confidence", "probe-isolation"); len(probes) > 0 &&
		len(search) == 0 && !se.p.Cell {
		se.warn("no effect without a search: %s", strings.Join(probes, ", "))
	}
	if se.p.Text("sweep-type") == "zip" {
		for _, n := range lengths {
			if n != lengths[0] {
				se.fault("V47", "%s zip needs lists of equal length: %s", se.flag("sweep-type"),
					strings.Join(countedLists(flags, lengths), ", "))
				break
			}
		}
	}
	if len(search) > 0 && len(flags) > 0 {
		se.fault("V47", "%s and the lists of %s are mutually exclusive", strings.Join(search, ", "),
			strings.Join(flags, ", "))
	}
}

func (se *series) checkSeries() {
	if runs := *se.p.Int("num-profile-runs"); runs == 1 {
		needed, idle := []string{"profile-run-disable-warmup-after-first", "profile-run-cooldown-seconds",
			"convergence-metric"}, []string{"confidence-level"}
		// A sweep of single runs takes its seed from the same option.
		if flags, _ := se.sweeps(); len(flags) == 0 && !se.given("variant") && !se.p.Cell {
			needed, idle = append(needed, "set-consistent-seed"), append(idle, "vary-seed-per-trial")
		}
		if flags := se.givenOf(needed...); len(flags) > 0 {
			se.fault("V41", "%s only applies when --num-profile-runs is greater than 1", strings.Join(flags, ", "))
		}
		if flags := se.givenOf(idle...); len(flags) > 0 {
			se.warn("no effect without --num-profile-runs: %s", strings.Join(flags, ", "))
		}
	} else if runs == 2 && se.given("convergence-metric") {
		se.warn("%s can hardly show convergence in two runs; give --num-profile-runs 3 or more",
			se.flag("convergence-metric"))
	}
	if !se.given("convergence-metric") {
		if flags := se.givenOf("convergence-stat", "convergence-mode", "convergence-threshold"); len(flags) > 0 {
			se.warn("no effect without --convergence-metric: %s", strings.Join(flags, ", "))
		}
		return
	}
	if se.p.Text("convergence-mode") != config.ConvergeDistribution {
		return
	}
	if se.given("convergence-stat") {
		se.fault("V43", "%s is not applicable with --convergence-mode distribution", se.flag("convergence-stat"))
	}
	if se.p.Text("export-level") == "summary" {
		se.fault("V43", "%s distribution needs per-request records, which --export-level summary does not keep",
			se.flag("convergence-mode"))
	}
}

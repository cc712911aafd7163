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
	if p.ConvergenceMode.Get() == config.ConvergeCIWidth {
		return p.ConvergenceThreshold.Or(0.10)
	}
	return p.ConvergenceThreshold.Or(0.05)
}

// leastRuns is the number of runs before the first check; flags have no say in it.
func (se *series) leastRuns() int {
	return int(se.p.ConvergenceMinRuns.Or(3))
}

// repeats resolves the repetition of a run, and the seed that it needs.
func (se *series) repeats(run *config.Run) {
	p := se.p
	s := config.Series{
		Runs: int(p.NumProfileRuns.Get()), Cooldown: option.Seconds(p.ProfileRunCooldownSeconds.Get()),
		Confidence: p.ConfidenceLevel.Get(), WarmupOnce: p.ProfileRunDisableWarmupAfterFirst.Get(),
	}
	if metric := p.ConvergenceMetric.Get(); metric != "" {
		if facts, known := se.catalog.Metric(metric); known {
			metric = facts.Tag
		}
		s.Convergence = &config.Convergence{
			Metric: metric, Stat: p.ConvergenceStat.Get(), Mode: p.ConvergenceMode.Get(),
			Threshold: convergenceThreshold(p), MinRuns: min(se.leastRuns(), s.Runs),
		}
	}
	run.Series = s
	run.Probes = config.Probes{EarlyStop: p.ProbeEarlyStop.Get(), Confidence: p.ProbeConfidence.Get(),
		Isolated: p.ProbeIsolation.Get()}
	if s.Runs == 1 {
		return
	}
	vary, given := p.VarySeedPerTrial.Get(), p.RandomSeed.Pointer() != nil
	switch {
	case vary:
		run.Series.Seeds = config.VarySeeds
	case !given && !p.SetConsistentSeed.Get():
		run.Series.Seeds = config.FreshSeeds
		se.warn("%s: the runs send different content, which increases their spread; give --random-seed to send the "+
			"same content", se.p.SetConsistentSeed.Flag())
	}
	if !given && run.Series.Seeds != config.FreshSeeds {
		seed := uint64(seriesSeed)
		run.RandomSeed = &seed
	}
	if !se.p.UI.Given() {
		se.info("Several runs use --ui simple, or none without a terminal")
	}
}

// sweeps are the lengths of all comma lists, by flag as typed, in the order of the table.
func (se *series) sweeps() (flags []string, lengths []int) {
	for f := range se.p.Fields() {
		if list := f.Swept(); list != nil {
			flags, lengths = append(flags, f.Flag()), append(lengths, len(list))
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
	variants := len(se.p.Variant.Get())
	if se.p.Variant.Given() && variants < 2 {
		se.fault("", "%s must be given at least twice", se.p.Variant.Flag())
	}
	sweeping := len(flags) > 0 || variants > 0 || se.p.Cell
	if sweeping && se.timing.mode == config.FixedSchedule {
		se.fault("V39", "%s: a sweep is incompatible with a fixed schedule",
			strings.Join(append(flags, givenOf(&se.p.Variant)...), ", "))
	}
	only := givenOf(&se.p.ParameterSweepMode, &se.p.ParameterSweepCooldownSeconds, &se.p.ParameterSweepSameSeed,
		&se.p.SweepType, &se.p.NoSweepTable)
	if !sweeping && len(only) > 0 {
		se.warn("no effect without a sweep: %s", strings.Join(only, ", "))
	}
	search := givenOf(&se.p.SearchSpace, &se.p.SearchRecipe)
	servers, _ := parse.ServeParams(se.p.ServeParams.Get())
	if several := sweeping || len(search) > 0 || len(servers) > 1; !several {
		if given := givenOf(&se.p.ParetoObjectives); len(given) > 0 {
			se.warn("no effect without a sweep or a search: %s", given[0])
		}
		if given := givenOf(&se.p.Resume, &se.p.FailOnPartial); len(given) > 0 && se.p.NumProfileRuns.Get() == 1 {
			se.warn("no effect without a sweep, a search or --num-profile-runs: %s", strings.Join(given, ", "))
		}
	}
	if probes := givenOf(&se.p.ProbeEarlyStop, &se.p.ProbeConfidence, &se.p.ProbeIsolation); len(probes) > 0 &&
		len(search) == 0 && !se.p.Cell {
		se.warn("no effect without a search: %s", strings.Join(probes, ", "))
	}
	if se.p.SweepType.Get() == "zip" {
		for _, n := range lengths {
			if n != lengths[0] {
				se.fault("V47", "%s zip needs lists of equal length: %s", se.p.SweepType.Flag(),
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
	if runs := se.p.NumProfileRuns.Get(); runs == 1 {
		p := se.p
		needed := []option.Field{&p.ProfileRunDisableWarmupAfterFirst, &p.ProfileRunCooldownSeconds,
			&p.ConvergenceMetric}
		idle := []option.Field{&p.ConfidenceLevel}
		// A sweep of single runs takes its seed from the same option.
		if flags, _ := se.sweeps(); len(flags) == 0 && !se.p.Variant.Given() && !se.p.Cell {
			needed, idle = append(needed, &p.SetConsistentSeed), append(idle, &p.VarySeedPerTrial)
		}
		if flags := givenOf(needed...); len(flags) > 0 {
			se.fault("V41", "%s only applies when --num-profile-runs is greater than 1", strings.Join(flags, ", "))
		}
		if flags := givenOf(idle...); len(flags) > 0 {
			se.warn("no effect without --num-profile-runs: %s", strings.Join(flags, ", "))
		}
	} else if runs == 2 && se.p.ConvergenceMetric.Given() {
		se.warn("%s can hardly show convergence in two runs; give --num-profile-runs 3 or more",
			se.p.ConvergenceMetric.Flag())
	}
	if !se.p.ConvergenceMetric.Given() {
		if flags := givenOf(&se.p.ConvergenceStat, &se.p.ConvergenceMode, &se.p.ConvergenceThreshold); len(flags) > 0 {
			se.warn("no effect without --convergence-metric: %s", strings.Join(flags, ", "))
		}
		return
	}
	if se.p.ConvergenceMode.Get() != config.ConvergeDistribution {
		return
	}
	if se.p.ConvergenceStat.Given() {
		se.fault("V43", "%s is not applicable with --convergence-mode distribution", se.p.ConvergenceStat.Flag())
	}
	if se.p.ExportLevel.Get() == "summary" {
		se.fault("V43", "%s distribution needs per-request records, which --export-level summary does not keep",
			se.p.ConvergenceMode.Flag())
	}
}

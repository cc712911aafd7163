package resolve

import (
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
)

// timing decides when requests are sent: the timing mode, its limits and the phases.
type timing struct {
	*asked
	endpoint *endpoint
	file     *datafile
	scenario *scenario

	mode config.Mode
	// lines is the number of rows of a file whose recorded times are followed.
	lines int64
	// roots is the number of roots of a file where that is the number of sessions, else 0.
	roots int64

	concurrency, prefill *int64
	rate, duration       *float64
	series               []config.RatePoint
	requests, sessions   *int64
	requestsGiven        bool
	// whole reports that each problem of a benchmark is asked, whose number is not known yet.
	whole      bool
	pattern    string
	smoothness float64

	// inFile reports that a configuration file describes the phases, fileWarmsUp that one of them is a warm-up.
	inFile, fileWarmsUp bool
}

// decideMode chooses the timing mode; the first rule that fits wins.
func (ti *timing) decideMode() {
	ti.mode, ti.duration = ti.scenario.mode, ti.scenario.duration
	if ti.p != ti.scenario.p { // another phase of a file than the one that a scenario is about
		ti.duration = ti.p.BenchmarkDuration.Pointer()
	}
	switch {
	case ti.mode == config.AgenticReplay:
	case ti.p.FixedSchedule.Get():
		ti.mode = config.FixedSchedule
		if file := ti.p.InputFile.Get(); file != "" {
			ti.lines = ti.file.rows(file, ti.file.format(file)).rows
		}
	case ti.followsTrace():
		ti.mode = config.FixedSchedule
	case ti.p.UserCentricRate.Given():
		ti.mode = config.UserCentric
	case ti.p.RequestRate.Given() || ti.p.RequestRateSeries.Given() || ti.p.PhaseRateSeries.Given():
		ti.mode = config.Rate
	default:
		ti.mode = config.Burst
	}
}

// followsTrace reports whether a trace with timestamps turns the fixed schedule on by itself.
func (ti *timing) followsTrace() bool {
	file := ti.p.InputFile.Get()
	if file == "" || ti.p.NoFixedSchedule.Get() || ti.p.IgnoreTraceDelays.Get() {
		return false
	}
	format := ti.file.format(file)
	if !slices.Contains(option.TraceFormats(), format) {
		return false
	}
	trace := ti.file.rows(file, format)
	if !trace.timed && (!slices.Contains(timedByType(), format) || format == option.Recording) {
		return false
	}
	ti.lines = trace.rows
	if trace.timed {
		ti.info("%s contains timestamps, so requests follow its schedule; --no-fixed-schedule prevents this", file)
	} else { // what is in it is not known yet
		ti.info("files of the format %s have timestamps, as %s should have, so requests follow its schedule; "+
			"--no-fixed-schedule prevents this", format, file)
	}
	return true
}

// decide fills in what the timing mode leaves open.
func (ti *timing) decide() {
	p := ti.p
	ti.concurrency, ti.prefill = p.Concurrency.Pointer(), p.PrefillConcurrency.Pointer()
	ti.requests, ti.sessions = p.RequestCount.Pointer(), p.NumSessions.Pointer()
	ti.requestsGiven = ti.requests != nil
	ti.decideRoots()
	ti.rate = p.RequestRate.Pointer()
	if ti.mode == config.FixedSchedule || ti.mode == config.UserCentric || ti.mode == config.AgenticReplay {
		ti.rate = nil
	}
	if points, ok := p.PhaseRateSeries.Value().([]config.RatePoint); ok && ti.mode == config.Rate {
		ti.series = points
	} else if ti.mode == config.Rate && ti.p.RequestRateSeries.Given() {
		ti.readSeries()
	}
	if ti.mode == config.AgenticReplay && ti.concurrency == nil {
		one := int64(1)
		ti.concurrency = &one
		ti.warn("no --concurrency given: running with one lane")
	}
	if ti.mode == config.Burst && ti.concurrency == nil && ti.prefill == nil {
		one := int64(1)
		ti.concurrency = &one
		ti.warn("no --concurrency and no --request-rate given: running with --concurrency 1")
	}
	if ti.requests == nil {
		ti.requests = ti.defaultRequests(ti.concurrency)
		if ti.requests != nil && ti.mode != config.FixedSchedule && !p.Sized {
			meant := ""
			if ti.p.NumDatasetEntries.Flag() == "--num-prompts" {
				meant = "; --num-prompts is the number of different prompts, not that of requests"
			}
			ti.warn("no stop condition given: running with --request-count %d%s", *ti.requests, meant)
		}
	}
	ti.decidePattern()
}

// decideRoots looks for a file of branching sessions. Without a count each root of a dag_jsonl file is played once.
func (ti *timing) decideRoots() {
	path := ti.file.source()
	if path == "" {
		return
	}
	ti.file.classify(ti.mode == config.FixedSchedule)
	if ti.file.format(path) != option.DAGJSONL || ti.requests != nil || ti.sessions != nil ||
		ti.mode == config.AgenticReplay {
		return
	}
	if ti.roots = ti.catalog.DatasetRoots(path); ti.roots > 0 {
		ti.sessions = &ti.roots
		ti.info("%s has %d root sessions and no count is given: running with --num-sessions %d", path, ti.roots,
			ti.roots)
	}
}

// defaultRequests is the request count of a run whose user gave no stop condition, for one concurrency.
func (ti *timing) defaultRequests(concurrency *int64) *int64 {
	n := int64(10)
	switch {
	case ti.sessions != nil:
		return nil
	case ti.recorded() != nil && ti.duration == nil && ti.mode != config.FixedSchedule &&
		ti.mode != config.UserCentric && ti.mode != config.AgenticReplay:
		ti.whole = true // each session once
		return nil
	case ti.graded() && ti.duration == nil:
		ti.whole = true
		return nil
	case ti.mode == config.FixedSchedule:
		if ti.lines == 0 {
			return nil
		}
		n = ti.lines
	case ti.mode == config.UserCentric || ti.mode == config.AgenticReplay || ti.duration != nil:
		return nil
	case ti.mode == config.Rate:
		if concurrency != nil {
			n = max(n, *concurrency)
		}
	case concurrency != nil:
		n = max(n, saturatingDouble(*concurrency))
	case ti.prefill != nil:
		n = max(n, saturatingDouble(*ti.prefill))
	}
	return &n
}

func saturatingDouble(n int64) int64 {
	if 2*n < n {
		return n
	}
	return 2 * n
}

// decidePattern resolves the arrival pattern of a rate and its smoothness.
func (ti *timing) decidePattern() {
	p := ti.p
	switch {
	case ti.mode != config.Rate:
		ti.pattern = string(config.Burst)
		if ti.mode == config.Burst && ti.p.ArrivalPattern.Given() {
			ti.warn("%s has no effect without --request-rate", ti.p.ArrivalPattern.Flag())
		}
	case ti.p.ArrivalPattern.Given():
		ti.pattern = p.ArrivalPattern.Get()
	case ti.p.ArrivalSmoothness.Given():
		ti.pattern = config.PatternGamma
		ti.info("%s is given, so arrivals follow the gamma pattern", ti.p.ArrivalSmoothness.Flag())
	case ti.p.RequestRateSeries.Given():
		ti.pattern = config.PatternConstant
	default:
		ti.pattern = p.ArrivalPattern.Get()
	}
	ti.smoothness = p.ArrivalSmoothness.Or(1)
}

// readSeries reads the rate series; a file that holds none is a fault.
func (ti *timing) readSeries() {
	path := ti.p.RequestRateSeries.Get()
	points, err := parse.RateSeries(path)
	if err != nil {
		ti.fault("", "%s %s: %v", ti.p.RequestRateSeries.Flag(), fault.Shorten(path), err)
	}
	ti.series = points
}

// warmsUp reports whether there is a warm-up phase.
func (ti *timing) warmsUp() bool {
	if ti.inFile {
		return ti.fileWarmsUp
	}
	return len(givenOf(&ti.p.WarmupRequestCount, &ti.p.WarmupDuration, &ti.p.NumWarmupSessions)) > 0
}

package resolve

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/fault"
	"aiperf/internal/load"
)

const agentXLine = "-m m --scenario inferencex-agentx-mvp --custom-dataset-type weka_trace --input-file FILE "

func agentXFile(t *testing.T) string { return configtest.WriteFile(t, "a.json", "{}") }

func TestScenarioSetsWhatItDemands(t *testing.T) {
	line := strings.Replace(agentXLine, "FILE", agentXFile(t), 1)
	r, notes := mustResolve(t, line+"--concurrency 3")
	p := r.Profiling()
	if p.Mode != config.AgenticReplay || *p.Duration != 1800*time.Second || *p.Concurrency != 3 || p.Requests != nil ||
		p.Sessions != nil {
		t.Errorf("profiling %+v", p)
	}
	want := config.Lanes{Lanes: load.Lanes{Stage: load.ReplayLanes, MinStart: 0, MaxStart: 1,
		TreeIdle:   config.Unlimited,
		SystemIdle: 10 * time.Second}}
	if *p.Lanes != want {
		t.Errorf("lanes %+v", p.Lanes)
	}
	if v, ok := r.Endpoint.Extra.Get("ignore_eos"); !ok || v != true || r.Dataset.CacheBust != "first_turn_prefix" ||
		r.RandomSeed == nil || !r.Endpoint.Streaming {
		t.Errorf("extra %v, cache bust %s, seed %v", r.Endpoint.Extra, r.Dataset.CacheBust, r.RandomSeed)
	}
	if len(r.Phases) != 2 || r.Phases[0].Lanes.Stage != load.SeedLanes || r.Phases[0].Grace != config.Unlimited {
		t.Errorf("phases %+v", r.Phases)
	}
	if r.Submission.Scenario != agentX || len(r.Submission.Reasons) != 0 {
		t.Errorf("submission %+v", r.Submission)
	}
	infos := 0
	for _, n := range notes {
		if n.Level == fault.LevelInfo && strings.HasPrefix(n.Text, "scenario ") {
			infos++
		}
	}
	if infos != 8 {
		t.Errorf("%d values were set with a note, want 8: %v", infos, notes)
	}
}

func TestScenarioKeepsWhatAgreesWithIt(t *testing.T) {
	line := strings.Replace(agentXLine, "FILE", agentXFile(t), 1)
	r, _ := mustResolve(t, line+"--benchmark-duration 1200 --extra-inputs ignore_eos:true --cache-bust "+
		"first_turn_prefix --system-idle-gap-cap-seconds 10 --streaming --trajectory-start-min-ratio 0.2 "+
		"--random-seed 7 --num-sessions 5")
	if *r.Profiling().Duration != 1200*time.Second || *r.RandomSeed != 7 || *r.Profiling().Sessions != 5 ||
		r.Profiling().Lanes.MinStart != 0.2 || r.Profiling().Lanes.MaxStart != 1 || len(r.Endpoint.Extra) != 1 ||
		len(r.Submission.Reasons) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestScenarioReportsAllViolationsTogether(t *testing.T) {
	file := configtest.WriteFile(t, "data.jsonl", `{"text":"x"}`)
	line := "-m m --scenario inferencex-agentx-mvp --custom-dataset-type single_turn --input-file " + file +
		" --request-rate 5 --benchmark-duration 60 --extra-inputs ignore_eos:false --cache-bust none " +
		"--trace-idle-gap-cap-seconds 5 --concurrency 1,2" +
		" --inter-turn-delay-cap-seconds 3 --ignore-trace-delays --system-idle-gap-cap-seconds 60 --streaming=false " +
		"--synthesis-max-isl 9"
	faults := resolveError(t, line)
	for _, want := range []string{
		"--request-rate is 5, the scenario demands agentic replay",
		"--benchmark-duration is 60, the scenario demands at least 900",
		"ignore_eos is false, the scenario demands true",
		"--cache-bust is none, the scenario demands first_turn_prefix",
		"--trace-idle-gap-cap-seconds is 5, the scenario demands none",
		"--inter-turn-delay-cap-seconds is 3, the scenario demands none",
		"--ignore-trace-delays is true, the scenario demands none",
		"--synthesis-max-isl is 9, the scenario demands none",
		"--system-idle-gap-cap-seconds is 60, the scenario demands 10",
		"--streaming is false, the scenario demands true",
		"--input-file is single_turn, the scenario demands weka_trace or weka_hf",
		"--concurrency is a list, the scenario demands one value",
	} {
		configtest.WantText(t, line, faults.Error(), want)
	}
}

func TestUnsafeOverrideTurnsViolationsIntoWarnings(t *testing.T) {
	line := strings.Replace(agentXLine, "FILE", agentXFile(t), 1)
	r, notes := mustResolve(t, line+"--benchmark-duration 60 --unsafe-override")
	if *r.Profiling().Duration != time.Minute || r.Profiling().Mode != config.AgenticReplay ||
		!slices.Equal(r.Submission.Reasons, []string{"unsafe_override"}) {
		t.Errorf("%+v, %+v", r.Profiling(), r.Submission)
	}
	if !slices.ContainsFunc(notes, func(w fault.Warning) bool {
		return w.Level == fault.LevelWarning && strings.Contains(w.Text, "--benchmark-duration is 60")
	}) {
		t.Errorf("no warning in %v", notes)
	}
	r, _ = mustResolve(t, line+"--unsafe-override")
	if len(r.Submission.Reasons) != 0 {
		t.Errorf("a run that keeps the scenario: %+v", r.Submission)
	}
	r, _ = mustResolve(t, line+"--unsafe-override --request-rate 5 --request-count 5")
	if r.Profiling().Mode != config.Rate || *r.Profiling().Duration != 1800*time.Second {
		t.Errorf("an explicit rate wins: %+v", r.Profiling())
	}
	r, _ = mustResolve(t, line+"--unsafe-override --concurrency 2 --trace-idle-gap-cap-seconds 7")
	if r.Profiling().Lanes.TreeIdle != 7*time.Second {
		t.Errorf("the idle cap of a recording: %+v", r.Profiling().Lanes)
	}
}

func TestUnsafeOverrideNeedsDataThatTheScenarioCanRead(t *testing.T) {
	for args, want := range map[string]string{
		"": "the data set is synthetic, the scenario demands weka_trace",
		"--input-file " + configtest.WriteFile(t, "x.bin",
			"?"): "--input-file is of an unknown format, the scenario demands weka_trace",
	} {
		line := "-m m --scenario inferencex-agentx-mvp --unsafe-override --request-rate 5 --request-count 5 " + args
		configtest.WantText(t, line, resolveError(t, line).Error(), want)
	}
}

// A cap of a recording's idle time is a violation, whatever its value.
func TestTrapScenarioForbidsTheIdleCapOfRecordings(t *testing.T) {
	line := strings.Replace(agentXLine, "FILE", agentXFile(t), 1) + "--trace-idle-gap-cap-seconds 60"
	configtest.WantText(t, line, resolveError(t, line).Error(),
		"--trace-idle-gap-cap-seconds is 60, the scenario demands none")
}

func TestScenarioAllowsPublishedRecordings(t *testing.T) {
	names := agentXPublic()
	if len(names) != 16 {
		t.Errorf("%d names: %q", len(names), names)
	}
	for _, want := range []string{
		"semianalysis_cc_traces_weka_with_subagents", "semianalysis_cc_traces_weka_with_subagents_256k",
		"semianalysis_cc_traces_weka_with_subagents_060826_256k", "semianalysis_cc_traces_weka_062126",
		"semianalysis_cc_traces_weka_061326_256k", "weka_hf",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
	line := "-m m --scenario inferencex-agentx-mvp --public-dataset semianalysis_cc_traces_weka_no_subagents"
	configtest.WantText(t, line, resolveError(t, line).Error(),
		"--public-dataset is semianalysis_cc_traces_weka_no_subagents, the scenario demands weka_trace")
}

func TestLanePhases(t *testing.T) {
	line := strings.Replace(agentXLine, "FILE", agentXFile(t), 1)
	r, _ := mustResolve(t, line+"--concurrency 2 --agentic-cache-warmup-duration 30 --agentic-warmup-grace-period 5 "+
		"--burst-phase-starts --trajectory-start-min-ratio 0.5 --trajectory-start-max-ratio 0.5 "+
		"--system-idle-gap-cap-seconds 3 --unsafe-override")
	if len(r.Phases) != 3 {
		t.Fatalf("phases %+v", r.Phases)
	}
	fill, last := r.Phases[1], r.Phases[2]
	if fill.Kind != config.WarmupPhase || fill.Lanes.Stage != load.FillLanes || *fill.Duration != 30*time.Second ||
		fill.Grace != 5*time.Second || r.Phases[0].Grace != 5*time.Second {
		t.Errorf("fill %+v", fill)
	}
	if !last.Lanes.Together || last.Lanes.MinStart != 0.5 || last.Lanes.SystemIdle != 3*time.Second ||
		last.Grace != 30*time.Second {
		t.Errorf("profiling %+v, %+v", last, last.Lanes)
	}
	r, _ = mustResolve(t, line+"--concurrency 2 --warmup-requests-per-lane 4")
	if fill := r.Phases[1]; fill.Lanes.PerLane != 4 || fill.Duration != nil {
		t.Errorf("fill %+v, %+v", fill, fill.Lanes)
	}
}

func TestFlagsOfAgenticReplay(t *testing.T) {
	line := strings.Replace(agentXLine, "FILE", agentXFile(t), 1)
	for args, want := range map[string]string{
		"-m m --burst-phase-starts": "can only be used with agentic " +
			"replay: give --scenario inferencex-agentx-mvp",
		"-m m --trace-idle-gap-cap-seconds 4": "can only be used with agentic replay",
		"-m m --scenario other": "--scenario other is unknown: " +
			"want inferencex-agentx-mvp",
		"-m m --use-think-time-only": "can only be used with a " +
			"weka_trace, tracelab or dynamo_trace file",
		"-m m --cache-bust warmup_isolation_system": "needs a system prompt",
		"-m m --cache-bust first_turn_prefix --endpoint-type completions": "can only be used with " +
			"--endpoint-type chat",
		line + "--warmup-request-count 3":                                       "which warms up its lanes",
		line + "--agentic-cache-warmup-duration 3 --warmup-requests-per-lane 2": "cannot be used together",
		line + "--trajectory-start-min-ratio 0.9 --trajectory-start-max-ratio 0.75": "must be at most " +
			"--trajectory-start-max-ratio 0.75",
		line + "--concurrency 4 --concurrency-ramp-duration 3": "cannot be used with agentic " +
			"replay",
		line + "--dataset-sampling-strategy random":                            "plays every recording in turn",
		line + "--unsafe-override --cache-bust warmup_isolation_first_turn":    "whose warm-up fills the caches",
		line + "--unsafe-override --use-think-time-only --ignore-trace-delays": "cannot be used together",
		"-m m --scenario inferencex-agentx-mvp --unsafe-override":              "the data set is synthetic",
	} {
		configtest.WantText(t, args, resolveError(t, args).Error(), want)
	}
	_, notes := mustResolve(t, "-m m --unsafe-override")
	if !slices.ContainsFunc(notes, func(w fault.Warning) bool {
		return strings.Contains(w.Text,
			"no effect without --scenario")
	}) {
		t.Errorf("notes %v", notes)
	}
}

package plan_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"aiperf/internal/base/random"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/run/plan"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/compose"
)

func TestPhasesInTheTermsOfLoad(t *testing.T) {
	schedule := &config.Schedule{AutoOffset: true, StartMS: new(int64(4000))}
	for name, c := range map[string]struct {
		phase config.Phase
		want  load.Phase
	}{
		"no limit but the requests": {
			config.Phase{Name: "warmup", Kind: config.WarmupPhase, Mode: config.Burst, Requests: new(int64(3)),
				Grace: time.Hour},
			load.Phase{Name: "warmup", Kind: load.Warmup, Requests: 3, Grace: load.Infinite},
		},
		"a duration has its grace period": {
			config.Phase{Mode: config.Burst, Concurrency: new(8), Prefill: new(2),
				Duration: new(time.Minute), Grace: time.Second},
			load.Phase{Concurrency: 8, Prefill: 2, Duration: time.Minute, Grace: time.Second},
		},
		"arrivals are random unless the pattern says otherwise": {
			config.Phase{Mode: config.Rate, Rate: 5, Series: []config.RatePoint{{Seconds: 1.5, Rate: 7}}},
			load.Phase{Grace: load.Infinite, Arrivals: load.Arrivals{
				Pattern: load.Poisson, Rate: 5, Series: []load.RatePoint{{At: 1500 * time.Millisecond, Rate: 7}},
				Ramp: load.RateRamp{Interval: 50 * time.Millisecond},
			}},
		},
		"arrivals at equal distances": {
			config.Phase{Mode: config.Rate, Rate: 5, Pattern: config.PatternConstant, RateRamp: time.Second},
			load.Phase{Grace: load.Infinite, Arrivals: load.Arrivals{
				Pattern: load.Constant, Rate: 5,
				Ramp: load.RateRamp{Ramp: load.Ramp{Duration: time.Second}, Interval: 50 * time.Millisecond},
			}},
		},
		"ramps have shapes": {
			config.Phase{Mode: config.Rate, Rate: 5, Concurrency: new(8), Prefill: new(2), RateRamp: 3,
				RateRampShape: "linear", ConcurrencyRamp: 4, ConcurrencyRampShape: "exponential", PrefillRamp: 5,
				PrefillRampShape: "poisson", Seamless: true},
			load.Phase{Grace: load.Infinite, Seamless: true, Concurrency: 8, Prefill: 2, Arrivals: load.Arrivals{
				Pattern: load.Poisson, Rate: 5,
				Ramp: load.RateRamp{Ramp: load.Ramp{Duration: 3}, Interval: 50 * time.Millisecond},
			}, ConcurrencyRamp: load.Ramp{Duration: 4, Strategy: load.Exponential},
				PrefillRamp: load.Ramp{Duration: 5, Strategy: load.RandomSteps}},
		},
		"a schedule starts where the sped-up trace does": {
			config.Phase{Mode: config.FixedSchedule, Schedule: schedule},
			load.Phase{Grace: load.Infinite, Schedule: &load.Schedule{AutoOffset: true, StartOffset: 2 * time.Second}},
		},
		"users come back as often as the data has turns": {
			config.Phase{Mode: config.UserCentric, Users: 4, Rate: 2},
			load.Phase{Grace: load.Infinite, Users: &load.Users{Count: 4, Rate: 2, MeanTurns: 2.5}},
		},
		"lanes end with their grace period": {
			config.Phase{Mode: config.AgenticReplay, Grace: time.Second,
				Lanes: &config.Lanes{Lanes: load.Lanes{Stage: load.FillLanes, PerLane: 3}}},
			load.Phase{Grace: time.Second, Lanes: &load.Lanes{Stage: load.FillLanes, PerLane: 3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := &config.Run{RandomSeed: new(uint64(42))}
			cfg.Env.Timing.RateRampUpdateInterval = 50 * time.Millisecond
			cfg.Dataset.Synthesis.SpeedupRatio = 2
			if c.phase.Kind == "" {
				c.phase.Kind, c.want.Kind = config.ProfilingPhase, load.Profiling
			}
			cfg.Phases = []config.Phase{c.phase}
			got := plan.Load(cfg, 2, 2.5)
			if got.URLs != 2 || got.Seed != random.Root(42) || !reflect.DeepEqual(got.Phases, []load.Phase{c.want}) {
				t.Errorf("got  %+v\nwant %+v", got.Phases, c.want)
			}
			if plan.LimitsPrefill(got) != (c.want.Prefill > 0) {
				t.Errorf("prefill limited: %v", plan.LimitsPrefill(got))
			}
		})
	}
}

// Each schedule plays its own window of what the data set has for all of them, in times of the sped-up trace.
func TestTrapWindowsOfSeveralSchedules(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	at := func(d time.Duration) *time.Duration { return &d }
	cfg := &config.Run{}
	cfg.Dataset.Synthesis.SpeedupRatio = 2
	for _, s := range []config.Schedule{{EndMS: ms(60)}, {StartMS: ms(60), EndMS: ms(101)},
		{AutoOffset: true, EndMS: ms(101)}} {
		cfg.Phases = append(cfg.Phases,
			config.Phase{Kind: config.ProfilingPhase, Mode: config.FixedSchedule, Schedule: &s})
	}
	if w := plan.Dataset(cfg, &endpoint.Descriptor{}).Reading.Window; w.StartMS != nil || *w.EndMS != 101 {
		t.Errorf("the data set has %v to %v", w.StartMS, w.EndMS)
	}
	for i, want := range []load.Schedule{
		{Until: at(30*time.Millisecond + 1)},
		{StartOffset: 30 * time.Millisecond, From: at(30 * time.Millisecond)},
		{AutoOffset: true},
	} {
		if got := plan.Load(cfg, 1, 1).Phases[i].Schedule; !reflect.DeepEqual(*got, want) {
			t.Errorf("schedule %d: %+v, want %+v", i, *got, want)
		}
	}
}

func TestFiguresOfARunAreThoseOfAllItsProfilingPhases(t *testing.T) {
	burst := config.Phase{Kind: config.ProfilingPhase, Mode: config.Burst, Concurrency: new(3),
		Requests: new(int64(7))}
	rate := config.Phase{Kind: config.ProfilingPhase, Mode: config.Rate, Rate: 5, Sessions: new(int64(4))}
	replay := config.Phase{Kind: config.ProfilingPhase, Mode: config.FixedSchedule, Schedule: &config.Schedule{},
		Requests: new(int64(100))}
	warmup := rate
	warmup.Kind = config.WarmupPhase
	for _, c := range []struct {
		phases                   []config.Phase
		open, scheduled, limited bool
		sessions                 int64
		given                    bool
	}{
		{[]config.Phase{warmup, burst, burst}, false, false, true, 14, false},
		{[]config.Phase{burst, rate}, true, false, true, 11, true},
		{[]config.Phase{warmup, rate, replay}, true, true, false, 4, true},
	} {
		cfg := &config.Run{Phases: c.phases}
		m := plan.Metrics(cfg, &endpoint.Descriptor{})
		sessions, given := plan.MeasuredSessions(cfg)
		if m.OpenLoop != c.open || m.FixedSchedule != c.scheduled || plan.Limited(cfg) != c.limited ||
			sessions != c.sessions || given != c.given {
			t.Errorf("%+v: open loop %v, scheduled %v, limited %v, %d sessions %v", c.phases, m.OpenLoop,
				m.FixedSchedule, plan.Limited(cfg), sessions, given)
		}
	}
}

func TestSessionsOfAllPhasesAreAddedUpWhereTheyAreKnown(t *testing.T) {
	requests := config.Phase{Requests: new(int64(3))}
	sessions := config.Phase{Sessions: new(int64(2)), Requests: new(int64(9))}
	for _, c := range []struct {
		phases []config.Phase
		want   int64
	}{
		{[]config.Phase{requests, sessions}, 5},
		{[]config.Phase{requests, {Duration: new(time.Second)}}, 0},
		{[]config.Phase{requests, {Users: 2, Requests: new(int64(3))}}, 0},
	} {
		if got := plan.Dataset(&config.Run{Phases: c.phases}, &endpoint.Descriptor{}).Sessions; got != c.want {
			t.Errorf("%+v: %d, want %d", c.phases, got, c.want)
		}
	}
}

func TestProcessorsAreHalfTheCoresUnlessTheyAreGiven(t *testing.T) {
	for _, c := range []struct {
		given       *int
		cores, want int
	}{{nil, 1, 1}, {nil, 8, 4}, {new(3), 8, 3}} {
		cfg := &config.Run{Workers: config.Workers{RecordProcessors: c.given}}
		if got := plan.Processors(cfg, c.cores); got != c.want {
			t.Errorf("%d cores: %d, want %d", c.cores, got, c.want)
		}
	}
}

func TestFiguresInTheLogComeWhenTheFlagOrElseTheVariableSays(t *testing.T) {
	second := new(time.Second)
	for _, c := range []struct {
		flag, variable *time.Duration
		want           time.Duration
	}{{nil, nil, 30 * time.Second}, {nil, second, time.Second}, {new(time.Duration(0)), second, 0}} {
		cfg := &config.Run{}
		cfg.UI.StatsInterval, cfg.Env.UI.RealtimeMetricsInterval = c.flag, c.variable
		if got := plan.StatsInterval(cfg); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestTargetsOfSageMakerAreHeadersOfEachRequest(t *testing.T) {
	cfg := &config.Run{}
	cfg.Endpoint.SageMaker = &config.SageMaker{TargetModel: "a", TargetVariant: "b"}
	var got []string
	for _, h := range plan.Headers(cfg, &endpoint.Descriptor{}, "1").Fixed {
		got = append(got, h.Name+"="+h.Value)
	}
	want := []string{"X-Amzn-SageMaker-Target-Model=a", "X-Amzn-SageMaker-Target-Variant=b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestProxiesOfTheEnvironmentAreUsedOnlyOnDemand(t *testing.T) {
	cfg := &config.Run{}
	if plan.Client(cfg, 1).Proxy != nil || plan.Fetch(cfg, "1").Proxy != nil {
		t.Error("a proxy without AIPERF_HTTP_TRUST_ENV")
	}
	cfg.Env.HTTP.TrustEnv = true
	if plan.Client(cfg, 1).Proxy == nil || plan.Fetch(cfg, "1").Proxy == nil {
		t.Error("no proxy with AIPERF_HTTP_TRUST_ENV")
	}
}

func TestCorpusOfGeneratedTexts(t *testing.T) {
	for _, c := range []struct {
		corpus, style string
		want          compose.Corpus
	}{
		{"", "", compose.Options{}.Corpus}, {"coding", "", compose.Code},
		{"random", config.StyleSGLang, compose.AllTokens}, {"random", "", compose.OrdinaryTokens},
	} {
		cfg := &config.Run{Phases: []config.Phase{{Kind: config.ProfilingPhase}}}
		cfg.Dataset.Corpus, cfg.Dataset.CorpusStyle = c.corpus, c.style
		if got := plan.Dataset(cfg, &endpoint.Descriptor{}); got.Corpus != c.want {
			t.Errorf("%s %s: corpus %v, want %v", c.corpus, c.style, got.Corpus, c.want)
		}
	}
}

func TestMediaThatAreFetchedAreKeptInMemory(t *testing.T) {
	cfg := &config.Run{Phases: []config.Phase{{Kind: config.ProfilingPhase}}}
	kept := plan.Dataset(cfg, &endpoint.Descriptor{InlineMedia: true})
	indexed := plan.Dataset(cfg, &endpoint.Descriptor{})
	if kept.Reading.IndexFrom <= 1<<40 || indexed.Reading.IndexFrom != 0 {
		t.Errorf("files are indexed from %d and %d bytes", kept.Reading.IndexFrom, indexed.Reading.IndexFrom)
	}
}

// A search has the largest value of its own where the phase sets none: the loop then watches for it.
func TestSearchWithoutAValueOfThePhase(t *testing.T) {
	sla := []load.SLA{{Metric: "request_latency", Stat: "avg", Op: "le", Threshold: 1}}
	minute := time.Minute
	for _, variable := range []load.Variable{load.ControlConcurrency, load.ControlPrefill} {
		cfg := &config.Run{Phases: []config.Phase{{Kind: config.ProfilingPhase, Mode: config.Rate, Rate: 5,
			Duration: &minute, Adaptive: &load.Adaptive{Variable: variable, Max: 9, Period: time.Second,
				Sustain: time.Second, SLA: sla}}}}
		p := plan.Load(cfg, 1, 1)
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", variable, err)
		}
		if plan.LimitsPrefill(p) != (variable == load.ControlPrefill) {
			t.Errorf("%s: prefill limit %d", variable, p.Phases[0].Prefill)
		}
	}
}

package benchmark

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/run"
)

// capacityFlags are those of aiperf capacity beside the options of aiperf profile.
type capacityFlags struct {
	capacity.Question
	ttft, itl, e2e, job string
	// pace is --turn-interval, below 0 where it is not given.
	pace time.Duration
	// errorRate is nil unless it was given.
	errorRate *float64
}

// defaultErrorRate is the share of failed requests that an answer allows where none is given.
const defaultErrorRate = 0.01

func newCapacityFlags() *capacityFlags {
	return &capacityFlags{Question: capacity.Question{Over: capacity.Concurrency, Min: -1, Max: -1,
		Budget: 10 * time.Minute, Precision: 0.1, Probe: -1, Warmup: -1, MaxProbes: 40, Confidence: 0.95}, pace: -1}
}

func (o *capacityFlags) table() *flags.Table {
	return &flags.Table{Command: "capacity", Page: "capacity", Also: ProfileTable(), Examples: []flags.Example{
		{For: "users at once within 300 ms to the first token", Command: "aiperf capacity --url localhost:8000 --ttft p99:300ms --isl 512 --osl 128"},
		{For: "requests per second, in two minutes", Command: "aiperf capacity --url localhost:8000 --over rate --e2e p95:2s --budget 2m"},
		{For: "users who write every ten seconds", Command: "aiperf capacity --over users --turn-interval 10s --ttft p95:500ms"},
		{For: "agents whose jobs take a minute at most", Command: "aiperf capacity --input-file agents.jsonl --job-latency p95:1m --probe 5m --budget 1h"},
		{For: "the longest prompt at this load", Command: "aiperf capacity --over isl --concurrency 8 --ttft p95:2s --osl 64"},
	},
		About: `Usage: aiperf capacity --url URL --model NAME LIMIT... [options]

Finds the largest load at which a server stays within limits, with an interval and what is missed first beyond it. Each
probe runs until it is certain whether the limits hold, at most for --probe. Writes search_history.json, the files of
each probe and a page.

Limits (at least one; STAT is avg, p50, p90, p95 or p99, p95 if left out; MS may have a unit, as in 300ms or 2s):
`, Footer: `
All options of aiperf profile apply to every probe: aiperf profile --help. With --ttft or --itl, replies are streamed.

With --over isl or osl the load stays the same: --concurrency (1 unless given) or --request-rate.

Exit codes: 0 an answer, or the best known within the budget; 1 an error; 3 not even the smallest load meets the limits.
`, Flags: []flags.Flag{
			flags.Value("ttft", "[STAT:]MS", "limit of the time to first token, such as p99:300", flags.Text(&o.ttft)),
			flags.Value("itl", "[STAT:]MS", "limit of the inter token latency, such as p95:25", flags.Text(&o.itl)),
			flags.Value("e2e", "[STAT:]MS", "limit of the request latency, such as p95:2000", flags.Text(&o.e2e)),
			flags.Value("job-latency", "[STAT:]MS", "limit of the latency of a job, which is a whole conversation or agent tree, "+
				"such as p95:1m; the answer is then in jobs per hour too", flags.Text(&o.job)),
			flags.Value("error-rate", "SHARE", "limit of the share of failed requests, such as 0.01 or 1% [default: 0.01]",
				func(text string) error { o.errorRate = new(float64); return command.Share(o.errorRate)(text) }),
			flags.Choice("over", "LOAD", "what is searched: concurrency, rate, users, isl (the longest prompt) or osl (the "+
				"longest reply) [default: concurrency]", &o.Over, capacity.Loads()...),
			flags.Value("min", "N", "smallest load [default: 1; of isl and osl 16]", command.Real(&o.Min, 0, 1e9)),
			flags.Value("max", "N", "largest load [default: 1000; of isl and osl what the model's context has room for, "+
				"else 32768 and 4096]", command.Real(&o.Max, 0, 1e9)),
			flags.Value("turn-interval", "TIME", "with --over users: time from one turn of a user to the next [default: 10s]",
				lasting(&o.pace)),
			flags.Value("budget", "TIME", "time of the whole search, such as 90s or 10m: no probe starts that would end "+
				"after it [default: 10m]", lasting(&o.Budget)),
			flags.Value("probe", "TIME", "longest measured time of a probe [default: a tenth of the budget, at most 60s; "+
				"of users at least --turn-interval]", lasting(&o.Probe)),
			flags.Value("probe-warmup", "TIME",
				"longest warm-up of a probe, which ends when its figures are steady; 0 for none [default: a quarter of "+
					"--probe, at most 15s]",
				lasting(&o.Warmup)),
			flags.Value("precision", "SHARE", "width of the interval at which the search ends, such as 0.1 or 10% "+
				"[default: 0.1]", command.Share(&o.Precision)),
		}}
}

// lasting reads a time.
func lasting(to *time.Duration) func(string) error {
	return func(text string) error {
		v, err := scalar.In(time.Second, text)
		if err != nil || !(v >= 0) || !artifact.Finite(v) {
			return fmt.Errorf("must be a time such as 30s or 10m")
		}
		*to = time.Duration(v * float64(time.Second))
		return nil
	}
}

// question makes what is asked of the flags.
func (o *capacityFlags) question() (*capacity.Question, error) {
	q := &o.Question
	for _, l := range []struct{ name, text string }{{"ttft", o.ttft}, {"itl", o.itl}, {"e2e", o.e2e},
		{"job-latency", o.job}} {
		if l.text == "" {
			continue
		}
		f, err := capacity.Limit(l.name, l.text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", l.name, err)
		}
		q.Limits = append(q.Limits, f)
	}
	switch {
	case o.pace >= 0 && q.Over != capacity.Users:
		return nil, fmt.Errorf("--turn-interval is the pace of users: it needs --over users")
	case o.pace == 0:
		return nil, fmt.Errorf("--turn-interval must be above 0")
	case q.Over == capacity.Users:
		if q.Interval = o.pace; o.pace < 0 {
			q.Interval = defaultInterval
		}
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	q.FitProbes()
	if o.errorRate != nil {
		q.Limits = append(q.Limits, capacity.ErrorRate(*o.errorRate))
	} else {
		q.Limits, q.Implied = append(q.Limits, capacity.ErrorRate(defaultErrorRate)), 1
	}
	return q, nil
}

// defaultInterval is the pace of users where none is given, and defaultTurns the turns of their conversations.
const (
	defaultInterval = 10 * time.Second
	defaultTurns    = 5
)

// prompts is the number of different prompts of a probe: with fewer, a prefix cache answers repeats.
const prompts = 2000

// split parts the arguments into those of a table and the rest, which are options of aiperf profile.
func split(t *flags.Table, args []string) (own, rest []string) {
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		if flag, _ := t.Find(name); flag < 0 || !strings.HasPrefix(name, "--") {
			rest = append(rest, args[i])
			continue
		}
		own = append(own, args[i])
		if !joined && i+1 < len(args) {
			i++
			own = append(own, args[i])
		}
	}
	return own, rest
}

// runCapacity finds how much load a server takes.
func runCapacity(env *command.Env, args []string) error {
	o := newCapacityFlags()
	table := o.table()
	if words, asked := flags.HelpWords(args); asked {
		return env.Help(table, words)
	}
	env.HideSecrets(args)
	own, rest := split(table, args)
	if _, err := table.Parse(own); err != nil {
		return err
	}
	q, err := o.question()
	if err != nil {
		return err
	}
	parsed, err := settings.Parse(rest, env.LookupEnv)
	if err != nil {
		return err
	}
	if err := o.fit(parsed); err != nil {
		return err
	}
	e, err := o.experiment(env, parsed, q)
	if err != nil {
		return err
	}
	// Resumed, the search would not be repeated.
	e.study.Command = settings.CommandLine("capacity", slices.DeleteFunc(slices.Clone(args),
		func(arg string) bool { return arg == "--resume" }))
	b := newBench(env)
	b.brief = !parsed.Verbose.Get() && !parsed.ExtraVerbose.Get()
	return b.prepared(e)
}

// fit gives the settings what the search chooses, and refuses what it leaves no room for.
func (o *capacityFlags) fit(parsed *settings.Settings) error {
	for _, f := range o.chosen(parsed) {
		if f.Given() {
			return fmt.Errorf("%s: aiperf capacity chooses the load itself; --over, --min and --max say which", f.Flag())
		}
	}
	if (o.ttft != "" || o.itl != "") && !parsed.Streaming.Given() {
		parsed.Streaming.Put(true, option.Origin{Source: option.FromFlag, Name: "--ttft, --itl"})
	}
	if o.KeepEntries = parsed.NumDatasetEntries.Given(); !o.KeepEntries && !parsed.InputFile.Given() &&
		!parsed.PublicDataset.Given() {
		parsed.NumDatasetEntries.Put(int64(prompts), option.Origin{Source: option.FromFlag,
			Name: "--num-dataset-entries"})
	}
	if o.job != "" && !parsed.ConversationTurnMean.Given() && !parsed.InputFile.Given() && !parsed.PublicDataset.Given() {
		parsed.ConversationTurnMean.Put(defaultTurns, option.Origin{Source: option.FromFlag, Name: "--job-latency"})
	}
	parsed.Sized, parsed.Stimulus = true, "capacity_"+o.Over
	return o.load(parsed)
}

// chosen are the options that contradict the search.
func (o *capacityFlags) chosen(parsed *settings.Settings) []option.Field {
	list := []option.Field{&parsed.RequestRateSeries, &parsed.UserCentricRate, &parsed.NumUsers, &parsed.FixedSchedule,
		&parsed.NumProfileRuns, &parsed.SearchSpace, &parsed.SearchRecipe}
	if !o.Length() {
		list = append(list, &parsed.Concurrency, &parsed.RequestRate)
	}
	lengths := []option.Field{&parsed.SeqDist, &parsed.RandomRangeRatio, &parsed.InputFile, &parsed.PublicDataset}
	switch o.Over {
	case capacity.Users: // who go on for a time
		list = append(list, &parsed.RequestCount, &parsed.NumSessions)
	case capacity.ISL:
		list = append(append(list, &parsed.ISL), lengths...)
	case capacity.OSL:
		list = append(append(list, &parsed.OSL), lengths...)
	}
	return list
}

// load gives the settings a load of the kind that is searched; the search replaces its value.
func (o *capacityFlags) load(parsed *settings.Settings) error {
	from := option.Origin{Source: option.FromFlag, Name: "--over " + o.Over}
	switch o.Over {
	case capacity.Rate:
		return parsed.RequestRate.Set([]string{fmt.Sprint(max(o.Min, 1))}, from)
	case capacity.Users:
		parsed.UserCentricRate.Put(1/o.Interval.Seconds(), from)
		parsed.NumUsers.Put(1, from)
		if !parsed.ConversationTurnMean.Given() {
			parsed.ConversationTurnMean.Put(defaultTurns, from)
		}
	case capacity.OSL:
		if !parsed.ExtraInputs.Given() {
			if err := parsed.ExtraInputs.Set([]string{"ignore_eos:true"}, from); err != nil {
				return err
			}
		}
	}
	if o.Length() && !parsed.Concurrency.Given() && !parsed.RequestRate.Given() {
		parsed.Concurrency.Put(1, from)
	}
	return nil
}

// experiment makes the search. The range of a length may need the context of the server's model.
func (o *capacityFlags) experiment(env *command.Env, parsed *settings.Settings, q *capacity.Question) (
	*experiment, error) {
	q.KeepEntries = o.KeepEntries
	if q.Length() && q.Max < 0 {
		other, err := o.context(env, parsed, q)
		if err != nil {
			return nil, err
		}
		q.FitRange(other)
	}
	q.FitRange(0)
	study, err := capacity.New(*q)
	if err != nil {
		return nil, err
	}
	e, _, err := planOf(env, &experiment{study: study}, parsed, q.Block())
	if err == nil {
		e.nameFolder()
	}
	return e, err
}

// context asks the server for the context of its model, and returns the tokens of a request that the search does not
// choose.
func (o *capacityFlags) context(env *command.Env, parsed *settings.Settings, q *capacity.Question) (float64, error) {
	probing := *q
	probing.FitRange(0)
	e, _, err := planOf(env, &experiment{}, parsed, probing.Block())
	if err != nil {
		return 0, err
	}
	cfg, _, err := resolveRun(env, e.base)
	if err != nil {
		return 0, err
	}
	log := newLog(env.Terminal, cfg, view{}, false)
	defer log.Close()
	q.Context = run.ContextLength(context.Background(), cfg, run.Options{Version: command.Version, Log: log})
	switch {
	case q.Over == capacity.OSL && cfg.Dataset.ISL != nil:
		return cfg.Dataset.ISL.Expected(), nil
	case q.Over == capacity.ISL && cfg.Dataset.OSL != nil:
		return cfg.Dataset.OSL.Expected(), nil
	}
	return 0, nil
}

package benchmark

import (
	"fmt"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/capacity"
)

// capacityFlags are those of aiperf capacity beside the options of aiperf profile.
type capacityFlags struct {
	capacity.Question
	ttft, itl, e2e string
	// errorRate is nil unless it was given.
	errorRate *float64
}

// defaultErrorRate is the share of failed requests that an answer allows where none is given.
const defaultErrorRate = 0.01

func newCapacityFlags() *capacityFlags {
	return &capacityFlags{Question: capacity.Question{Over: capacity.Concurrency, Min: 1, Max: 1000,
		Budget: 10 * time.Minute, Precision: 0.1, Probe: -1, Warmup: -1, MaxProbes: 40, Confidence: 0.95}}
}

func (o *capacityFlags) table() *flags.Table {
	return &flags.Table{Command: "capacity", About: `Usage: aiperf capacity --url URL --model NAME LIMIT... [options]

Finds the largest load at which a server stays within limits, with an interval and what is missed first beyond it. Each
probe runs until it is certain whether the limits hold, at most for --probe. Writes search_history.json, the files of
each probe and a page.

Limits (at least one; STAT is avg, p50, p90, p95 or p99, p95 if left out):
`, Footer: `
All options of aiperf profile apply to every probe: aiperf profile --help. With --ttft or --itl, replies are streamed.

Exit codes: 0 an answer, or the best known within the budget; 1 an error; 3 not even the smallest load meets the limits.
`, Flags: []flags.Flag{
		flags.Value("ttft", "[STAT:]MS", "limit of the time to first token, such as p99:300", flags.Text(&o.ttft)),
		flags.Value("itl", "[STAT:]MS", "limit of the inter token latency, such as p95:25", flags.Text(&o.itl)),
		flags.Value("e2e", "[STAT:]MS", "limit of the request latency, such as p95:2000", flags.Text(&o.e2e)),
		flags.Value("error-rate", "SHARE", "limit of the share of failed requests [default: 0.01]",
			func(text string) error { o.errorRate = new(float64); return command.Real(o.errorRate, 0, 1)(text) }),
		flags.Choice("over", "LOAD", "what is searched: concurrency or rate [default: concurrency]", &o.Over,
			capacity.Concurrency, capacity.Rate),
		flags.Value("min", "N", "smallest load [default: 1]", command.Real(&o.Min, 0, 1e9)),
		flags.Value("max", "N", "largest load [default: 1000]", command.Real(&o.Max, 0, 1e9)),
		flags.Value("budget", "TIME", "measured time after which no probe starts, such as 90s or 10m [default: 10m]",
			lasting(&o.Budget)),
		flags.Value("probe", "TIME", "longest measured time of a probe [default: a tenth of the budget, at most 60s]",
			lasting(&o.Probe)),
		flags.Value("probe-warmup", "TIME",
			"longest warm-up of a probe, which ends when its figures are steady; 0 for none [default: a quarter of "+
				"--probe, at most 15s]",
			lasting(&o.Warmup)),
		flags.Value("precision", "SHARE", "width of the interval at which the search ends [default: 0.1]",
			command.Real(&o.Precision, 0, 1)),
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
	for _, l := range []struct{ name, text string }{{"ttft", o.ttft}, {"itl", o.itl}, {"e2e", o.e2e}} {
		if l.text == "" {
			continue
		}
		f, err := capacity.Limit(l.name, l.text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", l.name, err)
		}
		q.Limits = append(q.Limits, f)
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
	if flags.WantsHelp(args) {
		fmt.Fprint(env.Terminal.Out, table.Help())
		return nil
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
	for _, name := range []string{"concurrency", "request-rate", "request-rate-series", "user-centric-rate",
		"fixed-schedule", "num-profile-runs", "search-space", "search-recipe"} {
		if parsed.Given(name) {
			return fmt.Errorf("%s: aiperf capacity chooses the load itself; --over, --min and --max say which",
				parsed.Flag(name))
		}
	}
	if (o.ttft != "" || o.itl != "") && !parsed.Given("streaming") {
		parsed.Put("streaming", true, settings.Origin{Source: settings.FromFlag, Name: "--ttft, --itl"})
	}
	if !parsed.Given("num-dataset-entries") && !parsed.Given("input-file") && !parsed.Given("public-dataset") {
		parsed.Put("num-dataset-entries", int64(prompts), settings.Origin{Source: settings.FromFlag,
			Name: "--num-dataset-entries"})
	}
	parsed.Sized = true
	if q.Over == capacity.Rate {
		if err := parsed.Set(option.Named("request-rate"), []string{fmt.Sprint(q.Min)},
			settings.Origin{Source: settings.FromFlag, Name: "--min"}); err != nil {
			return err
		}
	}
	study, err := capacity.New(*q)
	if err != nil {
		return err
	}
	study.Command = settings.CommandLine("capacity", args)
	e, _, err := planOf(env, &experiment{study: study}, parsed, q.Block())
	if err != nil {
		return err
	}
	b := newBench(env)
	b.brief = !parsed.Bool("verbose") && !parsed.Bool("extra-verbose")
	return b.prepared(e)
}

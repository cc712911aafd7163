package benchmark

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	safe "aiperf/internal/base/terminal"
	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/report/console"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
)

const quickHelp = `Usage: aiperf quick [URL] [flags]

Measures a server for at most about a minute and answers in five lines: how fast it is for one user,
how many users it serves at once within the limits, what happens beyond and why, and the command that
repeats it in full. A run ends as soon as its figures are steady, so that a fast server takes less.
Without URL it looks for a server on the usual ports of this machine.

Exit codes: 0 an answer; 1 an error, or no request succeeded; 3 not even one user is served within
the limits.

`

type quickOptions struct {
	url, model, apiKey, dir, tokenizer string
	seconds                            float64
	mostUsers, isl, osl                int
	ttft, itl                          capacity.QuickLimit
	ports                              []int
}

func (o *quickOptions) table() *flags.Table {
	limit := func(to *capacity.QuickLimit) func(string) error {
		return func(v string) (err error) {
			*to, err = capacity.ParseQuickLimit(v)
			return err
		}
	}
	whole := func(to *int) func(string) error {
		return func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is not a whole number above 0", v)
			}
			*to = n
			return nil
		}
	}
	return &flags.Table{Command: "quick", Foreign: option.Foreign, Page: "quick", Examples: []flags.Example{
		{For: "the server of this machine", Command: "aiperf quick"},
		{For: "with limits of your own, and long prompts", Command: "aiperf quick localhost:8000 --ttft p95:500ms --itl p95:40ms --isl 2000"},
	},
		About: quickHelp, Flags: []flags.Flag{
			flags.Value("url -u", "URL", "address of the server; the flag itself may be omitted", flags.Text(&o.url)),
			flags.Value("model -m", "NAME", "model to measure [default: the one that the server has loaded]",
				flags.Text(&o.model)),
			flags.Value("seconds", "SECONDS", "time of all runs together at most, as 90 or 2m [default: 60]",
				command.Seconds(&o.seconds, 1, 3600)),
			flags.Value("ttft", "[PNN:]MS", "limit on the time to first token, as p99:500 or 2s [default: p95:1000]", limit(&o.ttft)),
			flags.Value("itl", "[PNN:]MS", "limit on the time between tokens [default: p95:50]", limit(&o.itl)),
			flags.Value("max-users", "N", "most users at once [default: 256]", whole(&o.mostUsers)),
			flags.Value("isl", "TOKENS", "length of the prompts [default: 256]", whole(&o.isl)),
			flags.Value("osl", "TOKENS", "length of the answers [default: 64]", whole(&o.osl)),
			portsFlag(&o.ports),
			flags.Value("api-key", "KEY", "key sent as a bearer token; @FILE reads it from a file", flags.Text(&o.apiKey)),
			flags.Value("tokenizer", "NAME",
				"tokenizer of the prompts; tokens of answers are those that the server counts\n"+
					"[default: builtin]", flags.Text(&o.tokenizer)),
			flags.Value("artifact-dir", "PATH", "folder of the files [default: artifacts/quick]", flags.Text(&o.dir)),
		}}
}

// runQuick measures a server for a minute.
func runQuick(e *command.Env, args []string) error {
	o := quickOptions{seconds: 60, mostUsers: 256, isl: 256, osl: 64,
		tokenizer: "builtin", ttft: capacity.QuickLimit{Percentile: 95, Milliseconds: 1000},
		itl: capacity.QuickLimit{Percentile: 95, Milliseconds: 50}}
	e.HideSecrets(args)
	words, err := e.Parse(o.table(), args)
	switch {
	case err != nil:
		return err
	case len(words) > 1 || len(words) == 1 && o.url != "":
		return errors.New("aiperf quick takes one URL")
	case len(words) == 1:
		o.url = words[0]
	}
	var earlier run.Earlier
	if o.dir == "" {
		if o.dir, earlier, err = run.FreeFolder(filepath.Join("artifacts", "quick")); err != nil {
			return fmt.Errorf("%w, or choose a folder with --artifact-dir", err)
		}
	} else if run.Holds(o.dir) {
		earlier.Text = "results in this folder are replaced"
	}
	interrupts := watchInterrupts(e.Terminal, e.Terminal.Err, func() {})
	defer interrupts.close()
	ctx, release := withStop(context.Background(), interrupts.Stop)
	defer release()
	found, err := findServer(ctx, e, &o)
	if err != nil {
		return interrupts.failed(err)
	}
	o.url, o.model = found.url, found.model
	e.Terminal.Say(fmt.Sprintf("Measuring %s for at most about %.0f s; files go to %s", found, o.seconds, o.dir))
	if earlier.Text != "" {
		e.Terminal.Say("Earlier " + earlier.Text)
	}
	stages, took, err := measureStages(ctx, e, &o, found, interrupts)
	if err == nil && ctx.Err() != nil {
		err = errors.New("the measurement was cancelled before its end")
	}
	if err != nil {
		return interrupts.failed(err)
	}
	limits := o.limits()
	// The answer is for people: what the server calls itself and what it says in errors must not steer the terminal.
	for _, line := range capacity.QuickAnswer(stages, capacity.QuickFacts{Server: found.String(), Limits: limits, Took: took,
		Command: o.command(found)}) {
		printField(e.Terminal, e.Redactor.Text(safe.Text(line)))
	}
	if stages[0].Requests == 0 || stages[0].Failed == 1 {
		return command.Exit(command.ExitFailure)
	}
	if capacity.BestStage(stages, limits) == 0 {
		return command.Exit(command.ExitThreshold)
	}
	return nil
}

// fieldWidth is the width of the names of an answer's lines.
const fieldWidth = 11

// printField prints a line that begins with a name. On a terminal it goes on below its text.
func printField(t *command.Terminal, line string) {
	width := t.Width()
	if width < 2*fieldWidth || len(line) <= fieldWidth {
		fmt.Fprintln(t.Out, line)
		return
	}
	name, text := line[:fieldWidth], line[fieldWidth:]
	rows := safe.Wrap(text, width-fieldWidth)
	if strings.HasPrefix(name, "Repeat") {
		rows = console.Continued(text, width-fieldWidth)
	}
	for _, row := range rows {
		fmt.Fprintln(t.Out, name+row)
		name = strings.Repeat(" ", fieldWidth)
	}
}

func (o *quickOptions) limits() capacity.QuickLimits {
	return capacity.QuickLimits{TTFT: o.ttft, ITL: o.itl}
}

// quickConfig resolves the options of a stage, or of a question.
func quickConfig(e *command.Env, o *quickOptions, args []string) (*config.Run, error) {
	args = append(args, "--endpoint-type", "chat", "--streaming", "--tokenizer", o.tokenizer,
		"--use-server-token-count", "--no-gpu-telemetry", "--ui", "none", "--artifact-dir", o.dir)
	if o.apiKey != "" {
		args = append(args, "--api-key", o.apiKey)
	}
	parsed, err := settings.Parse(args, e.LookupEnv)
	if err != nil {
		return nil, err
	}
	cfg, _, err := resolve.Resolve(parsed, run.Catalog{})
	if err == nil {
		e.Redactor = cfg.Redactor()
	}
	return cfg, err
}

// quietLog keeps all but errors off the screen.
func quietLog(t *command.Terminal, cfg *config.Run) *runlog.Log {
	return runlog.New(runlog.Options{Level: runlog.LevelError, Console: t.StyledErr, Terminal: t.ErrTTY,
		Color:   t.Colour,
		Columns: t.ErrWidth(), Redactor: cfg.Redactor()})
}

// ignoresEOS are the servers that take ignore_eos, by which all answers have the length that was asked for.
var ignoresEOS = []string{"vLLM", "SGLang", "TensorRT-LLM", "llama.cpp", "the mock server"}

// stageShare is the part of the time that a stage gets at most.
const stageShare = 1.0 / 7

// load are the options of a run with a number of users.
func (o *quickOptions) load(users int, seconds float64, f foundServer) []string {
	return append(o.target(f), "--concurrency", strconv.Itoa(users), "--benchmark-duration",
		strconv.FormatFloat(seconds, 'f', -1, 64))
}

// target are the options that say what is asked of which server.
func (o *quickOptions) target(f foundServer) []string {
	args := []string{"--model", o.model, "--url", o.url, "--isl", strconv.Itoa(o.isl), "--osl", strconv.Itoa(o.osl)}
	if slices.Contains(ignoresEOS, f.Name) {
		args = append(args, "--extra-inputs", "ignore_eos:true")
	}
	return args
}

// command measures the same without the bound of a minute.
func (o *quickOptions) command(f foundServer) string {
	limit := func(l capacity.QuickLimit) string { return fmt.Sprintf("%s:%g", l.Stat(), l.Milliseconds) }
	args := append([]string{"aiperf", "capacity"}, o.target(f)...)
	args = append(args, "--ttft", limit(o.ttft), "--itl", limit(o.itl), "--endpoint-type", "chat", "--tokenizer",
		o.tokenizer, "--use-server-token-count")
	return strings.Join(command.Quoted(args), " ")
}

// measureStages measures with rising numbers of users until the answer is known or the time is over.
func measureStages(ctx context.Context, e *command.Env, o *quickOptions, f foundServer, interrupts *interrupts) (
	stages []capacity.Stage, took time.Duration, err error) {
	began := time.Now()
	limits, share := o.limits(), max(1, o.seconds*stageShare)
	tokenizers := new(run.Tokenizers)
	for {
		users, more := capacity.NextUsers(stages, limits, o.mostUsers)
		left := o.seconds - time.Since(began).Seconds()
		if !more || ctx.Err() != nil || len(stages) > 0 && left < share/2 {
			return stages, time.Since(began), nil
		}
		args := append(o.load(users, max(1, min(share, left)), f), "--random-seed", strconv.Itoa(1000+len(stages)),
			"--benchmark-grace-period", "15")
		if len(stages) == 0 {
			args = append(args, "--warmup-request-count", "1")
		}
		cfg, err := quickConfig(e, o, args)
		if err != nil {
			return nil, 0, err
		}
		cfg.Artifacts.Dir = filepath.Join(o.dir, fmt.Sprintf("users_%04d", users))
		stage, err := measureStage(e, cfg, users, limits, tokenizers, interrupts)
		if err != nil {
			return nil, 0, err
		}
		stages = append(stages, stage)
		verdict := "within the limits"
		switch {
		case stage.ClientLimited():
			verdict = judge.Words(stage.Judged.State.Title)
		case !stage.Holds(limits):
			verdict = "beyond the limits"
		}
		e.Terminal.Say(fmt.Sprintf("  %s: %s", stage.Line(limits), verdict))
	}
}

// measureStage makes one run, which ends as soon as it is certain whether it meets the limits.
func measureStage(e *command.Env, cfg *config.Run, users int, limits capacity.QuickLimits, tokenizers *run.Tokenizers,
	interrupts *interrupts) (capacity.Stage, error) {
	ends := make(chan run.End, len(cfg.Phases))
	judging := capacity.NewJudge(cfg, capacity.JudgeOptions{Filters: limits.Filters(), End: ends, Steady: true})
	log := quietLog(e.Terminal, cfg)
	defer log.Close()
	outcome, err := run.Execute(context.Background(), cfg,
		run.Options{Version: command.Version, Log: log, Stop: interrupts.Stop,
			Observers: []progress.Observer{judging}, Ends: ends, Tokenizers: tokenizers})
	if noResults := new(run.NoResultsError); err != nil && !errors.As(err, &noResults) {
		return capacity.Stage{}, err
	}
	stage := capacity.StageOf(users, outcome, err, limits)
	stage.HalfWidth = judging.HalfWidth()
	return stage, nil
}

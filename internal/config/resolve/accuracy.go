package resolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/accuracy/grade"
	"aiperf/internal/accuracy/task"
	"aiperf/internal/config"
	"aiperf/internal/config/settings"
)

// accuracy decides which problems are sent, and how their answers are graded.
type accuracy struct {
	*asked
	endpoint *endpoint
	timing   *timing
}

// graded reports whether answers are graded.
func (a *asked) graded() bool { return a.p.Text("accuracy-benchmark") != "" }

// otherData are the options of other data than a benchmark's.
var otherData = []string{"input-file", "custom-dataset-type", "public-dataset", "dataset-path"}

// replaced are the options of made-up prompts, which a benchmark replaces.
var replaced = []string{
	"isl", "isl-stddev", "seq-dist",
	"conversation-turn-mean", "conversation-turn-stddev", "shared-system-prompt-length",
	"user-context-prompt-length", "prompt-prefix-length", "prompt-prefix-pool-size", "system-prompt", "system-prompt-file",
	"random-range-ratio", "image-width-mean", "image-height-mean", "audio-length-mean", "video-width",
}

var outputLengths = []string{"osl", "osl-stddev"}

func (ac *accuracy) check() {
	if !ac.graded() {
		flags := ac.givenOf("accuracy-tasks", "accuracy-n-shots", "accuracy-enable-cot", "accuracy-grader",
			"accuracy-system-prompt", "accuracy-verbose", "accuracy-data", "accuracy-download", "accuracy-repeats",
			"accuracy-allow-code-execution")
		if len(flags) > 0 {
			ac.fault("", "%s can only be used together with --accuracy-benchmark", strings.Join(flags, ", "))
		}
		return
	}
	b, _ := task.Named(ac.p.Text("accuracy-benchmark"))
	of := ac.flag("accuracy-benchmark") + " " + b.Name
	var filed []string // a file has to have a data set
	for _, name := range slices.Concat(otherData, replaced, outputLengths) {
		switch {
		case !ac.given(name):
		case ac.fromFile(name) && !slices.Contains(otherData, name):
			filed = append(filed, ac.flag(name))
		case slices.Contains(outputLengths, name): // the limit of tokens
		default:
			ac.fault("", "%s and %s cannot be used together: the benchmark says what is sent", of, ac.flag(name))
		}
	}
	if len(filed) > 0 {
		ac.warn("%s has no effect: %s says what is sent", strings.Join(filed, ", "), of)
	}
	if ac.given("num-dataset-entries") && !ac.fromFile("num-dataset-entries") {
		ac.warn("%s has no effect on %s; --request-count asks the first problems only", ac.flag("num-dataset-entries"), of)
	}
	if ac.timing.mode == config.FixedSchedule {
		ac.fault("", "%s cannot be used with a fixed schedule: its problems have no times", of)
	}
	if f := ac.endpoint.facts; !f.ProducesTokens || !f.TakesText {
		ac.fault("", "%s needs an endpoint type that answers with text, such as chat or completions", of)
	}
	if ac.p.Text("dataset-sampling-strategy") != "sequential" && ac.given("dataset-sampling-strategy") &&
		ac.timing.requestsGiven {
		ac.info("%s: the problems are drawn, so some may be asked twice and others not at all",
			ac.flag("dataset-sampling-strategy"))
	}
	ac.checkTasks(b)
	ac.checkForm(b, of)
	if grader(b, ac.p.Text("accuracy-grader")) == grade.CodeExecution && !ac.p.Bool("accuracy-allow-code-execution") {
		ac.fault("", "%s runs programs that the model writes: allow that with --accuracy-allow-code-execution", of)
	}
	if ac.given("accuracy-data") && ac.p.Bool("accuracy-download") {
		ac.warn("%s has no effect with --accuracy-data", ac.flag("accuracy-download"))
	}
	ac.warnTemperature()
}

// fromFile reports whether a configuration file sets the option.
func (ac *accuracy) fromFile(name string) bool { return ac.p.Origin(name).Source == settings.FromFile }

func (ac *accuracy) checkTasks(b *task.Benchmark) {
	if _, err := b.Choose(ac.tasks()); err != nil {
		ac.fault("", "%s: %v", ac.flag("accuracy-tasks"), err)
	}
}

// checkForm checks the worked examples and the reasoning.
func (ac *accuracy) checkForm(b *task.Benchmark, of string) {
	shots := ac.p.Int("accuracy-n-shots")
	switch {
	case shots == nil:
	case b.Name == "lcb_codegeneration" && *shots != 0:
		ac.fault("", "%s: %s has no worked examples", ac.flag("accuracy-n-shots"), b.Name)
	case !b.HasShots():
		if *shots > 0 {
			ac.warn("%s has no effect: %s has no worked examples", ac.flag("accuracy-n-shots"), b.Name)
		}
	case *shots > int64(b.MostShots):
		ac.fault("", "%s %d: %s has at most %d worked examples", ac.flag("accuracy-n-shots"), *shots, b.Name, b.MostShots)
	}
	if ac.given("accuracy-enable-cot") && !b.Choice {
		if b.Name == "lcb_codegeneration" && ac.p.Bool("accuracy-enable-cot") {
			ac.fault("", "%s cannot ask for reasoning", of)
		} else {
			ac.warn("%s has no effect on %s", ac.flag("accuracy-enable-cot"), b.Name)
		}
	}
}

// warnTemperature warns where the server may answer differently each time.
func (ac *accuracy) warnTemperature() {
	if t, ok := ac.p.Pairs("extra-inputs").Get("temperature"); ok {
		if f, err := strconv.ParseFloat(fmt.Sprint(t), 64); err == nil && f == 0 {
			return
		}
	}
	ac.warn("The temperature is not 0, so answers can differ from run to run: --extra-inputs temperature:0")
}

func (ac *accuracy) tasks() (list []string) {
	for _, text := range ac.p.Texts("accuracy-tasks") {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				list = append(list, name)
			}
		}
	}
	return list
}

// grader returns the grader of a benchmark, or the one that the user asks for.
func grader(b *task.Benchmark, asked string) string {
	if asked != "" {
		return asked
	}
	return b.Grader
}

// build returns nil where no answers are graded.
func (ac *accuracy) build() *config.Accuracy {
	if !ac.graded() {
		return nil
	}
	p := ac.p
	b, _ := task.Named(p.Text("accuracy-benchmark"))
	c := &config.Accuracy{Benchmark: b.Name, Grader: grader(b, p.Text("accuracy-grader")), Data: p.Text("accuracy-data"),
		Download: p.Bool("accuracy-download"),
		Shots:    smallInt(p.Int("accuracy-n-shots")), Repeats: int(*p.Int("accuracy-repeats")),
		Verbose: p.Bool("accuracy-verbose"), AllowCode: p.Bool("accuracy-allow-code-execution")}
	c.Tasks, _ = b.Choose(ac.tasks()) // checked before
	if ac.given("osl") && !ac.fromFile("osl") {
		c.MaxTokens = smallInt(p.Int("osl"))
	}
	if ac.given("accuracy-enable-cot") {
		yes := p.Bool("accuracy-enable-cot")
		c.Reasons = &yes
	}
	if ac.given("accuracy-system-prompt") {
		text := p.Text("accuracy-system-prompt")
		c.System = &text
	}
	return c
}

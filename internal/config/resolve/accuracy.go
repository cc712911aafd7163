package resolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/accuracy/grade"
	"aiperf/internal/accuracy/task"
	"aiperf/internal/config"
	"aiperf/internal/config/option"
)

// accuracy decides which problems are sent, and how their answers are graded.
type accuracy struct {
	*asked
	endpoint *endpoint
	timing   *timing
}

// graded reports whether answers are graded.
func (a *asked) graded() bool { return a.p.AccuracyBenchmark.Get() != "" }

// otherData are the options of other data than a benchmark's.
func otherData(p *option.Tree) []option.Field {
	return []option.Field{&p.InputFile, &p.CustomDatasetType, &p.PublicDataset, &p.DatasetPath}
}

// replaced are the options of made-up prompts, which a benchmark replaces.
func replaced(p *option.Tree) []option.Field {
	return []option.Field{&p.ISL, &p.ISLStddev, &p.SeqDist, &p.ConversationTurnMean, &p.ConversationTurnStddev,
		&p.SharedSystemPromptLength, &p.UserContextPromptLength, &p.PromptPrefixLength, &p.PromptPrefixPoolSize,
		&p.SystemPrompt, &p.SystemPromptFile, &p.RandomRangeRatio, &p.ImageWidthMean, &p.ImageHeightMean,
		&p.AudioLengthMean, &p.VideoWidth}
}

func (ac *accuracy) check() {
	if !ac.graded() {
		flags := givenOf(&ac.p.AccuracyTasks, &ac.p.AccuracyNShots, &ac.p.AccuracyEnableCoT, &ac.p.AccuracyGrader,
			&ac.p.AccuracySystemPrompt, &ac.p.AccuracyVerbose, &ac.p.AccuracyData, &ac.p.AccuracyDownload,
			&ac.p.AccuracyRepeats,
			&ac.p.AccuracyAllowCodeExecution)
		if len(flags) > 0 {
			ac.fault("", "%s can only be used together with --accuracy-benchmark", strings.Join(flags, ", "))
		}
		return
	}
	b, _ := task.Named(ac.p.AccuracyBenchmark.Get())
	of := ac.p.AccuracyBenchmark.Flag() + " " + b.Name
	var filed []string // a file has to have a data set
	other := otherData(&ac.p.Tree)
	for _, o := range slices.Concat(other, replaced(&ac.p.Tree)) {
		switch {
		case !o.Given():
		case fromFile(o) && !slices.Contains(other, o):
			filed = append(filed, o.Flag())
		default:
			ac.fault("", "%s and %s cannot be used together: the benchmark says what is sent", of, o.Flag())
		}
	}
	for _, o := range []option.Field{&ac.p.OSL, &ac.p.OSLStddev} { // on a command line the limit of tokens
		if fromFile(o) {
			filed = append(filed, o.Flag())
		}
	}
	if len(filed) > 0 {
		ac.warn("%s has no effect: %s says what is sent", strings.Join(filed, ", "), of)
	}
	if ac.p.NumDatasetEntries.Given() && !fromFile(&ac.p.NumDatasetEntries) {
		ac.warn("%s has no effect on %s; --request-count asks the first problems only", ac.p.NumDatasetEntries.Flag(),
			of)
	}
	if ac.timing.mode == config.FixedSchedule {
		ac.fault("", "%s cannot be used with a fixed schedule: its problems have no times", of)
	}
	if f := ac.endpoint.facts; !f.ProducesTokens || !f.TakesText {
		ac.fault("", "%s needs an endpoint type that answers with text, such as chat or completions", of)
	}
	if ac.p.DatasetSamplingStrategy.Get() != "sequential" && ac.p.DatasetSamplingStrategy.Given() &&
		ac.timing.requestsGiven {
		ac.info("%s: the problems are drawn, so some may be asked twice and others not at all",
			ac.p.DatasetSamplingStrategy.Flag())
	}
	ac.checkTasks(b)
	ac.checkForm(b, of)
	if grader(b, ac.p.AccuracyGrader.Get()) == grade.CodeExecution && !ac.p.AccuracyAllowCodeExecution.Get() {
		ac.fault("", "%s runs programs that the model writes: allow that with --accuracy-allow-code-execution", of)
	}
	if ac.p.AccuracyData.Given() && ac.p.AccuracyDownload.Get() {
		ac.warn("%s has no effect with --accuracy-data", ac.p.AccuracyDownload.Flag())
	}
	ac.warnTemperature()
}

func (ac *accuracy) checkTasks(b *task.Benchmark) {
	if _, err := b.Choose(ac.tasks()); err != nil {
		ac.fault("", "%s: %v", ac.p.AccuracyTasks.Flag(), err)
	}
}

// checkForm checks the worked examples and the reasoning.
func (ac *accuracy) checkForm(b *task.Benchmark, of string) {
	shots := ac.p.AccuracyNShots.Pointer()
	switch {
	case shots == nil:
	case b.Name == "lcb_codegeneration" && *shots != 0:
		ac.fault("", "%s: %s has no worked examples", ac.p.AccuracyNShots.Flag(), b.Name)
	case !b.HasShots():
		if *shots > 0 {
			ac.warn("%s has no effect: %s has no worked examples", ac.p.AccuracyNShots.Flag(), b.Name)
		}
	case *shots > int64(b.MostShots):
		ac.fault("", "%s %d: %s has at most %d worked examples", ac.p.AccuracyNShots.Flag(), *shots, b.Name,
			b.MostShots)
	}
	if ac.p.AccuracyEnableCoT.Given() && !b.Choice {
		if b.Name == "lcb_codegeneration" && ac.p.AccuracyEnableCoT.Get() {
			ac.fault("", "%s cannot ask for reasoning", of)
		} else {
			ac.warn("%s has no effect on %s", ac.p.AccuracyEnableCoT.Flag(), b.Name)
		}
	}
}

// warnTemperature warns where the server may answer differently each time.
func (ac *accuracy) warnTemperature() {
	if t, ok := ac.p.ExtraInputs.Get().Get("temperature"); ok {
		if f, err := strconv.ParseFloat(fmt.Sprint(t), 64); err == nil && f == 0 {
			return
		}
	}
	ac.warn("The temperature is not 0, so answers can differ from run to run: --extra-inputs temperature:0")
}

func (ac *accuracy) tasks() (list []string) {
	for _, text := range ac.p.AccuracyTasks.Get() {
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
	b, _ := task.Named(p.AccuracyBenchmark.Get())
	c := &config.Accuracy{Benchmark: b.Name, Grader: grader(b, p.AccuracyGrader.Get()), Data: p.AccuracyData.Get(),
		Download: p.AccuracyDownload.Get(),
		Shots:    smallInt(p.AccuracyNShots.Pointer()), Repeats: int(p.AccuracyRepeats.Get()),
		Verbose: p.AccuracyVerbose.Get(), AllowCode: p.AccuracyAllowCodeExecution.Get()}
	c.Tasks, _ = b.Choose(ac.tasks()) // checked before
	if ac.p.OSL.Given() && !fromFile(&ac.p.OSL) {
		c.MaxTokens = smallInt(p.OSL.Pointer())
	}
	if ac.p.AccuracyEnableCoT.Given() {
		yes := p.AccuracyEnableCoT.Get()
		c.Reasons = &yes
	}
	if ac.p.AccuracySystemPrompt.Given() {
		text := p.AccuracySystemPrompt.Get()
		c.System = &text
	}
	return c
}

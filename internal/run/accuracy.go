package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/accuracy/grade"
	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/accuracy/task"
	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/public"
	"aiperf/internal/workload/rows"
)

// problems makes the dataset of the benchmark that is asked for, and keeps the gold answers.
func (c *content) problems(ctx context.Context) (*dataset.Dataset, error) {
	a := c.cfg.Accuracy
	b, ok := task.Named(a.Benchmark)
	if !ok {
		return nil, fmt.Errorf("there is no benchmark %q", a.Benchmark)
	}
	set, err := c.options.Problems.load(a, c.descriptor.SystemMessage, func() (*task.Set, error) {
		return task.Build(ctx, task.Options{Benchmark: b, Tasks: a.Tasks, Shots: a.Shots, Reasons: a.Reasons,
			System: a.System, Chat: c.descriptor.SystemMessage, Rows: c.rows(b)})
	})
	if err != nil {
		return nil, fmt.Errorf("--accuracy-benchmark %s: %w", b.Name, err)
	}
	for _, n := range set.Notes {
		c.log.Info(n)
	}
	c.gold = make(map[string]*task.Problem, len(set.Problems))
	list := make([]dataset.Conversation, len(set.Problems))
	for i := range set.Problems {
		p := &set.Problems[i]
		if c.gold[p.ID] != nil {
			return nil, fmt.Errorf("--accuracy-benchmark %s: two problems are called %s", b.Name, p.ID)
		}
		c.gold[p.ID] = p
		list[i] = c.conversation(p, set)
	}
	return &dataset.Dataset{Conversations: dataset.Memory(list), Sampling: dataset.Sequential}, nil
}

// codeBenchmark has a subset for each of its releases.
const codeBenchmark = "lcb_codegeneration"

// rows returns the rows of a benchmark's data. A single file holds the problems alone.
func (c *content) rows(b *task.Benchmark) task.Rows {
	a := c.cfg.Accuracy
	o := public.Options{Path: a.Data, Hub: hub.FromEnv(os.LookupEnv, hub.Datasets),
		Timeout: c.cfg.Env.Dataset.PublicTimeout, CacheDir: c.cfg.Env.Dataset.PublicCacheDir}
	single := false
	if info, err := os.Stat(a.Data); a.Data != "" && err == nil {
		single = !info.IsDir()
	}
	return func(ctx context.Context, subset, split string, each func(int, rows.Row) error) error {
		if single && split != b.Data.Split {
			return task.ErrNoRows
		}
		var files []string
		if b.Name == codeBenchmark {
			subset = c.cfg.Env.Accuracy.LCBRelease
			if files = task.ReleaseFiles(subset); files == nil && a.Data == "" {
				return fmt.Errorf("AIPERF_ACCURACY_LCB_RELEASE_TAG %q is no release; there are release_v1 to release_v6, "+
					"v1 to v6, and ranges such as v4_v5", subset)
			}
		}
		t := public.Table{
			Source:     public.Source{Repo: b.Data.Repo, Subset: subset, Split: split},
			PathOption: "--accuracy-data",
			Download:   a.Download, DownloadOption: "--accuracy-download",
			Files: files, Named: split != b.Data.Split,
		}
		err := public.Each(ctx, o, t, each)
		if errors.Is(err, public.ErrNoPart) && split != b.Data.Split {
			return fmt.Errorf("%w: %w", task.ErrNoRows, err)
		}
		return err
	}
}

// conversation returns what asks a problem.
func (c *content) conversation(p *task.Problem, set *task.Set) dataset.Conversation {
	turn := dataset.Turn{MaxTokens: &set.MaxTokens}
	if most := c.cfg.Accuracy.MaxTokens; most != nil {
		turn.MaxTokens = most
	}
	if _, own := c.cfg.Endpoint.Extra.Get("stop"); len(set.Stop) > 0 && !own && c.descriptor.Name != "responses" {
		stop, _ := json.Marshal(set.Stop) // strings
		turn.Extra = append(turn.Extra, dataset.Field{Name: "stop", Value: stop})
	}
	out := dataset.Conversation{SessionID: p.ID}
	messages := p.Messages
	if messages[0].Role == "system" {
		out.SystemMessage, messages = &messages[0].Text, messages[1:]
	}
	if len(messages) == 1 {
		turn.Texts = []dataset.Media{{Contents: []string{messages[0].Text}}}
	} else {
		for _, m := range messages {
			text, _ := artifact.AppendJSON(nil, artifact.Object{{Key: "role", Value: m.Role}, {Key: "content", Value: m.Text}})
			turn.RawMessages = append(turn.RawMessages, text)
		}
	}
	out.Turns = []dataset.Turn{turn}
	return out
}

// grading grades the answers of a run while it goes on, on goroutines of its own. It is nil where nothing is graded.
type grading struct {
	passive
	*content
	grade grade.Func
	lines *artifact.Lines
	// box grades programs; nil where there are none. Judges take the answers that are waiting.
	box     *sandbox.Box
	judges  sync.WaitGroup
	waiting *queue
	// ended: what is graded from here on does not count.
	ended atomic.Bool

	mu       sync.Mutex
	tally    summary.Tally
	ungraded int64
	// late are answers that could not be graded.
	late int64
}

// newGrading opens the file of graded answers and starts the judges; nil where nothing is graded. A file that cannot be
// written any more ends the run.
func newGrading(ctx context.Context, c *content, cannotWrite func(error)) (*grading, error) {
	a := c.cfg.Accuracy
	if a == nil {
		return nil, nil
	}
	g := &grading{content: c, waiting: newQueue(waitingMemory)}
	judges := 1
	of, _ := grade.Named(a.Grader)
	if g.grade = of.Grade; g.grade == nil {
		var err error
		if g.box, err = sandbox.New(ctx, c.cfg.Env.Accuracy.MaxGrade); err != nil {
			return nil, fmt.Errorf("--accuracy-benchmark %s: %w", a.Benchmark, err)
		}
		g.grade, judges = g.box.Grade, sandbox.Parallel
	}
	lines, err := artifact.CreateLines(c.cfg.Artifacts.Path(config.AccuracyJSONL), artifact.LinesOptions{
		FlushInterval: c.cfg.Env.Metrics.ExportFlushInterval,
		OnError: func(err error) {
			c.log.Error("Graded answers cannot be written any more, the run ends here", "error", err)
			cannotWrite(err)
		}})
	if err != nil {
		return nil, err
	}
	g.lines = lines
	for range judges {
		g.judges.Go(g.judge)
	}
	return g, nil
}

// judge grades what is waiting until there will be no more.
func (g *grading) judge() {
	for {
		one, ok, err := g.waiting.next()
		if !ok {
			return
		}
		if err != nil {
			g.log.Error("An answer that waited to be graded is lost", "problem", one.problem.ID, "error", err)
			g.miss(1)
			continue
		}
		if v := g.grade(one.content, one.problem.Gold); g.ended.Load() {
			g.miss(1)
		} else {
			g.add(one, v)
		}
	}
}

func (g *grading) miss(n int64) {
	g.mu.Lock()
	g.late += n
	g.mu.Unlock()
}

// take takes the answer of a request, from several goroutines at once.
func (g *grading) take(r *record.Record, content, thinking []byte) {
	problem := g.gold[r.ConversationID]
	if problem == nil || r.Phase == record.PhaseWarmup {
		return
	}
	at, _ := r.Get(record.StartWall)
	g.waiting.put(answer{Identity: r.Identity, atNS: at, problem: problem, content: string(content),
		thinking: string(thinking)})
}

// keepAnswer keeps an answer in its record, for the run that has the gold answers.
func keepAnswer(r *record.Record, content, thinking []byte) {
	if r.Phase != record.PhaseWarmup {
		r.Answer = &record.Answer{Content: bytes.Clone(content), Thinking: bytes.Clone(thinking)}
	}
}

// record counts a request without an answer. A reply without any text is an answer.
func (g *grading) record(r *record.Record) {
	if r.Err == nil || r.Empty || r.Phase == record.PhaseWarmup {
		return
	}
	g.mu.Lock()
	g.ungraded++
	g.mu.Unlock()
}

// add counts a graded answer and writes its line.
func (g *grading) add(one answer, v grade.Verdict) {
	g.mu.Lock()
	g.tally.Add(one.problem.ID, one.problem.Task, v.Extracted, v.Correct, v.Unparsed)
	g.mu.Unlock()
	_ = g.lines.Add(g.line(&one, &v)) // reported once, by OnError
	if g.cfg.Accuracy.Verbose {
		g.say(&one, &v)
	}
}

// line returns the line of a graded answer.
func (g *grading) line(one *answer, v *grade.Verdict) []byte {
	var m artifact.Members
	redact := g.redactor.Text
	m.Open()
	m.Int("session_num", one.SessionNum)
	m.String("conversation_id", one.ConversationID)
	m.String("x_request_id", one.RequestID)
	m.String("worker_id", one.WorkerID)
	m.String("benchmark_phase", one.Phase)
	m.Int("timestamp_ns", one.atNS)
	m.String("task", one.problem.Task)
	m.String("grader_name", g.cfg.Accuracy.Grader)
	m.Bool("passed", v.Correct)
	m.Bool("unparsed", v.Unparsed)
	m.Key("confidence")
	m.Dst = artifact.AppendFloat(m.Dst, v.Confidence())
	m.String("expected", redact(v.Gold))
	m.String("actual", redact(v.Extracted))
	m.String("explanation", v.Reason)
	m.String("model_output", redact(one.content))
	if one.thinking != "" {
		m.String("model_thinking", redact(one.thinking))
	}
	m.Close()
	return m.Dst
}

// shownAnswer is how much of an answer the log shows.
const shownAnswer = 200

func (g *grading) say(one *answer, v *grade.Verdict) {
	text := []rune(one.content)
	if len(text) > shownAnswer {
		text = append(text[:shownAnswer], '…')
	}
	g.log.Info("Graded", "problem", one.problem.ID, "correct", v.Correct, "unparsed", v.Unparsed,
		"extracted", g.redactor.Text(v.Extracted), "expected", g.redactor.Text(v.Gold),
		"answer", g.redactor.Text(string(text)))
}

// gradingLimit is how long the end of a run waits for answers that are still to be graded.
func (b *base) gradingLimit(phases []load.Stats) time.Duration {
	if cancelled(phases) {
		return b.cfg.Env.Accuracy.CancelWait
	}
	return b.cfg.Env.Record.ProcessRecordsTimeout
}

// drain waits until all answers are graded, or ctx is done: what is not graded then is left out.
func (g *grading) drain(ctx context.Context) {
	if g == nil {
		return
	}
	g.waiting.close()
	done := make(chan struct{})
	go func() {
		g.judges.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		g.giveUp()
		<-done
	}
	g.mu.Lock()
	late := g.late
	g.mu.Unlock()
	if late > 0 {
		g.log.Warn(fmt.Sprintf("%d answers could not be graded in time and are left out of the accuracy", late))
	}
}

// giveUp ends the grading: what is waiting or being graded does not count.
func (g *grading) giveUp() {
	g.ended.Store(true)
	g.miss(g.waiting.drop())
	if g.box != nil {
		g.box.Close()
	}
}

// finish implements part.
func (g *grading) finish(*outcome) error { return g.lines.Close() }

// close implements part.
func (g *grading) close() {
	g.giveUp() // nothing is left to stop where there is an outcome
	g.judges.Wait()
	g.waiting.remove()
	_ = g.lines.Close() // done before where there is an outcome
}

// result returns what was graded so far; nil where nothing is graded.
func (g *grading) result() *summary.Accuracy {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.cfg.Accuracy
	out := &summary.Accuracy{Benchmark: a.Benchmark, Grader: a.Grader, Problems: int64(len(g.gold)),
		Ungraded: g.ungraded, Late: g.late}
	g.tally.Fill(out)
	return out
}

// askAll has phases that end with the dataset ask each of its conversations, once the dataset is known.
func (c *content) askAll(context.Context) error {
	if !slices.ContainsFunc(c.cfg.Phases, func(p config.Phase) bool { return p.Whole }) {
		return nil
	}
	n := int64(c.data.RootCount())
	if a := c.cfg.Accuracy; a != nil {
		n *= int64(max(1, a.Repeats))
	}
	cfg := *c.cfg
	cfg.Phases = slices.Clone(cfg.Phases)
	for i := range cfg.Phases {
		if p := &cfg.Phases[i]; p.Whole {
			p.Requests, p.Whole = &n, false
		}
	}
	c.cfg = &cfg // all parts of the run see it
	c.log.Info(fmt.Sprintf("Asking %d problems", n))
	return nil
}

package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"slices"
	"sync"
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
		if b.Name == codeBenchmark {
			subset = c.cfg.Env.Accuracy.LCBRelease
		}
		t := public.Table{
			Source: public.Source{Repo: b.Data.Repo, Subset: subset, Split: split},
			Option: "--accuracy-benchmark " + b.Name, PathOption: "--accuracy-data",
			Download: a.Download, DownloadOption: "--accuracy-download",
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
	if osl := c.cfg.Dataset.OSL; osl != nil {
		n := int(osl.Expected())
		turn.MaxTokens = &n
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

// askAll has phases that end with the dataset ask each of its conversations, once the dataset is known.
func (e *execution) askAll(context.Context) error {
	if !slices.ContainsFunc(e.cfg.Phases, func(p config.Phase) bool { return p.Whole }) {
		return nil
	}
	n := int64(e.content.data.RootCount())
	if a := e.cfg.Accuracy; a != nil {
		n *= int64(max(1, a.Repeats))
	}
	cfg := *e.cfg
	cfg.Phases = slices.Clone(cfg.Phases)
	for i := range cfg.Phases {
		if p := &cfg.Phases[i]; p.Whole {
			p.Requests, p.Whole = &n, false
		}
	}
	e.cfg = &cfg // all parts of the run see it
	e.log.Info(fmt.Sprintf("Asking %d problems", n))
	return nil
}

// grading grades the answers of a run while it goes on, on the goroutines that make records; programs are graded on
// goroutines of their own. It is nil where nothing is graded.
type grading struct {
	passive
	e     *execution
	grade grade.Func
	lines *artifact.Lines
	// box grades programs, which judges hand to it; waiting are the answers that no judge has taken yet.
	box     *sandbox.Box
	judges  sync.WaitGroup
	waiting queue

	mu       sync.Mutex
	tasks    map[string]*summary.TaskAccuracy
	problems map[string]*heard
	ungraded int64
}

// heard is what is known of the answers to a problem.
type heard struct {
	first        uint64
	times        int64
	varied       bool
	right, wrong bool
}

// answer is an answer that waits to be graded.
type answer struct {
	record.Identity
	atNS              int64
	problem           *task.Problem
	content, thinking string
}

// queue holds answers without bound, since a request must never wait for a program of another one: there are at most as
// many as problems.
type queue struct {
	mu     sync.Mutex
	more   sync.Cond
	list   []answer
	closed bool
}

func (q *queue) put(one answer) {
	q.mu.Lock()
	q.list = append(q.list, one)
	q.mu.Unlock()
	q.more.Signal()
}

// next waits for an answer; false once the queue is closed and empty.
func (q *queue) next() (one answer, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && !q.closed {
		q.more.Wait()
	}
	if len(q.list) == 0 {
		return one, false
	}
	one = q.list[0]
	q.list[0] = answer{}
	q.list = q.list[1:]
	return one, true
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.more.Broadcast()
}

// openGrading opens the file of graded answers and starts the judges.
func (e *execution) openGrading(ctx context.Context) error {
	a := e.cfg.Accuracy
	if a == nil {
		return nil
	}
	g := &grading{e: e, tasks: map[string]*summary.TaskAccuracy{}, problems: map[string]*heard{}}
	of, _ := grade.Named(a.Grader)
	if g.grade = of.Grade; g.grade == nil {
		var err error
		if g.box, err = sandbox.New(ctx, e.cfg.Env.Accuracy.MaxGrade); err != nil {
			return fmt.Errorf("--accuracy-benchmark %s: %w", a.Benchmark, err)
		}
		g.waiting.more.L = &g.waiting.mu
		for range sandbox.Parallel {
			g.judges.Go(func() {
				for one, ok := g.waiting.next(); ok; one, ok = g.waiting.next() {
					g.add(one, g.box.Grade(one.content, one.problem.Gold))
				}
			})
		}
	}
	lines, err := artifact.CreateLines(e.cfg.Artifacts.Path(config.AccuracyJSONL), artifact.LinesOptions{
		FlushInterval: e.cfg.Env.Metrics.ExportFlushInterval,
		OnError: func(err error) {
			e.log.Error("Graded answers cannot be written any more, the run ends here", "error", err)
			e.ending.cannotWrite(err)
		}})
	if err != nil {
		return err
	}
	g.lines = lines
	e.grading, e.records.grading = g, g
	e.watches = append(e.watches, g)
	return nil
}

// take takes the answer of a request, from several goroutines at once.
func (g *grading) take(r *record.Record, content, thinking []byte) {
	problem := g.e.content.gold[r.ConversationID]
	if problem == nil || r.Phase == record.PhaseWarmup {
		return
	}
	at, _ := r.Get(record.StartWall)
	one := answer{Identity: r.Identity, atNS: at, problem: problem, content: string(content)}
	if len(content) != len(thinking) || string(content) != string(thinking) {
		one.thinking = string(thinking)
	}
	if g.grade == nil {
		g.waiting.put(one)
		return
	}
	g.add(one, g.grade(one.content, problem.Gold))
}

// failed counts a request without an answer.
func (g *grading) failed(r *record.Record) {
	if g == nil || r.Err == nil || r.Phase == record.PhaseWarmup {
		return
	}
	g.mu.Lock()
	g.ungraded++
	g.mu.Unlock()
}

var answerSeed = maphash.MakeSeed()

// add counts a graded answer and writes its line.
func (g *grading) add(one answer, v grade.Verdict) {
	hash := maphash.String(answerSeed, v.Extracted)
	g.mu.Lock()
	t := g.tasks[one.problem.Task]
	if t == nil {
		t = &summary.TaskAccuracy{Task: one.problem.Task}
		g.tasks[t.Task] = t
	}
	t.Total++
	if v.Correct {
		t.Correct++
	}
	if v.Unparsed {
		t.Unparsed++
	}
	h := g.problems[one.problem.ID]
	if h == nil {
		h = &heard{first: hash}
		g.problems[one.problem.ID] = h
		t.Problems++
	}
	h.times++
	h.varied = h.varied || hash != h.first
	h.right, h.wrong = h.right || v.Correct, h.wrong || !v.Correct
	g.mu.Unlock()
	_ = g.lines.Add(g.line(&one, &v)) // reported once, by OnError
	if g.e.cfg.Accuracy.Verbose {
		g.say(&one, &v)
	}
}

// line returns the line of a graded answer.
func (g *grading) line(one *answer, v *grade.Verdict) []byte {
	var m artifact.Members
	redact := g.e.redactor.Text
	m.Open()
	m.Int("session_num", one.SessionNum)
	m.String("conversation_id", one.ConversationID)
	m.String("x_request_id", one.RequestID)
	m.String("worker_id", one.WorkerID)
	m.String("benchmark_phase", one.Phase)
	m.Int("timestamp_ns", one.atNS)
	m.String("task", one.problem.Task)
	m.String("grader_name", g.e.cfg.Accuracy.Grader)
	m.Bool("passed", v.Correct)
	m.Bool("unparsed", v.Unparsed)
	m.Key("confidence")
	m.Dst = artifact.AppendFloat(m.Dst, v.Confidence())
	m.String("expected", redact(v.Gold))
	m.String("actual", redact(v.Extracted))
	m.String("explanation", v.Reason)
	m.String("model_output", redact(one.content))
	m.String("model_thinking", redact(one.thinking))
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
	g.e.log.Info("Graded", "problem", one.problem.ID, "correct", v.Correct, "unparsed", v.Unparsed,
		"extracted", g.e.redactor.Text(v.Extracted), "expected", g.e.redactor.Text(v.Gold),
		"answer", g.e.redactor.Text(string(text)))
}

// gradingLimit is how long the end of a run waits for programs that are still to be graded.
func (e *execution) gradingLimit(phases []load.Stats) time.Duration {
	if cancelled(phases) {
		return e.cfg.Env.Accuracy.CancelWait
	}
	return e.cfg.Env.Record.ProcessRecordsTimeout
}

// drain waits until all answers are graded, or ctx is done.
func (g *grading) drain(ctx context.Context) {
	if g == nil || g.box == nil {
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
		g.e.log.Warn("Not all answers could be graded in time", "cause", context.Cause(ctx))
		g.box.Close()
		<-done
	}
}

// finish implements watcher.
func (g *grading) finish(*outcome) error { return g.lines.Close() }

// close implements watcher.
func (g *grading) close() {
	if g.box != nil {
		g.waiting.close()
		g.box.Close()
		g.judges.Wait()
	}
	_ = g.lines.Close() // done before where there is an outcome
}

// result returns what was graded so far; nil where nothing is graded.
func (g *grading) result() *summary.Accuracy {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.e.cfg.Accuracy
	out := &summary.Accuracy{Benchmark: a.Benchmark, Grader: a.Grader, Problems: int64(len(g.e.content.gold)),
		Asked: int64(len(g.problems)), Ungraded: g.ungraded, Tasks: []summary.TaskAccuracy{}}
	for _, name := range slices.SortedFunc(maps.Keys(g.tasks), cmp.Compare) {
		out.Tasks = append(out.Tasks, *g.tasks[name])
	}
	repeats := summary.Repeats{}
	for _, h := range g.problems {
		if h.times > 1 {
			repeats.Problems++
			if h.varied {
				repeats.Varied++
			}
			if h.right && h.wrong {
				repeats.Flipped++
			}
		}
	}
	if repeats.Problems > 0 {
		out.Repeats = &repeats
	}
	return out
}

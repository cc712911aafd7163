package run

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/accuracy/grade"
	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
)

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
func (g *grading) finish(*ended) error { return g.lines.Close() }

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

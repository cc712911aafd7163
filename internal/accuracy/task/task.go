// Package task makes the problems of accuracy benchmarks: what is asked, in the shape that each benchmark prescribes,
// and the gold answer.
//
// Rows come from a function that the caller gives, so that the package knows nothing of files and of the hub. The same
// rows give the same problems on every machine: orders that a benchmark draws come from its own fixed seed, never from
// that of the run.
//
// It also is the random generator of Python's random module, where a published procedure prescribes its draws: the
// Mersenne Twister MT19937 (Matsumoto and Nishimura 1998), seeded and drawn from as that module does.
//
// All other randomness comes from package random.
package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/workload/rows"
)

// ErrNoRows is the error of a split that the data lack.
var ErrNoRows = errors.New("the data lack this split")

// Rows calls a function with each row of a subset and split of a benchmark's data. ErrNoRows reports that there is
// none.
type Rows func(ctx context.Context, subset, split string, each func(number int, row rows.Row) error) error

// Options say what is asked.
type Options struct {
	Benchmark *Benchmark
	// Tasks are those of [Benchmark.Choose]; nil: all.
	Tasks []string
	// Shots is the number of worked examples, Reasons asks for reasoning; nil: as the benchmark has it.
	Shots   *int
	Reasons *bool
	// System replaces the system message of the benchmark; empty: there is none. nil: that of the benchmark.
	System *string
	// Chat reports that the endpoint takes messages; others take one text.
	Chat bool
	Rows Rows
}

// Problem is one question.
type Problem struct {
	// ID is the id of its conversation.
	ID, Task string
	Gold     string
	// Messages are what is asked, the system message first if there is one. An endpoint without messages gets one text.
	Messages []Message
}

// Message is one message of a problem.
type Message struct{ Role, Text string }

// Set are the problems of a benchmark.
type Set struct {
	Problems []Problem
	// MaxTokens bounds each answer, Stop ends it.
	MaxTokens int
	Stop      []string
	// Notes say how the data were used, for the log.
	Notes []string
}

type message = Message

// Build makes the problems.
func Build(ctx context.Context, o Options) (*Set, error) {
	m := &maker{Options: o, b: o.Benchmark, shots: o.Benchmark.NShots, reasons: o.Benchmark.Reasons}
	if o.Shots != nil && m.b.HasShots() {
		m.shots = *o.Shots
	}
	if o.Reasons != nil && m.b.Choice {
		m.reasons = *o.Reasons
	}
	m.set.MaxTokens = m.b.MaxTokens
	if m.reasons && m.b.MaxReasoning > 0 {
		m.set.MaxTokens = m.b.MaxReasoning
	}
	if !m.reasons {
		m.set.Stop = m.b.Stop
	}
	if err := m.all(ctx); err != nil {
		return nil, err
	}
	if len(m.set.Problems) == 0 {
		return nil, fmt.Errorf("%s: the data have no problem%s", m.b.Name, m.ofTasks())
	}
	return &m.set, nil
}

func (m *maker) ofTasks() string {
	if m.Tasks == nil {
		return ""
	}
	return " of the tasks " + strings.Join(m.Tasks, ", ")
}

// maker makes the problems of one benchmark.
type maker struct {
	Options
	b       *Benchmark
	shots   int
	reasons bool
	// task is that of the problems that are being made; examples are its worked examples.
	task     string
	examples []record
	set      Set
}

// all adds the problems of all tasks, or of those that were chosen. Worked examples are those of the task.
func (m *maker) all(ctx context.Context) error {
	if !m.b.PerTask {
		return m.together(ctx)
	}
	tasks := m.Tasks
	if tasks == nil {
		tasks = m.b.Tasks
	}
	for _, t := range tasks {
		m.task = t
		problems, err := m.read(ctx, t, m.b.Data.Split)
		if err != nil {
			return err
		}
		if m.examples, err = m.workedExamples(ctx, t, problems); err != nil {
			return err
		}
		if err := m.add(problems); err != nil {
			return err
		}
	}
	return nil
}

// together makes the problems of a benchmark whose tasks share their data.
func (m *maker) together(ctx context.Context) error {
	problems, err := m.read(ctx, m.b.Data.Subset, m.b.Data.Split)
	if err != nil {
		return err
	}
	if m.b.task == nil {
		m.task = m.b.Name
		if m.examples, err = m.workedExamples(ctx, m.b.Data.Subset, problems); err != nil {
			return err
		}
		return m.add(problems)
	}
	byTask, order := map[string][]record{}, []string(nil)
	for _, p := range problems {
		t := m.b.task(p)
		if t == "" {
			continue
		}
		if byTask[t] == nil {
			order = append(order, t)
		}
		byTask[t] = append(byTask[t], p)
	}
	if m.b.Tasks != nil {
		order = m.b.Tasks
	}
	if m.Tasks != nil {
		if order, err = m.asked(order); err != nil {
			return err
		}
	}
	shared, err := m.workedExamples(ctx, m.b.Data.Subset, problems)
	if err != nil {
		return err
	}
	for _, t := range order {
		m.task, m.examples = t, m.examplesOf(t, shared)
		if err := m.add(byTask[t]); err != nil {
			return err
		}
	}
	return nil
}

// asked returns the tasks that were asked for as the data spell them.
func (m *maker) asked(known []string) (chosen []string, err error) {
	for _, t := range m.Tasks {
		i := slices.IndexFunc(known, func(k string) bool { return same(k, t) })
		if i < 0 {
			return nil, m.b.unknown(t, known)
		}
		chosen = append(chosen, known[i])
	}
	return chosen, nil
}

// read returns the rows of a split. A file without subsets has the rows of all of them: those that name their subset in
// the column subject or task are chosen by it.
func (m *maker) read(ctx context.Context, subset, split string) (list []record, err error) {
	err = m.Rows(ctx, subset, split, func(number int, row rows.Row) error {
		r := record{row: row, number: number}
		if m.b.PerTask {
			for _, column := range []string{"subject", "task"} {
				if named, ok := row[column].(string); ok && !same(named, subset) {
					return nil
				}
			}
		}
		if missing := r.lacks(m.b.Columns); missing != "" {
			return fmt.Errorf("row %d has no column %q; it has %s", number, missing, strings.Join(r.columns(), ", "))
		}
		list = append(list, r)
		return nil
	})
	return list, err
}

// workedExamples returns the rows that can be worked examples of problems, those that are drawn if that is prescribed.
func (m *maker) workedExamples(ctx context.Context, subset string, problems []record) ([]record, error) {
	if m.shots == 0 {
		return nil, nil
	}
	if m.b.Shots == nil {
		return problems[:min(len(problems), m.shots+1)], nil
	}
	var err error
	for _, split := range m.b.Shots {
		var list []record
		if list, err = m.read(ctx, subset, split); err == nil && len(list) > 0 {
			switch m.b.Name {
			case "mmlu":
				list = balanced(list, m.shots)
			case "hellaswag":
				list = distinct(list, "activity_label", m.shots)
			}
			return list, nil
		}
		if err != nil && !errors.Is(err, ErrNoRows) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s has worked examples, and the data lack the split %s%s: give a folder with it, or "+
		"--accuracy-n-shots 0", m.b.Name, strings.Join(m.b.Shots, " or "), ofSubset(subset))
}

func ofSubset(subset string) string {
	if subset == "" {
		return ""
	}
	return " of " + subset
}

// examplesOf are the worked examples of a task among those that tasks share.
func (m *maker) examplesOf(t string, shared []record) []record {
	if m.b.Name != "mmlu_pro" {
		return shared
	}
	var own []record
	for _, r := range shared {
		if same(r.text("category"), t) {
			own = append(own, r)
		}
	}
	return own
}

// shown are the worked examples of a problem: never the problem itself.
func (m *maker) shown(problem record) []record {
	var list []record
	for _, e := range m.examples {
		if len(list) < m.shots && (m.b.Shots != nil || e.number != problem.number) {
			list = append(list, e)
		}
	}
	return list
}

func (m *maker) add(problems []record) error {
	for _, p := range problems {
		messages, gold, err := m.b.problem(m, p)
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", m.task, p.number, err)
		}
		if messages == nil {
			continue // a row without a gold answer
		}
		m.set.Problems = append(m.set.Problems, Problem{
			ID:   fmt.Sprintf("%s-%05d", strings.ReplaceAll(m.task, " ", "_"), p.number-1),
			Task: m.task, Gold: gold, Messages: m.shape(messages),
		})
	}
	return nil
}

// shape puts the system message in front, and makes one text of the messages for an endpoint that takes none.
func (m *maker) shape(messages []message) []message {
	system := m.b.System
	if m.System != nil {
		system = *m.System
	}
	if m.Chat {
		if system != "" {
			messages = append([]message{{"system", system}}, messages...)
		}
		return messages
	}
	var parts []string
	if system != "" {
		parts = append(parts, system)
	}
	text := ""
	for _, one := range messages {
		if text != "" && one.Role == "user" {
			text += "\n\n"
		}
		text += one.Text
	}
	return []message{{"user", strings.Join(append(parts, text), "\n\n")}}
}

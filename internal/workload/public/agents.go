package public

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/rows"
)

// agentSet is a data set of recorded sessions of agents: which harness drove which model on which benchmark.
type agentSet struct {
	harnesses, models, benchmarks []string
	// missing are the pairs of a harness and a model that no session has; an empty harness stands for all.
	missing []agentPair
}

type agentPair struct{ harness, model string }

func (p agentPair) String() string { return p.harness + " with " + p.model }

const (
	toolCalling    = "tool_calling"
	shortlisting   = "tool_calling_with_shortlisting"
	openAISolo     = "openai_solo"
	smolAgents     = "smolagents_code"
	claudeOpus     = "claude-opus-4-5"
	gemini3        = "gemini-3-pro-preview"
	gpt41          = "gpt-4.1"
	gpt52          = "gpt-5.2-2025-12-11"
	agentSessionID = "x-dynamo-session-id"
)

func agentSets() []set {
	harnesses := []string{"claude_code", openAISolo, smolAgents, toolCalling, shortlisting}
	models := []string{"DeepSeek-V3.2", "Kimi-K2.5", claudeOpus, gemini3, gpt41, gpt52}
	return []set{
		{name: "exgentic", repo: "Exgentic/agent-llm-traces", revision: "70036b93a04e61b0ea2706a68b962f4f26774587",
			split: "train", streamed: true,
			agents: &agentSet{harnesses: harnesses, models: models, missing: []agentPair{
				{openAISolo, gpt52}, {smolAgents, claudeOpus}, {smolAgents, gemini3}, {smolAgents, gpt52},
				{toolCalling, gpt52},
				{shortlisting, claudeOpus}, {shortlisting, gpt41}, {shortlisting, gpt52},
			}}},
		{name: "exgentic_v2", repo: "Exgentic/agent-llm-traces-v2",
			revision: "4b8ad4ab198438e5a170f9171c19c6a2cf7c1814",
			split:    "train", streamed: true,
			agents: &agentSet{harnesses: harnesses, models: models,
				benchmarks: []string{"appworld", "browsecompplus", "swebench", "tau2_airline", "tau2_retail",
					"tau2_telecom"},
				missing: []agentPair{{"", gpt41}, {shortlisting, claudeOpus}, {shortlisting, gpt52}},
			}},
	}
}

// filters returns the columns that sessions can be chosen by, and their values.
func (s *agentSet) filters() map[string][]string {
	filters := map[string][]string{"harness": s.harnesses, "source_model": s.models}
	if len(s.benchmarks) > 0 {
		filters["benchmark"] = s.benchmarks
	}
	return filters
}

// chosen checks what the user wants of the data set, before anything is read.
func (s *agentSet) chosen(o *Options) (*agentReader, error) {
	if o.Limit < 1 {
		return nil, errors.New("the number of sessions needs a limit: " +
			"give --num-conversations, --num-dataset-entries or --request-count")
	}
	r := &agentReader{set: s, seen: map[string]bool{}, met: map[agentPair]int{}}
	filters := s.filters()
	for _, f := range o.Filters {
		name := strings.ToLower(strings.TrimSpace(f.Column))
		known, ok := filters[name]
		if !ok {
			return nil, fmt.Errorf("--dataset-filter %s=%s: there is no filter %q; there are %s",
				f.Column, f.Value, f.Column, strings.Join(names(filters), ", "))
		}
		value := strings.TrimSpace(f.Value)
		if name == "source_model" {
			value = sourceModel(value)
		}
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, value) })
		if i < 0 {
			return nil, fmt.Errorf("--dataset-filter %s=%s: no session has this %s; there are %s",
				f.Column, f.Value, name, strings.Join(known, ", "))
		}
		field := map[string]*string{"harness": &r.harness, "source_model": &r.model, "benchmark": &r.benchmark}[name]
		if *field != "" && *field != known[i] {
			return nil, fmt.Errorf("--dataset-filter %s is given twice, with %s and with %s", name, *field, known[i])
		}
		*field = known[i]
	}
	return r, s.exists(r.harness, r.model)
}

func names(filters map[string][]string) (names []string) {
	for name := range filters {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// exists refuses a model that no session of the harness has.
func (s *agentSet) exists(harness, model string) error {
	if model == "" {
		return nil
	}
	lacks := func(h, m string) bool {
		return slices.Contains(s.missing, agentPair{h, m}) || slices.Contains(s.missing, agentPair{"", m})
	}
	if lacks("", model) {
		return fmt.Errorf("--dataset-filter source_model=%s: no harness of the data set has sessions with "+
			"it; there are %s",
			model,
			strings.Join(slices.DeleteFunc(slices.Clone(s.models), func(m string) bool { return lacks("", m) }), ", "))
	}
	if harness != "" && lacks(harness, model) {
		return fmt.Errorf("--dataset-filter: the harness %s has no sessions with %s; it has them with %s", harness,
			model,
			strings.Join(slices.DeleteFunc(slices.Clone(s.models), func(m string) bool { return lacks(harness, m) }),
				", "))
	}
	return nil
}

// sourceModel returns the name of a model without the service that it was called through.
func sourceModel(name string) string {
	for _, service := range []string{"openai/azure/", "azure/", "aws/", "gcp/"} {
		if len(name) > len(service) && strings.EqualFold(name[:len(service)], service) {
			return name[len(service):]
		}
	}
	return name
}

// agentReader are the sessions that were read.
type agentReader struct {
	set *agentSet
	// harness, model and benchmark are those that sessions must have; empty: any.
	harness, model, benchmark string
	sessions                  []agentSession
	seen                      map[string]bool
	// met counts the rows of each harness and model.
	met map[agentPair]int
	// What became of the spans.
	spans spanCounts
	empty int
}

type agentSession struct {
	id    string
	turns []agentTurn
}

// agentTurn is a recorded call of a model.
type agentTurn struct {
	span       int // its place in the row
	start, end time.Time
	turn       dataset.Turn
}

type spanCounts struct{ foreign, failed, zero, overlapping int }

// session reads a row.
func (r *reading) session(number int, row rows.Row) error {
	if err := r.agents.read(&converter{row: row, reading: r}); err != nil {
		return fmt.Errorf("%s: row %d: %w", r.file, number, err)
	}
	return nil
}

// read reads a row, which is a session of an agent, and keeps it if it is of the chosen harness, model and benchmark.
// What the data set has is noted before it is filtered, for the error that lists the choices. Spans are put in the
// order of their starts.
func (r *agentReader) read(a *converter) error {
	harness, err := a.name("harness")
	if err != nil {
		return err
	}
	recorded, err := a.models()
	if err != nil {
		return err
	}
	for _, model := range recorded {
		r.met[agentPair{harness, model}]++
	}
	switch {
	case r.harness != "" && !strings.EqualFold(harness, r.harness):
		return nil
	case r.model != "" && !slices.ContainsFunc(recorded, func(m string) bool { return strings.EqualFold(m, r.model) }):
		return nil
	case r.benchmark != "":
		if benchmark, err := a.name("benchmark"); err != nil || !strings.EqualFold(benchmark, r.benchmark) {
			return err
		}
	}
	s := agentSession{}
	if s.id, err = a.name("session_id"); err != nil {
		return err
	}
	if r.seen[s.id] {
		return fmt.Errorf("the session %q occurs in an earlier row already", s.id)
	}
	r.seen[s.id] = true
	spans, err := a.value("spans")
	if err != nil {
		return err
	}
	list, ok := asList(spans)
	if !ok {
		return errors.New(`the column "spans" does not hold a list`)
	}
	for i, span := range list {
		turn, err := r.spans.turn(span)
		if err != nil {
			return fmt.Errorf("session %q, span %d: %w", s.id, i, err)
		}
		if turn != nil {
			turn.span = i
			s.turns = append(s.turns, *turn)
		}
	}
	if len(s.turns) == 0 {
		r.empty++
		return nil
	}
	slices.SortStableFunc(s.turns, func(a, b agentTurn) int {
		return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.span, b.span))
	})
	r.sessions = append(r.sessions, s)
	return nil
}

// name returns a column of texts that no row leaves empty.
func (c *converter) name(column string) (string, error) {
	text, err := c.text(column)
	if err == nil && text == "" {
		err = fmt.Errorf("the column %q is empty", column)
	}
	return text, err
}

// models returns the recorded models, without their services.
func (c *converter) models() (models []string, err error) {
	v, err := c.value("models")
	if err != nil {
		return nil, err
	}
	list, ok := asList(v)
	if !ok {
		return nil, errors.New(`the column "models" does not hold a list`)
	}
	for _, item := range list {
		name, err := asText("models", item)
		if err != nil || name == "" {
			return nil, errors.New(`the column "models" holds something else than names`)
		}
		models = append(models, sourceModel(name))
	}
	return models, nil
}

// conversations returns the sessions, or where they are scheduled each of their calls, with their waits or times.
func (r *agentReader) conversations(scheduled bool) (made []dataset.Conversation) {
	for _, s := range r.sessions {
		c := dataset.Conversation{SessionID: s.id, Headers: []dataset.Header{{Name: agentSessionID, Value: s.id}}}
		for i := range s.turns {
			t := &s.turns[i]
			if i > 0 {
				pause := t.start.Sub(s.turns[i-1].end)
				if pause < 0 {
					r.spans.overlapping++
				}
				ms := inMilliseconds(max(0, pause))
				t.turn.DelayMS = &ms
			}
			if scheduled {
				ms := inMilliseconds(t.start.Sub(s.turns[0].start))
				t.turn.DelayMS, t.turn.TimestampMS = nil, &ms
				made = append(made, dataset.Conversation{
					SessionID: fmt.Sprintf("%s:%d", s.id, t.span), Headers: c.Headers, Turns: []dataset.Turn{t.turn},
				})
				continue
			}
			c.Turns = append(c.Turns, t.turn)
		}
		if !scheduled {
			made = append(made, c)
		}
	}
	return made
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// agentResult returns the data set of the sessions that were read.
func (r *reading) agentResult(files []string) (*Result, error) {
	a := r.agents
	made := a.conversations(r.options.Scheduled)
	if len(made) == 0 {
		return nil, fmt.Errorf("--public-dataset %s: no session of %s can be played: "+
			"%d have no successful call of a model; the rows are of %s",
			r.set.name, strings.Join(files, ", "), a.empty, a.combinations())
	}
	turns := 0
	for _, s := range a.sessions {
		turns += len(s.turns)
	}
	note := fmt.Sprintf("%s: %d sessions with %d requests from %s; left out: %d spans that are not calls of a model, "+
		"%d that failed, %d without tokens, %d sessions without requests; "+
		"%d requests began before the answer to the one before",
		r.set.name, len(a.sessions), turns, strings.Join(files, ", "), a.spans.foreign, a.spans.failed, a.spans.zero,
		a.empty, a.spans.overlapping)
	return &Result{
		Dataset: &dataset.Dataset{
			Conversations: dataset.Memory(made), Sampling: dataset.Sequential,
			DefaultContextMode: dataset.MessageArrayWithResponses,
		},
		Notes: []string{note},
	}, nil
}

// combinations lists the harnesses and models of the rows.
func (r *agentReader) combinations() string {
	var pairs []string
	for pair := range r.met {
		pairs = append(pairs, pair.String())
	}
	slices.Sort(pairs)
	if len(pairs) == 0 {
		return "no harness"
	}
	return strings.Join(pairs, ", ")
}

// asList returns a list, as such or as the text of one.
func asList(v any) ([]any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case []any:
		return v, true
	}
	list, ok := decoded(v).([]any)
	return list, ok
}

// asObject returns a value with members: as such, as the text of one, or as a list of keys and values.
func asObject(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case map[string]any:
		for _, pairs := range []string{"key_value", "entries"} {
			if list, ok := v[pairs].([]any); ok && len(v) == 1 {
				return asObject(list)
			}
		}
		return v, true
	case []any:
		out := map[string]any{}
		for _, item := range v {
			pair, _ := item.(map[string]any)
			key, ok := pair["key"].(string)
			if !ok {
				return nil, false
			}
			out[key] = pair["value"]
		}
		return out, true
	}
	o, ok := decoded(v).(map[string]any)
	return o, ok
}

// decoded returns the value of a JSON text, nil if it is none.
func decoded(v any) (value any) {
	text, ok := v.(string)
	if b, is := v.([]byte); is {
		text, ok = string(b), true
	}
	if !ok {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&value) != nil || dec.More() {
		return nil
	}
	return value
}

package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/workload/dataset"
)

const dagJSONL = "dag_jsonl"

// The closed sets of keys of dag_jsonl.
var (
	dagSessionKeys      = []string{"type", "session_id", "turns", "pre_session_spawns", "context_mode", headersKey}
	dagOrchestratorKeys = []string{
		"type", "session_id", "orchestrator", "spawns", "rounds",
		"think_time_ms", "think_time_sigma", "think_time_min_ms", "think_time_max_ms",
	}
	dagRoundKeys = []string{"spawns", "think_time_ms"}
	dagTurnKeys  = []string{"messages", "model", "max_tokens", "tools", "extra", "delay", "forks", "spawns", headersKey}
)

// dag is a dag_jsonl file being read. Children are named before they are known: references are resolved at the end.
type dag struct {
	*load
	// refs are the branches of the conversations by name.
	refs [][]dagBranch
}

// dagBranch is a branch whose children are still names.
type dagBranch struct {
	turn     int // -1: before the first turn
	children []string
	branch   dataset.Branch
}

func readDAG(l *load) error {
	d := &dag{load: l}
	if err := l.eachLine(d.readSession); err != nil {
		return err
	}
	if l.mistaken == 0 {
		d.link()
	}
	return nil
}

// readSession reads one session.
func (d *dag) readSession(line []byte) {
	o, err := parseObject(line)
	if err != nil {
		d.errorf("%v", err)
		return
	}
	c, branches, err := d.session(o)
	if err != nil {
		d.errorf("%v", err)
		return
	}
	if at, twice := d.sessions[c.SessionID]; twice {
		d.errorf("field \"session_id\": %q is already used on line %d", shorten(c.SessionID), d.starts[at])
		return
	}
	d.addSession(c.SessionID)
	d.conversations = append(d.conversations, c)
	d.starts = append(d.starts, d.line)
	d.refs = append(d.refs, branches)
}

// session reads a session with the branches that leave it, whose children are named and looked up when all are read.
// Unknown keys are errors: a misspelt one would change what is sent without a word.
func (d *dag) session(o *object) (c dataset.Conversation, branches []dagBranch, err error) {
	var named string
	if o.has("type") && (json.Unmarshal(o.members["type"], &named) != nil || named != dagJSONL) {
		return c, nil, o.wrong("type", dagJSONL)
	}
	if c.SessionID, err = o.text("session_id"); err != nil {
		return c, nil, err
	}
	if c.SessionID == "" {
		return c, nil, errors.New(`field "session_id" is missing: every session needs one`)
	}
	if o.has("orchestrator") {
		c.Turns, branches, err = orchestrator(o)
		return c, branches, err
	}
	if err := onlyKeys(o, dagSessionKeys); err != nil {
		return c, nil, err
	}
	if c.ContextMode, err = contextMode(o); err != nil {
		return c, nil, err
	}
	if c.Headers, err = d.headers(o); err != nil {
		return c, nil, err
	}
	if o.has("pre_session_spawns") {
		ids, err := o.ids("pre_session_spawns")
		if err != nil {
			return c, nil, err
		}
		branches = append(branches, dagBranch{turn: -1, children: ids})
	}
	turns, err := o.list("turns", "a list of at least one turn")
	if err != nil {
		return c, nil, err
	}
	for i, text := range turns {
		turn, own, err := d.turn(text, i, len(turns))
		if err != nil {
			return c, nil, fmt.Errorf("turns[%d]: %w", i, err)
		}
		c.Turns = append(c.Turns, turn)
		branches = append(branches, own...)
	}
	return c, branches, nil
}

func contextMode(o *object) (dataset.ContextMode, error) {
	text, err := o.text("context_mode")
	switch mode := dataset.ContextMode(text); {
	case err != nil:
		return "", err
	case mode == "" || mode == dataset.DeltasWithoutResponses || mode == dataset.DeltasWithResponses ||
		mode == dataset.MessageArrayWithResponses:
		return mode, nil
	}
	return "", o.wrong("context_mode",
		fmt.Sprintf("%s, %s or %s", dataset.DeltasWithoutResponses, dataset.DeltasWithResponses,
			dataset.MessageArrayWithResponses))
}

// turn reads turn i of n.
func (d *dag) turn(text []byte, i, n int) (t dataset.Turn, branches []dagBranch, err error) {
	o, err := parseObject(text)
	if err != nil {
		return t, nil, err
	}
	if err := onlyKeys(o, dagTurnKeys); err != nil {
		return t, nil, err
	}
	if t.RawMessages, err = o.list("messages", "a list of at least one message"); err != nil {
		return t, nil, err
	}
	for j, message := range t.RawMessages {
		if err := checkMessage(message); err != nil {
			return t, nil, fmt.Errorf("messages[%d]: %w", j, err)
		}
	}
	var errs [7]error
	t.Model, errs[0] = o.text("model")
	t.MaxTokens, errs[1] = o.positive("max_tokens")
	t.DelayMS, errs[2] = o.milliseconds("delay")
	t.Extra, errs[3] = o.fields("extra")
	if o.has("tools") && json.Unmarshal(o.members["tools"], &t.RawTools) != nil {
		errs[4] = o.wrong("tools", "a list of tools")
	}
	branches, errs[5] = dagBranches(o, i, n)
	t.Headers, errs[6] = d.headers(o)
	for _, err := range errs {
		if err != nil {
			return t, nil, err
		}
	}
	return t, branches, nil
}

func checkMessage(text []byte) error {
	o, err := parseObject(text)
	if err != nil {
		return err
	}
	if role, err := o.text("role"); err != nil || role == "" {
		return errors.New(`field "role" is missing: a message says who speaks, such as "user"`)
	}
	return nil
}

// dagBranches reads what begins after turn i of n.
func dagBranches(o *object, i, n int) (branches []dagBranch, err error) {
	if o.has("spawns") {
		if branches, err = spawns(o, i, n); err != nil {
			return nil, err
		}
	}
	if !o.has("forks") {
		return branches, nil
	}
	items, err := o.list("forks", "a list of at least one child")
	if err != nil {
		return nil, err
	}
	// Foreground children and background children are one branch each.
	groups := []dagBranch{
		{turn: i, branch: dataset.Branch{Fork: true}},
		{turn: i, branch: dataset.Branch{Fork: true, Background: true}},
	}
	for j, item := range items {
		child, background, err := fork(item)
		switch {
		case err != nil:
			return nil, fmt.Errorf("forks[%d]: %w", j, err)
		case !background && i < n-1:
			return nil, fmt.Errorf("forks[%d]: %q is forked in the foreground by a turn that is not the last: fork it "+
				`on turn %d, or give {"child":%q,"background":true}`, j, shorten(child), n-1, shorten(child))
		}
		at := 0
		if background {
			at = 1
		}
		groups[at].children = append(groups[at].children, child)
	}
	for _, g := range groups {
		if len(g.children) > 0 {
			branches = append(branches, g)
		}
	}
	return branches, nil
}

// fork reads a child of "forks".
func fork(item []byte) (child string, background bool, err error) {
	if json.Unmarshal(item, &child) == nil && child != "" {
		return child, false, nil
	}
	o, err := parseObject(item)
	if err != nil {
		return "", false, fmt.Errorf("want the id of a session or an object, got %s", shorten(string(item)))
	}
	if err := onlyKeys(o, []string{"child", "background"}); err != nil {
		return "", false, err
	}
	if child, err = o.text("child"); err != nil || child == "" {
		return "", false, errors.New(`field "child" is missing: want the id of a session`)
	}
	if o.has("background") && json.Unmarshal(o.members["background"], &background) != nil {
		return "", false, o.wrong("background", "true or false")
	}
	return child, background, nil
}

// spawns reads the children that begin after turn i of n, with an empty history.
func spawns(o *object, i, n int) (branches []dagBranch, err error) {
	items, err := o.list("spawns", "a list of at least one child")
	if err != nil {
		return nil, err
	}
	next := 0 // nothing waits after the last turn but the end of the session
	if i < n-1 {
		next = i + 1
	}
	plain := dagBranch{turn: i, branch: dataset.Branch{JoinAt: next}}
	for j, item := range items {
		var child string
		if json.Unmarshal(item, &child) == nil && child != "" {
			plain.children = append(plain.children, child)
			continue
		}
		group, err := spawnGroup(item, i, n)
		if err != nil {
			return nil, fmt.Errorf("spawns[%d]: %w", j, err)
		}
		if group.branch.JoinAt == 0 {
			group.branch.JoinAt = next
		}
		branches = append(branches, group)
	}
	if len(plain.children) > 0 {
		branches = slices.Insert(branches, 0, plain)
	}
	return branches, nil
}

// spawnGroup reads children that begin with turn i of n and may be joined at a later one.
func spawnGroup(item []byte, i, n int) (g dagBranch, err error) {
	o, err := parseObject(item)
	if err != nil {
		return g, fmt.Errorf("want the id of a session or an object, got %s", shorten(string(item)))
	}
	if err := onlyKeys(o, []string{"children", "join_at"}); err != nil {
		return g, err
	}
	g.turn = i
	if g.children, err = o.ids("children"); err != nil {
		return g, err
	}
	if !o.has("join_at") {
		return g, nil
	}
	at, err := o.positive("join_at")
	if err != nil || *at <= i || *at >= n {
		return g, o.wrong("join_at", fmt.Sprintf("a later turn of the session, above %d and below %d", i, n))
	}
	g.branch.JoinAt = *at
	return g, nil
}

// onlyKeys refuses what is not in a closed set of keys.
func onlyKeys(o *object, known []string) error {
	for _, key := range o.keys {
		if !slices.Contains(known, key) {
			return fmt.Errorf("the key %q is unknown: want only %s", shorten(key), strings.Join(known, ", "))
		}
	}
	return nil
}

// list returns a list with at least one element.
func (o *object) list(key, want string) (items []json.RawMessage, err error) {
	switch {
	case !o.has(key):
		return nil, fmt.Errorf("field %q is missing: want %s", key, want)
	case json.Unmarshal(o.members[key], &items) != nil || len(items) == 0:
		return nil, o.wrong(key, want)
	}
	return items, nil
}

// ids returns a list of at least one session id.
func (o *object) ids(key string) (ids []string, err error) {
	const want = "a list of at least one session id"
	switch {
	case !o.has(key):
		return nil, fmt.Errorf("field %q is missing: want %s", key, want)
	case json.Unmarshal(o.members[key], &ids) != nil || len(ids) == 0 || slices.Contains(ids, ""):
		return nil, o.wrong(key, want)
	}
	return ids, nil
}

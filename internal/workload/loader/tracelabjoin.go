package loader

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/workload/recipe"
)

// agentTrace is what is played as one recording: a session and the sessions of its sub-agents, with the instants at
// which they were called.
type agentTrace struct {
	session *agentSession
	agents  []*agentSession
	called  []time.Time
}

// agentCall is a window of a session in which a sub-agent may have run. The zero value is none.
type agentCall struct{ from, to time.Time }

func (c agentCall) known() bool { return !c.from.IsZero() && !c.to.IsZero() }

// holds reports whether a session lies within the call; its ends belong to it.
func (c agentCall) holds(s *agentSession) bool { return !s.first.Before(c.from) && !s.last.After(c.to) }

// tools reads the calls of a row.
func (s *agentSession) tools(o *object, options *recipe.TraceLab) error {
	var tools []struct {
		Name    string   `json:"tool_name"`
		Emitted string   `json:"emitted_at"`
		Result  string   `json:"result_at"`
		TookMS  *float64 `json:"tool_wall_latency_ms"`
	}
	if o.has("tools") && json.Unmarshal(o.members["tools"], &tools) != nil {
		return o.wrong("tools", "a list of objects with tool_name, emitted_at, result_at and tool_wall_latency_ms")
	}
	for _, t := range tools {
		var call agentCall
		for _, stamp := range []struct {
			text string
			to   *time.Time
		}{{t.Emitted, &call.from}, {t.Result, &call.to}} {
			if stamp.text == "" {
				continue
			}
			at, err := scalar.Instant(stamp.text)
			if err != nil {
				return fmt.Errorf(`field "tools": %w`, err)
			}
			s.covers(at)
			*stamp.to = at
		}
		s.addCall(t.Name, call, t.TookMS, options)
	}
	return nil
}

// addCall notes a call if it may be that of a sub-agent. Codex calls agents, goes on and waits for them later: which
// wait belongs to which call is not recorded, so that a session has one window for all of them.
func (s *agentSession) addCall(tool string, call agentCall, tookMS *float64, options *recipe.TraceLab) {
	if s.provider == "codex" {
		switch {
		case tool == "spawn_agent" && !call.from.IsZero() && (s.codex.from.IsZero() || call.from.Before(s.codex.from)):
			s.codex.from = call.from
		case tool == "wait_agent":
			s.codex.to = later(s.codex.to, call.to)
		}
		return
	}
	if (tool == "Agent" || tool == "Task") && tookMS != nil && *tookMS >= inMilliseconds(options.MinSpawn) &&
		call.known() {
		s.calls = append(s.calls, call)
	}
}

// windows returns the calls of a session in which sub-agents are looked for.
func (s *agentSession) windows(options *recipe.TraceLab) []agentCall {
	if s.provider != "codex" {
		return s.calls
	}
	if options.JoinCodex && s.codex.known() && s.codex.to.After(s.codex.from) {
		return []agentCall{s.codex}
	}
	return nil
}

// traces joins sub-agents to their parents. Only one level is: a session whose parent is a child stands alone.
func (l agentTraces) traces(sessions []*agentSession) []*agentTrace {
	for _, s := range sessions {
		s.inOrder()
	}
	parents := map[*agentSession]agentLink{}
	if l.options.TraceLab.Join {
		parents = linkSessions(sessions, &l.options.TraceLab)
	}
	traces := make([]*agentTrace, 0, len(sessions))
	of := map[*agentSession]*agentTrace{}
	var children []*agentSession
	for _, s := range sessions {
		link, linked := parents[s]
		if _, nested := parents[link.parent]; linked && !nested {
			if calledBefore(link) {
				l.warnings = append(l.warnings, fmt.Sprintf(
					"%s:%d: the session %q was called before the first round of %q and is played alone",
					l.path, s.line, shorten(s.id), shorten(link.parent.id)))
			} else {
				children = append(children, s)
				continue
			}
		}
		t := &agentTrace{session: s}
		of[s] = t
		traces = append(traces, t)
	}
	slices.SortStableFunc(children, func(a, b *agentSession) int {
		return parents[a].call.from.Compare(parents[b].call.from)
	})
	for _, s := range children {
		t := of[parents[s].parent]
		t.agents, t.called = append(t.agents, s), append(t.called, parents[s].call.from)
	}
	if len(children) > 0 {
		l.notef("%d of %d sessions are sub-agents of others, recognised by their times: "+
			"AIPERF_DATASET_TRACELAB_SUBAGENT_JOIN=false plays them alone", len(children), len(sessions))
	}
	return traces
}

// agentLink is the parent of a session and the call within which it ran.
type agentLink struct {
	parent *agentSession
	call   agentCall
}

// calledBefore reports whether the call lies before all requests of the parent, so that none can be waited for.
func calledBefore(link agentLink) bool { return link.call.from.Before(link.parent.rounds[0].submitted) }

// linkSessions finds the parents of sessions: of the calls of the same user in the same project that hold a session
// whole, the shortest, then the earliest, then that of the first parent by id.
func linkSessions(sessions []*agentSession, options *recipe.TraceLab) map[*agentSession]agentLink {
	type owner struct{ user, project string }
	links := map[owner][]agentLink{}
	for _, s := range sessions {
		for _, call := range s.windows(options) {
			o := owner{s.user, s.project}
			links[o] = append(links[o], agentLink{s, call})
		}
	}
	found := map[*agentSession]agentLink{}
	for _, of := range links {
		slices.SortFunc(of, func(a, b agentLink) int {
			return cmp.Or(cmp.Compare(a.call.to.Sub(a.call.from), b.call.to.Sub(b.call.from)),
				a.call.from.Compare(b.call.from), cmp.Compare(a.parent.id, b.parent.id))
		})
	}
	for _, s := range sessions {
		for _, link := range links[owner{s.user, s.project}] {
			if link.parent != s && link.call.holds(s) {
				found[s] = link
				break
			}
		}
	}
	return found
}

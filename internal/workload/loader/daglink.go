package loader

import (
	"encoding/json"
	"strings"

	"aiperf/internal/workload/dataset"
)

// maxTree bounds the sessions that grow out of one root.
const maxTree = 1_000_000

// link resolves the names of children, checks what only the whole file shows, and finds the roots.
func (d *dag) link() {
	var (
		n          = len(d.conversations)
		forkedBy   = make([]int, n) // line of the fork, 0 = none
		before     = make([]bool, n)
		referenced = make([]int, n)
	)
	for at := range d.conversations {
		d.line = d.starts[at]
		for _, ref := range d.refs[at] {
			d.resolve(at, ref, forkedBy, before, referenced)
		}
	}
	for at := range d.conversations {
		d.line = d.starts[at]
		if before[at] && forkedBy[at] > 0 {
			d.errorf("session %q is spawned before a session and forked on line %d: it can be one of both",
				shorten(d.conversations[at].SessionID), forkedBy[at])
		}
		d.checkSystem(at, forkedBy[at] > 0)
	}
	if d.mistaken > 0 {
		return
	}
	d.capDelays()
	for at := range d.conversations {
		if referenced[at] == 0 {
			d.roots = append(d.roots, at)
		}
	}
	d.checkTrees(referenced)
}

// capDelays keeps waits within the user's limit.
func (d *dag) capDelays() {
	most := d.options.MaxDelayMS
	for i := range d.conversations {
		for j := range d.conversations[i].Turns {
			if t := &d.conversations[i].Turns[j]; most != nil && t.DelayMS != nil && *t.DelayMS > *most {
				t.DelayMS = most
			}
		}
	}
}

// resolve turns a branch of names into one of indices.
func (d *dag) resolve(at int, ref dagBranch, forkedBy []int, before []bool, referenced []int) {
	b := ref.branch
	for _, name := range ref.children {
		child, known := d.sessions[name]
		switch {
		case !known:
			d.errorf("session %q is unknown: no line has this session_id", shorten(name))
			continue
		case b.Fork && forkedBy[child] > 0:
			d.errorf("session %q is forked on line %d already: a fork has one parent", shorten(name), forkedBy[child])
			continue
		case b.Fork:
			forkedBy[child] = d.line
		case ref.turn < 0:
			before[child] = true
		}
		referenced[child]++
		b.Children = append(b.Children, child)
	}
	c := &d.conversations[at]
	if ref.turn < 0 {
		c.Before = append(c.Before, b.Children...)
		return
	}
	turn := &c.Turns[ref.turn]
	turn.Branches = append(turn.Branches, b)
}

// checkSystem refuses system messages where a history stands before them.
func (d *dag) checkSystem(at int, forked bool) {
	for i := range d.conversations[at].Turns {
		if i == 0 && !forked {
			continue
		}
		for _, text := range d.conversations[at].Turns[i].RawMessages {
			var message struct{ Role string }
			if json.Unmarshal(text, &message) == nil && message.Role == "system" {
				d.errorf("turns[%d]: a system message is allowed only in the first turn of a root or spawned session",
					i)
			}
		}
	}
}

// children returns all that grow directly out of a conversation.
func children(c *dataset.Conversation) []int {
	all := append([]int(nil), c.Before...)
	for i := range c.Turns {
		for _, b := range c.Turns[i].Branches {
			all = append(all, b.Children...)
		}
	}
	return all
}

// checkTrees refuses cycles and trees without measure. It takes conversations away that nothing refers to any more,
// parents first; referenced counts the references and is used up.
func (d *dag) checkTrees(referenced []int) {
	order := append([]int(nil), d.roots...)
	for i := 0; i < len(order); i++ {
		for _, child := range children(&d.conversations[order[i]]) {
			if referenced[child]--; referenced[child] == 0 {
				order = append(order, child)
			}
		}
	}
	if len(order) < len(d.conversations) {
		d.reportCycle(referenced)
		return
	}
	size := make([]int, len(d.conversations))
	for i := len(order) - 1; i >= 0; i-- {
		at := order[i]
		size[at] = 1
		for _, child := range children(&d.conversations[at]) {
			size[at] = min(size[at]+size[child], maxTree+1)
		}
	}
	for _, root := range d.roots {
		if size[root] > maxTree {
			d.line = d.starts[root]
			d.errorf("more than %d sessions grow out of session %q: leave some branches out", maxTree,
				shorten(d.conversations[root].SessionID))
		}
	}
}

// reportCycle names one cycle among the conversations that something still refers to.
func (d *dag) reportCycle(referenced []int) {
	// Every such conversation has a parent among them: going up long enough ends in a cycle.
	parent := map[int]int{}
	for at := range d.conversations {
		if referenced[at] == 0 {
			continue
		}
		for _, child := range children(&d.conversations[at]) {
			parent[child] = at
		}
	}
	at := -1
	for child := range d.conversations {
		if referenced[child] > 0 {
			at = child
			break
		}
	}
	seen := map[int]bool{}
	for !seen[at] {
		seen[at] = true
		at = parent[at]
	}
	const shown = 20
	path := []string{d.conversations[at].SessionID}
	for up := parent[at]; up != at && len(path) < shown; up = parent[up] {
		path = append([]string{d.conversations[up].SessionID}, path...)
	}
	path = append(path, path[0])
	d.line = d.starts[at]
	d.errorf("the sessions form a cycle: %s", shorten(strings.Join(path, " → ")))
}

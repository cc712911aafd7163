package loader

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/workload/dataset"
)

// sessionTree makes conversations of one recording.
type sessionTree struct {
	*load
	// ends are when the conversations had their last answers.
	ends map[int]float64
	// models maps those of the recording to those of the run.
	models map[string]string
}

func newTree(l *load) *sessionTree {
	return &sessionTree{load: l, ends: map[int]float64{}, models: map[string]string{}}
}

// chain is a run of requests each of which continues the one before.
type chain struct {
	requests []recordedRequest
	// parent is the chain from which it branched off, -1 for the first; shared is how many blocks it has in common
	// with it.
	parent, shared int
	// conversation is where it is played.
	conversation int
}

func (c *chain) last() *recordedRequest { return &c.requests[len(c.requests)-1] }

// end returns when the last request of the chain had its answer.
func (c *chain) end() (end float64) {
	for _, r := range c.requests {
		end = math.Max(end, r.end)
	}
	return end
}

// before returns the turn that began last before an instant, -1 if none did.
func (c *chain) before(at float64) int {
	found := -1
	for i := range c.requests {
		if c.requests[i].at <= at {
			found = i
		}
	}
	return found
}

// from returns the first turn from an instant on, 0 if there is none: nothing waits for what ends then.
func (c *chain) from(at float64, after int) int {
	for i := after + 1; i < len(c.requests); i++ {
		if c.requests[i].at >= at {
			return i
		}
	}
	return 0
}

func (t *sessionTree) root(id string, requests []recordedRequest, agents []recordedAgent) {
	if len(requests) == 0 {
		t.notef("the recording %q has no requests of its own and is left out", shorten(id))
		return
	}
	t.roots = append(t.roots, len(t.conversations))
	main := t.play(id, requests)
	for i := range agents {
		t.callAgent(id, main, &agents[i])
	}
	t.setDelays(main)
}

// play makes conversations of a list of requests and returns its first chain.
func (t *sessionTree) play(id string, requests []recordedRequest) *chain {
	chains := []*chain{{requests: requests, parent: -1}}
	if t.options.Weka.Split {
		chains = t.split(requests)
	}
	names := newChainNames(id, &t.options.Weka, chains)
	for i, c := range chains {
		c.conversation = t.conversationOf(names.of(i), c.requests).conversation
	}
	for _, c := range chains[1:] {
		parent := chains[c.parent]
		after := max(0, parent.before(c.requests[0].at))
		t.branch(parent, c, after, parent.from(c.end(), after))
	}
	for _, c := range chains[1:] {
		t.setDelays(c)
	}
	return chains[0]
}

// conversationOf makes one conversation of a list of requests.
func (t *sessionTree) conversationOf(name string, requests []recordedRequest) *chain {
	conversation := t.conversation(name)
	c := &chain{requests: requests, parent: -1, conversation: len(t.conversations) - 1}
	t.ends[c.conversation] = c.end()
	for i := range requests {
		turn := requests[i].asTurn()
		turn.Model = t.model(requests[i].model)
		conversation.Turns = append(conversation.Turns, turn)
	}
	return c
}

// callAgent makes an agent begin after the turn before its call; the turn after waits for it.
func (t *sessionTree) callAgent(id string, main *chain, a *recordedAgent) {
	after := main.before(a.at)
	if after < 0 || len(a.requests) == 0 {
		t.dropped.agents++
		return
	}
	name := id + "::sa:" + a.id
	for n := 2; t.known(name); n++ {
		name = fmt.Sprintf("%s::sa:%s:%d", id, a.id, n)
	}
	child := t.play(name, a.requests)
	join := 0
	if after+1 < len(main.requests) {
		join = after + 1
	}
	t.branch(main, child, after, join)
	t.setDelays(child)
}

func (t *sessionTree) known(session string) bool {
	_, ok := t.sessions[session]
	return ok
}

// branch makes a chain begin after a turn of another one; join is the turn that waits for it, 0: none does.
func (t *sessionTree) branch(parent, child *chain, after, join int) {
	first := &t.conversations[child.conversation].Turns[0]
	first.DelayMS = t.delay(child.requests[0].at-parent.requests[after].end, &child.requests[0])
	turn := &t.conversations[parent.conversation].Turns[after]
	for i := range turn.Branches {
		if b := &turn.Branches[i]; b.JoinAt == join {
			b.Children = append(b.Children, child.conversation)
			return
		}
	}
	turn.Branches = append(turn.Branches,
		dataset.Branch{Children: []int{child.conversation}, JoinAt: join, Background: join == 0})
}

// setDelays gives the turns of a chain their delays: the recorded pause from the last of what they waited for.
func (t *sessionTree) setDelays(c *chain) {
	turns := t.conversations[c.conversation].Turns
	waited := make([]float64, len(turns))
	for i := range turns {
		for _, b := range turns[i].Branches {
			if b.JoinAt > 0 {
				waited[b.JoinAt] = math.Max(waited[b.JoinAt], t.endOf(b.Children))
			}
		}
	}
	for i := 1; i < len(turns); i++ {
		r := &c.requests[i]
		turns[i].DelayMS = t.delay(r.at-math.Max(c.requests[i-1].end, waited[i]), r)
	}
}

// endOf returns when the last of some conversations, and of what they wait for, had its answer.
func (t *sessionTree) endOf(conversations []int) (end float64) {
	for _, c := range conversations {
		end = math.Max(end, t.ends[c])
	}
	return end
}

// delay returns a recorded pause as it is replayed.
func (t *sessionTree) delay(pause float64, r *recordedRequest) *float64 {
	if t.options.ThinkOnly {
		pause = r.think
	}
	ms := math.Max(0, pause) * 1000
	if t.options.MaxDelayMS != nil {
		ms = math.Min(ms, *t.options.MaxDelayMS)
	}
	return &ms
}

// modelNamed is [sessionTree.model], but a model that the run names stands for itself.
func (t *sessionTree) modelNamed(recorded string) string {
	if slices.Contains(t.options.Models, recorded) {
		return recorded
	}
	return t.model(recorded)
}

// model returns that of the run for one of the recording: in the order in which they appear.
func (t *sessionTree) model(recorded string) string {
	if len(t.options.Models) == 0 {
		return ""
	}
	if _, known := t.models[recorded]; !known {
		t.models[recorded] = t.options.Models[len(t.models)%len(t.options.Models)]
	}
	return t.models[recorded]
}

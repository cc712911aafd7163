package dataset

// Branch is a group of conversations that begin when a turn has returned.
type Branch struct {
	// Children are indices of Dataset.Conversations.
	Children []int
	// Fork children inherit the history of their parent, others begin empty.
	Fork bool
	// JoinAt is the turn of the parent that waits for the children; 0: none does.
	JoinAt int
	// Background children are not waited for where the parent itself is.
	Background bool
}

// Think is a random wait of an orchestrator: lognormal around its median, within limits.
type Think struct {
	MedianMS, Sigma float64
	// MinMS and MaxMS are nil without a limit.
	MinMS, MaxMS *float64
}

// RootCount returns the number of conversations that sessions take.
func (d *Dataset) RootCount() int {
	if d.Roots != nil {
		return len(d.Roots)
	}
	return d.Len()
}

// RootAt returns the index of the i-th conversation that sessions take.
func (d *Dataset) RootAt(i int) int {
	if d.Roots != nil {
		return d.Roots[i]
	}
	return i
}

// HasJobs reports whether any session has more than one request: several turns, or children.
func (d *Dataset) HasJobs() bool {
	if d.Branches() {
		return true
	}
	for i := range d.Len() {
		if d.TurnsOf(i) > 1 {
			return true
		}
	}
	return false
}

// Branching reports whether other conversations grow out of this one, or some of its turns send nothing.
func (c *Conversation) Branching() bool {
	if len(c.Before) > 0 {
		return true
	}
	for i := range c.Turns {
		if c.Turns[i].Silent || len(c.Turns[i].Branches) > 0 {
			return true
		}
	}
	return false
}

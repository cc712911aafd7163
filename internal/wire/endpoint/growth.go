package endpoint

import (
	"bytes"
	"slices"
)

// growth recognises streams whose events repeat all that was said so far. Where each of the first events is longer than
// the last one and begins with it, only the last text counts. The texts are joined until that is certain, so that
// nothing is lost of a stream that says what it seems to repeat.
type growth struct {
	// texts is the number of events of a chain; negative once a text did not begin with the one before.
	texts int
	// base is where the first text begins in the output and in the reasoning, last where the last one does.
	base, last [2]int
	// repeated are the instants of events that added nothing.
	repeated []int64
}

// A chain of minChain texts is cumulative if the stream ends with it, one of sureChain texts in any case.
const (
	minChain  = 3
	sureChain = 8
)

// grow examines the texts of an event, which are what the output and the reasoning have from these places on. The
// event was counted as a content response if it has any.
func (r *Reply) grow(output, reasoning int, atNS int64) {
	g, now := &r.growth, [2]int{output, reasoning}
	if g.texts < 0 || len(r.Output) == output && len(r.Reasoning) == reasoning {
		return
	}
	if g.texts == 0 {
		g.base, g.last = now, now
		if g.texts = 1; output+reasoning+len(r.tools) > 0 {
			g.texts = -1
		}
		return
	}
	said, thought := r.Output[g.last[0]:output], r.Reasoning[g.last[1]:reasoning]
	begins := bytes.HasPrefix(r.Output[output:], said) && bytes.HasPrefix(r.Reasoning[reasoning:], thought)
	longer := len(r.Output)-output > len(said) || len(r.Reasoning)-reasoning > len(thought)
	switch {
	case begins && longer:
		g.texts, g.last = g.texts+1, now
		if g.texts >= sureChain {
			r.collapse()
		}
	case g.texts >= sureChain && !begins:
		g.last = now // a text of its own
	case g.texts >= minChain && begins:
		r.Output, r.Reasoning = r.Output[:output], r.Reasoning[:reasoning]
		r.ContentNS, g.repeated = r.ContentNS[:len(r.ContentNS)-1], append(g.repeated, atNS)
	default:
		for _, at := range g.repeated { // they were words
			r.Output = slices.Insert(r.Output, output, said...)
			r.Reasoning = slices.Insert(r.Reasoning, reasoning, thought...)
			r.ContentNS = append(r.ContentNS, at)
		}
		slices.Sort(r.ContentNS)
		g.texts = -1
	}
}

// collapse keeps the last text of the chain alone.
func (r *Reply) collapse() {
	g := &r.growth
	r.Output = slices.Delete(r.Output, g.base[0], g.last[0])
	r.Reasoning = slices.Delete(r.Reasoning, g.base[1], g.last[1])
	g.last, r.Cumulative = g.base, true
}

// settle decides on a chain when the stream is over.
func (r *Reply) settle() {
	if g := &r.growth; g.texts >= minChain && g.texts < sureChain {
		r.collapse()
		g.texts = sureChain
	}
}

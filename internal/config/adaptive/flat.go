package adaptive

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
)

// Flat is a phase with all settings of its search in flat keys: the block becomes a switch, the limits become a list.
// What is wrong in them stays as it is: [Parse] reports it.
func Flat(phase *document.Node) *document.Node {
	out := phase.Clone()
	faulty := false
	r := &reader{report: func(*document.Node, string, string, ...any) { faulty = true }}
	block := phase.Get(keyBlock)
	if given(block) && block.Kind == document.Map {
		r.block = block
		on := document.Of(true)
		if n := block.Get("enabled"); n != nil {
			on = document.Of(r.enabled(n, ""))
		}
		on.Pos = block.Pos
		out.Set(keyBlock, on)
	}
	for _, k := range keys {
		if v := r.find(phase, k); v != nil {
			out.Set(k.flat, v.node.Clone())
		}
	}
	limits := r.limits(phase)
	if faulty {
		return phase
	}
	if limits == nil {
		return out
	}
	list := &document.Node{Kind: document.List}
	for _, l := range limits {
		list.Items = append(list.Items, document.Of(artifact.Object{{Key: "metric_tag", Value: l.Metric},
			{Key: "stat", Value: l.Stat}, {Key: "op", Value: l.Op}, {Key: "threshold", Value: l.Threshold}}))
	}
	if n := phase.Get(keySLA); given(n) {
		list.Pos = n.Pos
	} else if n := block.Get(keySLA); given(n) {
		list.Pos = n.Pos
	}
	out.Set(keySLA, list)
	return out
}

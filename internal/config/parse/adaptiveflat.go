package parse

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
)

// FlatAdaptive is a phase with all settings of its search in flat keys: the block becomes a switch, the limits become a
// list. What is wrong in them stays as it is: [Adaptive] reports it.
func FlatAdaptive(phase *document.Node) *document.Node {
	out := phase.Clone()
	faulty := false
	r := &adaptiveReader{report: func(*document.Node, string, string, ...any) { faulty = true }}
	block := phase.Get(keyAdaptive)
	if given(block) {
		on := true
		switch n := block.Get("enabled"); {
		case block.Kind != document.Map:
			on = r.enabled(block, "")
		case n != nil:
			on = r.enabled(n, "")
		}
		if block.Kind == document.Map {
			r.block = block
		}
		out.Set(keyAdaptive, &document.Node{Kind: document.Bool, Pos: block.Pos, Origin: block.Origin, Scalar: on,
			Written: fmt.Sprint(on)})
	}
	for _, k := range adaptiveKeys {
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

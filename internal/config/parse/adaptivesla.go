package parse

import (
	"cmp"
	"slices"
	"strings"

	"aiperf/internal/config/document"
	"aiperf/internal/load"
)

// limits returns the limits of a phase and of its block.
func (r *adaptiveReader) limits(phase *document.Node) (all []load.SLA) {
	own, inBlock := phase.Get(keySLA), r.block.Get(keySLA)
	if given(own) && given(inBlock) {
		r.report(inBlock, document.Path(r.blockPath, keySLA), "the phase has an sla of its own, %s: give one of them",
			document.Path(r.path, keySLA))
		return nil
	}
	n, path := own, document.Path(r.path, keySLA)
	if given(inBlock) {
		n, path = inBlock, document.Path(r.blockPath, keySLA)
	}
	if !given(n) {
		return nil
	}
	switch n.Kind {
	case document.List:
		for i, item := range n.Items {
			all = r.appendItem(all, item, document.Index(path, i))
		}
	case document.Map:
		for _, metric := range n.Members {
			all = r.appendMetric(all, metric, document.Path(path, metric.Key))
		}
	default:
		r.report(n, path, "must be a list of limits or a mapping metric: {statistic: {comparison: number}}, got %s",
			n.Kind)
	}
	return all
}

func given(n *document.Node) bool { return n != nil && n.Kind != document.Null }

// itemKeys are the keys of a limit in a list.
var itemKeys = []string{"metric_tag", "stat", "op", "threshold"}

// defaultStat is the statistic of a limit in a list that names none.
const defaultStat = "p95"

// appendItem reads a limit of a list.
func (r *adaptiveReader) appendItem(all []load.SLA, n *document.Node, path string) []load.SLA {
	if n.Kind != document.Map {
		r.report(n, path, "must be a mapping with the keys %s, got %s", strings.Join(itemKeys, ", "), n.Kind)
		return all
	}
	r.checkMembers(n, path, itemKeys)
	sla, complete := load.SLA{Stat: defaultStat}, true
	for _, m := range []struct {
		key  string
		into *string
	}{{"metric_tag", &sla.Metric}, {"stat", &sla.Stat}, {"op", &sla.Op}} {
		v := n.Get(m.key)
		switch {
		case given(v) && v.Kind == document.Text:
			*m.into = v.Written
		case given(v):
			r.report(v, document.Path(path, m.key), "must be a text, got %s", v.Kind)
			complete = false
		case *m.into == "":
			r.report(n, document.Path(path, m.key), "is missing: a limit has the keys %s", strings.Join(itemKeys, ", "))
			complete = false
		}
	}
	threshold := n.Get("threshold")
	if !given(threshold) {
		r.report(n, document.Path(path, "threshold"), "is missing: a limit has the keys %s",
			strings.Join(itemKeys, ", "))
		return all
	}
	if !complete {
		return all
	}
	return r.appendLimit(all, sla, threshold, words{n.Get("metric_tag"), cmp.Or(n.Get("stat"), n), n.Get("op")}, path)
}

// words are the nodes of the metric, the statistic and the comparison of a limit.
type words struct{ metric, stat, op *document.Node }

// wordOf is the node of a key.
func wordOf(m document.Member) *document.Node {
	return &document.Node{Kind: document.Text, Pos: m.Pos, Scalar: m.Key, Written: m.Key}
}

// appendMetric reads the limits of a metric of a map.
func (r *adaptiveReader) appendMetric(all []load.SLA, metric document.Member, path string) []load.SLA {
	if metric.Value.Kind != document.Map {
		r.report(metric.Value, path, "must be a mapping statistic: {comparison: number}, such as {p95: {le: 500}}, "+
			"got %s", metric.Value.Kind)
		return all
	}
	for _, stat := range metric.Value.Members {
		at := document.Path(path, stat.Key)
		if stat.Value.Kind != document.Map {
			r.report(stat.Value, at, "must be a mapping comparison: number, such as {le: 500}, got %s", stat.Value.Kind)
			continue
		}
		for _, op := range stat.Value.Members {
			sla := load.SLA{Metric: metric.Key, Stat: stat.Key, Op: op.Key}
			all = r.appendLimit(all, sla, op.Value, words{wordOf(metric), wordOf(stat), wordOf(op)},
				document.Path(at, op.Key))
		}
	}
	return all
}

// appendLimit adds a limit whose words and number are right.
func (r *adaptiveReader) appendLimit(
	all []load.SLA, sla load.SLA, threshold *document.Node, at words, path string,
) []load.SLA {
	v := &adaptiveValue{r, threshold, path}
	var ok bool
	if sla.Threshold, ok = v.number(); !ok {
		return all
	}
	for _, word := range []struct {
		what, is string
		node     *document.Node
		known    []string
	}{
		{"metric", sla.Metric, at.metric, load.SLAMetrics()}, {"statistic", sla.Stat, at.stat, load.SLAStats()},
		{"comparison", sla.Op, at.op, load.SLAOps()},
	} {
		if !slices.Contains(word.known, word.is) {
			r.report(word.node, path, "unknown %s %q%s; known are %s", word.what, word.is, meant(word.is, word.known),
				strings.Join(word.known, ", "))
			return all
		}
	}
	return append(all, sla)
}

package metrics

import (
	"fmt"
	"slices"
)

// section is a part of the catalogue.
type section struct {
	title string
	rows  []Definition
}

// sections are the catalogue; they are never changed.
var sections = func() []section {
	list := []section{
		{"Streaming", streamingTable()},
		{"Tokens", tokenTable()},
		{"Reasoning", reasoningTable()},
		{"Images, audio and video", mediaTable()},
		{"Usage reported by the server", usageTable()},
		{"Token count mismatches", mismatchTable()},
		{"Speculative decoding", specDecodeTable()},
		{"Prefix cache", prefixTable()},
		{"General", generalTable()},
		{"Failed requests", errorTable()},
		{"Jobs", jobTable()},
		{"Goodput", goodputTable()},
		{"Cost", costTable()},
		{"HTTP trace", traceTable()},
		{"Waiting before the send", waitingTable()},
		{"Fixed schedule", scheduleTable()},
		{"Concurrency and throughput over time", timelineTable()},
	}
	var all []Definition
	for _, s := range list {
		all = append(all, s.rows...)
	}
	return append(list,
		section{"Failures counted as infinitely slow", errorAdjustedTable(all)},
		section{"Network latency taken off", networkTable(all)})
}()

// table is the metric table in catalogue order.
var table = func() []Definition {
	var all []Definition
	for _, s := range sections {
		all = append(all, s.rows...)
	}
	return all
}()

// Table returns every metric this program computes, in catalogue order, which is the order of results.
func Table() []Definition { return slices.Clone(table) }

// Lookup returns a metric by its tag: one of the table, or a share of graded answers.
func Lookup(tag string) (Definition, bool) {
	for i := range table {
		if table[i].Tag == tag {
			return table[i], true
		}
	}
	return accuracy(tag)
}

// evaluationOrder returns the indices of defs such that every metric follows those it depends on. An
// unknown dependency, a cycle, or a dependency on a later stage of computing is an error.
func evaluationOrder(defs []Definition) ([]int, error) {
	index := make(map[string]int, len(defs))
	for i := range defs {
		if _, twice := index[defs[i].Tag]; twice {
			return nil, fmt.Errorf("metric %s is defined twice", defs[i].Tag)
		}
		index[defs[i].Tag] = i
	}
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(defs))
	var order []int
	var visit func(i int) error
	visit = func(i int) error {
		d := &defs[i]
		switch state[i] {
		case open:
			return fmt.Errorf("metric %s depends on itself", d.Tag)
		case done:
			return nil
		}
		state[i] = open
		for _, tag := range slices.Concat(d.Requires, d.Uses) {
			on, known := index[tag]
			if !known {
				return fmt.Errorf("metric %s depends on the unknown metric %s", d.Tag, tag)
			}
			if stage(defs[on].Kind) > stage(d.Kind) {
				return fmt.Errorf("metric %s (%s) cannot depend on %s (%s)", d.Tag, d.Kind, tag, defs[on].Kind)
			}
			if err := visit(on); err != nil {
				return err
			}
		}
		state[i] = done
		order = append(order, i)
		return nil
	}
	for i := range defs {
		if err := visit(i); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// stage orders the kinds by when they are computed.
func stage(k Kind) int {
	return slices.Index([]Kind{KindRecord, KindJob, KindAggregate, KindAdjusted, KindTimeline, KindDerived}, k)
}

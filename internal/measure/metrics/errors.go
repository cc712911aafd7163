package metrics

import (
	"cmp"
	"fmt"
	"slices"

	"aiperf/internal/measure/record"
)

// maxDistinctErrors bounds the groups of equal errors that are distinguished, maxErrorBytes the length of
// their messages together. Later new ones are counted together in one last group of type otherErrorsType.
const (
	maxDistinctErrors = 10_000
	maxErrorBytes     = 64 << 20
	otherErrorsType   = "OtherErrors"
)

// ErrorCount is a group of equal errors: the first of them and their number.
type ErrorCount struct {
	Error record.Error
	Count int64
}

// errorTally counts errors by what makes them equal. Its list does not depend on the order in which
// they come in, as long as there are no more of them than can be distinguished.
type errorTally struct {
	index  map[record.Key]int
	groups []errorGroup
	bytes  int
	others int64
}

// errorGroup are equal errors, the first of which occurred at an instant.
type errorGroup struct {
	ErrorCount
	first errorTime
}

// errorTime is when an error happened and, where several did at once, in which request.
type errorTime struct {
	atNS      int64
	requestID string
}

func (a errorTime) compare(b errorTime) int {
	return cmp.Or(cmp.Compare(a.atNS, b.atNS), cmp.Compare(a.requestID, b.requestID))
}

// add counts n errors under their key, with the first one in the order of time as their example. Distinct errors are
// bounded in number and bytes: a server may put an id into each message. The rest are counted together.
func (t *errorTally) add(err *record.Error, at errorTime, n int64) {
	key := err.Key()
	if i, known := t.index[key]; known {
		g := &t.groups[i]
		g.Count += n
		if at.compare(g.first) < 0 {
			g.Error, g.first = *err, at
		}
		return
	}
	if len(t.groups) == maxDistinctErrors || t.bytes+len(err.Message) > maxErrorBytes {
		t.others += n
		return
	}
	if t.index == nil {
		t.index = make(map[record.Key]int)
	}
	t.index[key] = len(t.groups)
	t.bytes += len(err.Message)
	t.groups = append(t.groups, errorGroup{ErrorCount{*err, n}, at})
}

func (t *errorTally) merge(o *errorTally) {
	for i := range o.groups {
		g := &o.groups[i]
		t.add(&g.Error, g.first, g.Count)
	}
	t.others += o.others
}

func (t *errorTally) list() []ErrorCount {
	sorted := slices.Clone(t.groups)
	slices.SortStableFunc(sorted, func(a, b errorGroup) int { return a.first.compare(b.first) })
	var out []ErrorCount
	for i := range sorted {
		out = append(out, sorted[i].ErrorCount)
	}
	if t.others > 0 {
		out = append(out, ErrorCount{record.Error{
			Type:    otherErrorsType,
			Message: fmt.Sprintf("errors other than the first %d distinct ones", len(t.groups)),
		}, t.others})
	}
	return out
}

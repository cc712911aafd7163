package metrics

import (
	"fmt"
	"slices"

	"aiperf/internal/record"
)

// MaxDistinctErrors bounds the groups of equal errors that are told apart. Later new ones are counted
// together in one last group of type OtherErrorsType.
const (
	MaxDistinctErrors = 10_000
	OtherErrorsType   = "OtherErrors"
)

// ErrorCount is a group of equal errors: the first of them and their number.
type ErrorCount struct {
	Error record.Error
	Count int64
}

// errorTally counts errors by what makes them equal, in order of first occurrence.
type errorTally struct {
	index  map[record.Key]int
	groups []ErrorCount
	others int64
}

func (t *errorTally) add(err *record.Error, n int64) {
	key := err.Key()
	if i, known := t.index[key]; known {
		t.groups[i].Count += n
		return
	}
	if len(t.groups) == MaxDistinctErrors {
		t.others += n
		return
	}
	if t.index == nil {
		t.index = make(map[record.Key]int)
	}
	t.index[key] = len(t.groups)
	t.groups = append(t.groups, ErrorCount{*err, n})
}

func (t *errorTally) merge(o *errorTally) {
	for i := range o.groups {
		t.add(&o.groups[i].Error, o.groups[i].Count)
	}
	t.others += o.others
}

func (t *errorTally) list() []ErrorCount {
	out := slices.Clone(t.groups)
	if t.others > 0 {
		out = append(out, ErrorCount{record.Error{
			Type:    OtherErrorsType,
			Message: fmt.Sprintf("errors other than the first %d distinct ones", MaxDistinctErrors),
		}, t.others})
	}
	return out
}

package run

import (
	"errors"
	"testing"
)

func TestReasonsForWhichRunsEndEarly(t *testing.T) {
	t.Parallel()
	aborted, unwritable := errors.New("aborted"), errors.New("disk full")
	child, stalled := errors.New("child"), errors.New("stalled")
	for _, c := range []struct {
		aborted, unwritable, child, unprocessed error
		cancelled                               bool
		lacking, withoutResults, reason         string
	}{
		{lacking: "", withoutResults: "", reason: ""},
		{aborted: aborted, lacking: "aborted", withoutResults: "aborted", reason: "aborted"},
		{unwritable: unwritable, lacking: "disk full", reason: "the run ended early: disk full"},
		{aborted: aborted, unwritable: unwritable, lacking: "disk full", withoutResults: "aborted", reason: "aborted"},
		{child: child, unprocessed: stalled, lacking: "child", withoutResults: "stalled", reason: "child"},
		{unprocessed: stalled, lacking: "stalled", withoutResults: "stalled", reason: "stalled"},
		{unprocessed: stalled, cancelled: true, lacking: "stalled", withoutResults: "stalled"},
	} {
		x := ending{childFailed: c.child, unprocessed: c.unprocessed}
		if c.aborted != nil {
			x.aborted.Store(&c.aborted)
		}
		if c.unwritable != nil {
			x.unwritable.Store(&c.unwritable)
		}
		text := func(err error) string {
			if err == nil {
				return ""
			}
			return err.Error()
		}
		got := [3]string{text(x.lacking()), text(x.withoutResults()), text(x.reason(c.cancelled))}
		if want := [3]string{c.lacking, c.withoutResults, c.reason}; got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

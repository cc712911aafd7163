package trust_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/watch/trust"
)

func TestRepliesAreCounted(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	reply := func(head int64, contents ...int64) *record.Facts {
		f := record.NewFacts()
		f[record.Ack], f[record.Contents] = head, int64(len(contents))
		f[record.FirstContent], f[record.LastContent] = contents[0], contents[len(contents)-1]
		if len(contents) > 1 {
			f[record.SecondContent] = contents[1]
		}
		return &f
	}
	late := func(lag int64, f *record.Facts) *record.Facts {
		f[record.ReadLag] = lag
		return f
	}
	failed := reply(ms, 41*ms, 41*ms)
	failed[record.Failed] = 1
	for _, c := range []struct {
		name  string
		facts *record.Facts
		want  trust.Replies
	}{
		{"token by token", reply(ms, 20*ms, 25*ms, 30*ms), trust.Replies{Streamed: 1}},
		{"one content", reply(ms, 20*ms), trust.Replies{}},
		{"failed", failed, trust.Replies{}},
		{"within the error of a stamp", reply(ms, 20*ms, 20*ms, 20*ms+19*us), trust.Replies{Streamed: 1, InOnePiece: 1}},
		{"within its read lag", late(2*ms, reply(ms, 20*ms, 20*ms, 21*ms)), trust.Replies{Streamed: 1, InOnePiece: 1}},
		{"beyond its read lag", late(ms, reply(ms, 20*ms, 20*ms, 21*ms)), trust.Replies{Streamed: 1}},
		{"just beyond it", reply(ms, 20*ms, 20*ms, 20*ms+20*us), trust.Replies{Streamed: 1}},
		{"held back", reply(ms, 41*ms, 41*ms, 46*ms), trust.Replies{Streamed: 1, HeldBack: 1}},
		{"late, and alone", reply(ms, 41*ms, 42*ms), trust.Replies{Streamed: 1}},
		{"together, and early", reply(ms, 20*ms, 20*ms, 25*ms), trust.Replies{Streamed: 1}},
		{"together, and later", reply(ms, 47*ms, 47*ms, 52*ms), trust.Replies{Streamed: 1}},
	} {
		var delayed, atOnce trust.Replies
		delayed.Count(c.facts, true)
		if !reflect.DeepEqual(delayed, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, delayed, c.want)
		}
		if atOnce.Count(c.facts, false); atOnce.HeldBack != 0 {
			t.Errorf("%s: held back by a system that delays nothing", c.name)
		}
	}
}

// Names come from servers: a bounded number of them is counted apart.
func TestEndingsAreCounted(t *testing.T) {
	var r trust.Replies
	valid, failed := record.NewFacts(), record.NewFacts()
	failed[record.Failed] = 1
	for i := range 100 {
		r.Come(&record.Reply{Ending: fmt.Sprint("e", i), Unread: []string{fmt.Sprint("u", i)}}, &valid)
	}
	r.Come(&record.Reply{Ending: "e0", Unfinished: true, Cumulative: true, Unstreamed: true}, &valid)
	r.Come(&record.Reply{Ending: "e0", Unfinished: true, Cumulative: true, Unstreamed: true}, &failed)
	if r.Endings["e0"] != 3 || r.Endings["other"] == 0 || len(r.Endings) > 30 || len(r.Unread) > 30 || r.Valid != 101 ||
		r.Unfinished != 1 || r.Cumulative != 1 || r.Unstreamed != 1 {
		t.Errorf("%+v", r)
	}
}

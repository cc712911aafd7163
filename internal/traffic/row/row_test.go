package row_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"aiperf/internal/traffic/row"
	"aiperf/internal/workload/recording"
	"aiperf/internal/workload/tokenizer"
)

func memory(rename bool) *row.Memory {
	return row.NewMemory(row.Options{Keep: recording.KeepHashes, Tokenizer: tokenizer.Builtin(), BlockSize: 4,
		Salt: []byte("a salt of sixteen"), RenameModels: rename})
}

// TestModelsAreRenamedInTheirOrder: each name has one number, and nothing else is written of it.
func TestModelsAreRenamedInTheirOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rename bool
		want   []string
	}{{false, []string{"b", "a", "other", "b", ""}}, {true, []string{"model-1", "model-2", "model-3", "model-1", ""}}} {
		m := memory(c.rename)
		var got []string
		for _, name := range []string{"b", "a", "a name of five whole words", "b", ""} {
			got = append(got, m.Model(name))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	m := memory(true)
	for i := range 20_000 {
		m.Model(fmt.Sprint(i))
	}
	if m.Model("19999") != "other" || m.Model("9999") != "model-10000" {
		t.Error("the number of names is not bounded")
	}
}

// TestSessionsWithoutEnds: where nobody knows when a reply ended, nobody knows the time until the next turn.
func TestSessionsWithoutEnds(t *testing.T) {
	t.Parallel()
	m := memory(false)
	at := func(second int) time.Time { return time.Unix(int64(1000+second), 0) }
	for i, c := range []struct {
		begun, ended time.Time
		think        float64 // negative: not known
		session      string
	}{
		{at(0), at(1), -1, "a"}, {at(3), time.Time{}, 2000, "a"}, {at(5), at(6), -1, "a"}, {at(5), at(6), -1, "b"}, {at(9), at(9), 3000, "a"},
	} {
		r := &recording.Row{}
		m.Place(r, m.Named(c.session), c.begun, c.ended)
		if think := r.ThinkMS; (think == nil) != (c.think < 0) || think != nil && *think != c.think {
			t.Errorf("%d: %v, want %v", i, think, c.think)
		}
	}
}

// TestEqualRequestsWithoutTimesAreSessionsOfTheirOwn: neither their messages nor their times tell them apart.
func TestEqualRequestsWithoutTimesAreSessionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	m := memory(false)
	maker := m.Maker()
	seen := map[string]bool{}
	for range 3 {
		made, thread := maker.Describe(&row.Exchange{Endpoint: "chat",
			Request: []byte(`{"messages":[{"role":"user","content":"x"}]}`)})
		m.Place(made, thread, time.Time{}, time.Time{})
		seen[made.SessionID] = true
	}
	if len(seen) != 3 {
		t.Error(seen)
	}
}

func TestEndpointsByTheLookOfRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ request, reply, want string }{
		{`{"messages":[]}`, "", "chat"}, {`{"messages":[],"system":"x"}`, "", "messages"}, {`{"messages":[]}`, `{"type":"message"}`, "messages"},
		{`{"prompt":"x"}`, "", "completions"}, {`{"input":"x","instructions":"y"}`, "", "responses"}, {`{"input":[{"role":"user"}]}`, "", "responses"},
		{`{"input":["x"]}`, "", "embeddings"}, {`{"input":"x"}`, `{"object":"response"}`, "responses"}, {`{"inputs":"x"}`, "", "huggingface_generate"},
		{`{}`, "", "other"}, {``, "", "other"},
	} {
		if got := row.EndpointOf([]byte(c.request), []byte(c.reply)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.request, c.reply, got, c.want)
		}
	}
}

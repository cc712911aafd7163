package endpoint

import (
	"testing"

	"aiperf/internal/workload/dataset"
)

func TestKeptTurnsAreEncodedAsFresh(t *testing.T) {
	e, err := New("chat", Options{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	turns := []*dataset.Turn{
		{Texts: []dataset.Media{{Contents: []string{"a\n\"b\""}}}},
		{RawMessages: nil, Texts: []dataset.Media{{Contents: []string{"x", "y"}}}, Role: "tool"},
		{Texts: []dataset.Media{{Contents: []string{"end"}}}},
	}
	system := "S"
	kept := []*Kept{new(Kept), new(Kept)}
	var want string
	for round := range 3 {
		c := &Context{SystemMessage: &system}
		for i, turn := range turns {
			one := Turn{Turn: turn}
			if round > 0 && i < len(kept) {
				one.Kept = kept[i]
			}
			c.Turns = append(c.Turns, one)
		}
		body, err := e.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			want = string(body.Bytes)
		} else if string(body.Bytes) != want {
			t.Errorf("round %d:\n%s\nwant\n%s", round, body.Bytes, want)
		}
	}
}

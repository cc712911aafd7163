package compose_test

import (
	"encoding/json"
	"testing"

	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/tokenizer"
)

// template adds tokens to a conversation: some once and some to each message.
type template struct {
	fixed, wrap int
	refuses     bool
}

func (t template) CountMessages(messages []byte) (int, bool) {
	var list []struct{ Role, Content string }
	if err := json.Unmarshal(messages, &list); err != nil || list[0].Role != "user" || len(list) == 3 &&
		list[1].Role != "assistant" {
		return 0, false
	}
	n := t.fixed
	for _, m := range list {
		n += t.wrap + tokenizer.Builtin().Count(m.Content)
	}
	return n, !t.refuses
}

// With what the template and the mark add, each request has the asked length.
func TestTextsLeaveRoomForTheChatTemplate(t *testing.T) {
	for _, c := range []struct {
		template compose.ChatCounter
		isl      float64
		want     []int
	}{
		{template{fixed: 9, wrap: 5}, 100, []int{86, 95}},
		{template{wrap: 5}, 100, []int{95, 95}},
		{template{fixed: 9, wrap: 5}, 3, []int{1, 1}},
		{template{fixed: 9, wrap: -5}, 100, []int{100, 100}}, // it swallows text: nothing can be said about it
		{template{fixed: 9, wrap: 5, refuses: true}, 100, []int{100, 100}},
		{nil, 100, []int{100, 100}},
	} {
		o := defaults(func(o *compose.Options) {
			o.Entries, o.Template = 3, c.template
			o.ISL, o.Turns = recipe.Normal{Mean: c.isl}, recipe.Normal{Mean: 2}
		})
		for i, n := range counts(prompts(build(t, o))) {
			if n != c.want[i%2] {
				t.Errorf("%+v: text %d of %v tokens has %d, want %d", c.template, i, c.isl, n, c.want[i%2])
			}
		}
	}
	o := defaults(func(o *compose.Options) {
		o.ISL, o.Turns = recipe.Normal{Mean: 1000}, recipe.Normal{Mean: 2}
		o.Entries, o.Template, o.CacheBust = 2, template{fixed: 9, wrap: 5},
			"first_turn_prefix"
	})
	for i, n := range counts(prompts(build(t, o))) {
		if want := 1000 - 5 - (9+prefixCost)*((i+1)%2); n != want {
			t.Errorf("text %d has %d tokens, want %d", i, n, want)
		}
	}
}

// A template writes the special tokens itself: they are subtracted once.
func TestSpecialTokensOfATemplateAreNotSubtractedTwice(t *testing.T) {
	o := defaults(func(o *compose.Options) {
		o.Entries, o.ISL, o.Template = 2, recipe.Normal{Mean: 100}, template{fixed: 2, wrap: 3}
	})
	d, _, err := compose.Build(t.Context(), o, addsOne{tokenizer.Builtin()})
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, prompts(d), 95)
}

type addsOne struct{ tokenizer.Tokenizer }

func (a addsOne) Specials() tokenizer.Specials {
	s := a.Tokenizer.Specials()
	s.Added = 1
	return s
}

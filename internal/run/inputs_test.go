package run

import (
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// endless is a dataset that must not be formatted as a whole.
type endless struct {
	holds    dataset.Contents
	n, asked int
	text     string
}

func (e *endless) Len() int        { return e.n }
func (e *endless) TurnsOf(int) int { return 1 }
func (e *endless) Turns() int      { return e.n }
func (e *endless) Branches() bool  { return false }

func (e *endless) Time(int, int) (atMS, delayMS *float64)     { return nil, nil }
func (e *endless) Count(dataset.ContextMode) dataset.Contents { return e.holds }

func (e *endless) At(int) *dataset.Conversation {
	e.asked++
	return &dataset.Conversation{SessionID: "s",
		Turns: []dataset.Turn{{Texts: []dataset.Media{{Contents: []string{e.text}}}}}}
}

func TestTheSizeOfInputsIsGuessedFromFewConversations(t *testing.T) {
	t.Parallel()
	point, err := endpoint.New("chat", endpoint.Options{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		n     int
		limit int64
		want  bool
	}{
		{1e9, 1 << 30, true},
		{1e9, 0, false},
		{1000, 1 << 30, false},
		{1000, 100_000, false}, // near the limit it is written
		{1000, 10_000, true},
		{10, 10, false}, // few are written at once
	} {
		store := &endless{n: test.n, text: "hello"}
		c := &content{target: &target{base: &base{cfg: &config.Run{}}, endpoint: point},
			data: &dataset.Dataset{Conversations: store}}
		c.cfg.Env.Dataset.InputsMaxBytes = test.limit
		if got := c.inputsWillBeTooLarge(); got != test.want || store.asked > inputSamples {
			t.Errorf("%+v: %v after %d conversations", test, got, store.asked)
		}
	}
}

package dataset

import (
	"iter"
	"slices"

	"aiperf/internal/base/jsonscan"
)

// Conversations are those of a dataset, by index: in [Memory], or in a file that is read again. The same index always
// yields the same conversation. The methods are safe for concurrent use.
type Conversations interface {
	// Len returns the number of conversations.
	Len() int
	At(conversation int) *Conversation
	// TurnsOf returns the number of turns of one conversation, Turns that of all turns that are requests.
	TurnsOf(conversation int) int
	Turns() int
	// Time returns when a turn goes out: an instant of the recording, or a delay, in milliseconds; nil: neither.
	Time(conversation, turn int) (atMS, delayMS *float64)
	// Branches reports whether any conversation branches.
	Branches() bool
	// Count counts what the turns hold; mode is that of conversations that state none.
	Count(mode ContextMode) Contents
}

// Contents counts the turns that have something besides given text.
type Contents struct {
	Images, Audios, Videos int
	// Payloads are whole request bodies, Streams those of them that ask for a stream.
	Payloads, Streams int
	// Threaded are raw messages that are added to the history.
	Threaded int
	// Prompts are texts that are made when they are needed.
	Prompts int
}

// Add counts a turn of a conversation that has a context mode.
func (c *Contents) Add(t *Turn, mode ContextMode) {
	for _, x := range []struct {
		is bool
		to *int
	}{
		{len(t.Images) > 0, &c.Images}, {len(t.Audios) > 0, &c.Audios}, {len(t.Videos) > 0, &c.Videos},
		{t.RawPayload != nil, &c.Payloads},
		{t.RawPayload != nil && string(jsonscan.Find(t.RawPayload, "stream")) == "true", &c.Streams},
		{t.RawMessages != nil && mode == DeltasWithoutResponses, &c.Threaded},
		{t.Prompt != nil, &c.Prompts},
	} {
		if x.is {
			*x.to++
		}
	}
}

// Plus returns the sums of two counts.
func (c Contents) Plus(d Contents) Contents {
	return Contents{
		Images: c.Images + d.Images, Audios: c.Audios + d.Audios, Videos: c.Videos + d.Videos,
		Payloads: c.Payloads + d.Payloads, Streams: c.Streams + d.Streams,
		Threaded: c.Threaded + d.Threaded, Prompts: c.Prompts + d.Prompts,
	}
}

// Memory are conversations in memory.
type Memory []Conversation

// InMemory returns the conversations of the dataset if they are in memory, else nil.
func (d *Dataset) InMemory() Memory {
	m, _ := d.Conversations.(Memory)
	return m
}

// All yields the conversations in order.
func (d *Dataset) All() iter.Seq2[int, *Conversation] {
	return func(yield func(int, *Conversation) bool) {
		for i := range d.Len() {
			if !yield(i, d.At(i)) {
				return
			}
		}
	}
}

// Len implements [Conversations].
func (m Memory) Len() int { return len(m) }

// At implements [Conversations].
func (m Memory) At(i int) *Conversation { return &m[i] }

// TurnsOf implements [Conversations].
func (m Memory) TurnsOf(i int) int { return len(m[i].Turns) }

// Turns implements [Conversations].
func (m Memory) Turns() (n int) {
	for i := range m {
		for t := range m[i].Turns {
			if !m[i].Turns[t].Silent {
				n++
			}
		}
	}
	return n
}

// Time implements [Conversations].
func (m Memory) Time(conversation, turn int) (atMS, delayMS *float64) {
	return m[conversation].Turns[turn].Time()
}

// Branches implements [Conversations].
func (m Memory) Branches() bool {
	return slices.ContainsFunc(m, func(c Conversation) bool { return c.Branching() })
}

// Count implements [Conversations].
func (m Memory) Count(mode ContextMode) (all Contents) {
	for i := range m {
		for t := range m[i].Turns {
			all.Add(&m[i].Turns[t], m[i].mode(mode))
		}
	}
	return all
}

// Package dataset holds the content of the workload: what is sent, never when.
//
// A Dataset is an ordered list of conversations. A Conversation is a list of turns, played by one
// session from the first to the last; a Turn is what one request adds. How a turn becomes a request
// body is the endpoint's concern. A Sampler says which conversation each session plays.
//
// A dataset is complete before the first request and is only read afterwards, so that any number
// of goroutines may share it. With a root seed it is the same on every machine.
package dataset

import (
	"encoding/json"
	"errors"
)

// Dataset is everything that can be sent.
type Dataset struct {
	// Conversations are in memory, unless there is a Store of them.
	Conversations []Conversation
	Store         Store `json:"-"`
	// Roots are the conversations that sessions take, in order; nil: all of them. The others are their children.
	Roots []int
	// Sampling is the order in which sessions take conversations.
	Sampling Sampling
	// Sampler takes conversations in that order; nil: one is still to be made.
	Sampler *Sampler `json:"-"`
	// DefaultContextMode holds for conversations that state none.
	DefaultContextMode ContextMode
	// NoInputs: recorded traffic that is not written out again.
	NoInputs bool
	// Notes say how the source was read, for the log.
	Notes []string
}

// Mode is the context mode of a conversation of this dataset.
func (d *Dataset) Mode(c *Conversation) ContextMode {
	switch {
	case c.ContextMode != "":
		return c.ContextMode
	case d.DefaultContextMode != "":
		return d.DefaultContextMode
	}
	return DeltasWithoutResponses
}

// ErrNotPlayed is what is wrong with a conversation whose media were not made, since the load does not come to it.
var ErrNotPlayed = errors.New("the conversation was not made: the load was not expected to come to it")

// Store makes conversations when they are asked for, always the same. It is safe for concurrent use.
type Store interface {
	// Len is the number of conversations, Turns that of one and AllTurns that of all.
	Len() int
	Turns(conversation int) int
	AllTurns() int
	// FirstMS is the time of a first turn; nil: none.
	FirstMS(conversation int) *float64
	At(conversation int) *Conversation
	Holds() Holds
}

// Holds counts the turns that have something beside text: media, whole payloads and those of them that ask for a
// stream, and raw messages that are added to the history.
type Holds struct{ Images, Audios, Videos, Payloads, Streams, Threaded int }

// Len is the number of conversations.
func (d *Dataset) Len() int {
	if d.Store != nil {
		return d.Store.Len()
	}
	return len(d.Conversations)
}

// At is conversation i.
func (d *Dataset) At(i int) *Conversation {
	if d.Store != nil {
		return d.Store.At(i)
	}
	return &d.Conversations[i]
}

// TurnsOf is the number of turns of conversation i.
func (d *Dataset) TurnsOf(i int) int {
	if d.Store != nil {
		return d.Store.Turns(i)
	}
	return len(d.Conversations[i].Turns)
}

// Time is when a turn goes out: an instant of the recording, or a delay, in milliseconds; nil: neither.
func (d *Dataset) Time(conversation, turn int) (atMS, delayMS *float64) {
	if d.Store != nil && turn == 0 {
		return d.Store.FirstMS(conversation), nil
	}
	t := &d.At(conversation).Turns[turn]
	return t.TimestampMS, t.DelayMS
}

// Turns is the number of turns of all conversations that are requests.
func (d *Dataset) Turns() int {
	if d.Store != nil {
		return d.Store.AllTurns()
	}
	n := 0
	for i := range d.Conversations {
		for t := range d.Conversations[i].Turns {
			if !d.Conversations[i].Turns[t].Silent {
				n++
			}
		}
	}
	return n
}

// ContextMode says which part of the history a request carries.
type ContextMode string

const (
	// DeltasWithoutResponses sends all turns so far and the server's replies between them.
	DeltasWithoutResponses ContextMode = "deltas_without_responses"
	// DeltasWithResponses sends all turns so far as given; live replies are dropped, for the data
	// holds the assistant's turns.
	DeltasWithResponses ContextMode = "deltas_with_responses"
	// MessageArrayWithResponses sends each turn alone, as given.
	MessageArrayWithResponses ContextMode = "message_array_with_responses"
)

// Conversation is what one session plays.
type Conversation struct {
	SessionID   string
	Turns       []Turn
	ContextMode ContextMode // empty: the dataset's default
	// SystemMessage stands before everything else in every request, UserContext is a user message
	// of its own right behind it. nil: none.
	SystemMessage *string
	UserContext   *string
	// Broken says why the conversation cannot be sent: it could not be read any more, or it is ErrNotPlayed.
	Broken error `json:"-"`
	// Headers are sent with every request.
	Headers []Header `json:",omitempty"`
	// Before are children, by index, that begin before the first turn; nothing waits for them.
	Before []int
}

// Turn is what one request adds to its conversation.
type Turn struct {
	Model       string
	Role        string   // empty: user
	TimestampMS *float64 // when to send, from the start of the schedule
	DelayMS     *float64 // how long to wait after the previous turn has ended
	MaxTokens   *int     // limit of the answer; nil: none is sent
	Texts       []Media
	Images      []Media
	Audios      []Media
	Videos      []Media
	// RawMessages is a ready message array that replaces all that would be made of the fields above;
	// RawTools goes with it.
	RawMessages []json.RawMessage
	RawTools    []json.RawMessage
	// RawSystem is a list of system blocks, for the API that has them apart.
	RawSystem json.RawMessage `json:",omitempty"`
	// RawPayload is a whole request body, sent as it is; nothing of the other fields goes into it.
	RawPayload json.RawMessage `json:",omitempty"`
	// Prompt is a text that is made when it is needed; it stands for Texts.
	Prompt *Prompt `json:",omitzero"`
	// Extra is merged into the request body last, in this order.
	Extra []Field
	// AudioSeconds is the length of all sound of the turn; 0: unknown or none.
	AudioSeconds float64 `json:",omitempty"`
	// Prefix is what a cache without bounds would know of the prompt; nil: that is not known.
	Prefix *Prefix `json:",omitempty"`
	// Silent turns send nothing, they only branch; Think is a random wait before one.
	Silent bool
	Think  *Think
	// Branches begin when the turn has returned.
	Branches []Branch
}

// Media is one object of a modality: a list of contents under an optional name. Text is a modality
// like the others.
type Media struct {
	Name     string
	Contents []string
	// IDs are names of the contents by which a server may know them from before; such a content may be empty.
	// nil: they have none.
	IDs []string `json:",omitempty"`
}

// Header is a header of requests.
type Header struct{ Name, Value string }

// Field is one member of a JSON object whose order counts.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Prompt describes a text of so many tokens, of which the first are those of the blocks.
type Prompt struct {
	Tokens int
	// Blocks are ids; equal ids are equal text.
	Blocks []int64
	// Row is a number of its own, from which the text without blocks is drawn.
	Row uint64
	// By makes the text.
	By Writer
}

// Prefix counts the blocks of a prompt: Hits of them, from its beginning, were sent before in the same scope.
type Prefix struct{ Hits, Blocks int }

// Writer makes the text of a prompt: the same at every call.
type Writer interface{ Write(*Prompt) string }

// Whole is the turn with its text made; the turn itself if it has no prompt to make.
func (t *Turn) Whole() *Turn {
	if t.Prompt == nil {
		return t
	}
	whole := *t
	whole.Texts = []Media{{Name: "text", Contents: []string{t.Prompt.By.Write(t.Prompt)}}}
	return &whole
}

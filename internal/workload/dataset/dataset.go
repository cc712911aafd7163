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
	"cmp"
	"encoding/json"
	"errors"
)

// Dataset is everything that can be sent.
type Dataset struct {
	Conversations
	// Roots are the conversations that sessions take, in order; nil: all of them. The others are their children.
	Roots []int
	// Sampling is the order in which sessions take conversations.
	Sampling Sampling
	// Sampler takes conversations in that order; nil: one is still to be made.
	Sampler *Sampler
	// DefaultContextMode holds for conversations that state none.
	DefaultContextMode ContextMode
	// BlockSize is the number of tokens of a block of prompts; 0: they have none.
	BlockSize int
	// NoInputs: recorded traffic that is not written out again.
	NoInputs bool
	// Notes say how the source was read, for the log.
	Notes []string
	// Credentials are headers of turns and conversations that hold secrets by their names, each once, as far as they
	// are few: to hide their values wherever they appear.
	Credentials []Header
}

// Mode returns the context mode of a conversation of this dataset.
func (d *Dataset) Mode(c *Conversation) ContextMode { return c.mode(d.DefaultContextMode) }

func (c *Conversation) mode(byDefault ContextMode) ContextMode {
	return cmp.Or(c.ContextMode, byDefault, DeltasWithoutResponses)
}

// ErrNotPlayed is what is wrong with a conversation whose media were not made, since the load does not come to it.
var ErrNotPlayed = errors.New("the conversation was not made: the load was not expected to come to it")

// Contents counts what the turns of the dataset hold.
func (d *Dataset) Contents() Contents { return d.Conversations.Count(d.DefaultContextMode) }

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
	Broken error `json:"-" carry:"-"`
	// Headers are sent with every request, below those of its turn.
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
	// Archetype names the shape that the turn has in a mix of several; empty: there is no mix.
	Archetype string `json:",omitempty"`
	// AudioSeconds is the length of all sound of the turn; 0: unknown or none.
	AudioSeconds float64 `json:",omitempty"`
	// Headers are sent with the request.
	Headers []Header `json:",omitempty"`
	// Prefix is what a cache without bounds would know of the prompt; nil: that is not known.
	Prefix *Prefix `json:",omitempty"`
	// Recorded is what was recorded of the request; nil where that is not known.
	Recorded *Recorded `json:",omitempty"`
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
	By Writer `carry:"-"`
}

// Recorded is what a recording says of a request and its reply, as it was: times in milliseconds from the start of the
// recording, lengths in tokens.
type Recorded struct {
	AtMS, TookMS  float64
	Input, Output int
	// Prompt and Cached are the server's counts of the prompt and of what of it came from its cache; Cached is -1 where
	// it did not say so.
	Prompt, Cached int
}

// Prefix counts the blocks of a prompt: Hits of them, from its beginning, were sent before in the same scope.
type Prefix struct{ Hits, Blocks int }

// Writer makes the text of a prompt: the same at every call.
type Writer interface{ Write(*Prompt) string }

// Time returns when the turn goes out: an instant of the recording, or a delay, in milliseconds; nil: neither.
func (t *Turn) Time() (atMS, delayMS *float64) { return t.TimestampMS, t.DelayMS }

// Whole returns the turn with its text made; the turn itself if it has no prompt to make.
func (t *Turn) Whole() *Turn {
	if t.Prompt == nil {
		return t
	}
	whole := *t
	whole.Texts = []Media{{Name: "text", Contents: []string{t.Prompt.By.Write(t.Prompt)}}}
	return &whole
}

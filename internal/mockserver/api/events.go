package api

import "aiperf/internal/base/random"

// Events that carry no token, where the others are numbered from 0.
const (
	ErrorEvent = -1
	UsageEvent = -2
	DoneEvent  = -3
	// A preview of an image, and the image.
	PartialEvent = -4
	ImageEvent   = -5
	// SpeechEnd is the event after the last piece of a sound.
	SpeechEnd = -6
)

// The events after the tokens of a stream.
var (
	endDone         = []int{DoneEvent}
	endUsageAndDone = []int{UsageEvent, DoneEvent}
)

// Events appends the events of a stream, in order.
type Events struct {
	reply           *Reply
	words, thoughts random.Rand
	count           int
	// word and thought count the tokens of a scripted reply that were sent.
	word, thought int
}

// Events starts the stream of the reply. The reply must not be used for another one meanwhile.
func (r *Reply) Events() Events {
	r.opening = r.appendOpening(append(r.opening[:0], "data: "...), apis[r.API].chunkObject)
	return Events{reply: r, words: r.gen.words.At(r.Plan.draw), thoughts: r.gen.thoughts.At(r.Plan.draw)}
}

// Count returns the number of events so far.
func (e *Events) Count() int { return e.count }

// Ends returns the events after the tokens; usage says whether they may include the usage.
func (e *Events) Ends(usage bool) []int {
	a := &apis[e.reply.API]
	if e.reply.isSound() {
		return nil
	}
	if a.event == nil && e.reply.Request.includeUsage && usage {
		return endUsageAndDone
	}
	return a.ends
}

// Append appends the event of a token, or one of those without; of sound it appends the next bytes.
func (e *Events) Append(b []byte, kind int) []byte {
	r := e.reply
	if write := apis[r.API].event; write != nil {
		b = write(e, b, kind)
	} else {
		b = e.appendChoice(b, kind)
	}
	e.count++
	if r.isSound() {
		return b
	}
	return append(b, "\n\n"...)
}

// appendChoice appends an event of the chat or completions API.
func (e *Events) appendChoice(b []byte, kind int) []byte {
	r := e.reply
	switch kind {
	case ErrorEvent:
		return append(append(b, "data: "...), ErrorInside...)
	case UsageEvent:
		b = append(b, "data: "...)
		b = r.appendEnvelope(b, apis[r.API].chunkObject)
		b = append(b, `,"choices":[],"usage":`...)
		b = appendUsage(b, r.Plan.PromptTokens, r.Plan.Content, r.Plan.Reasoning)
		return append(b, '}')
	case DoneEvent:
		return append(b, "data: [DONE]"...)
	}
	return e.appendToken(b, kind)
}

// appendToken appends the chunk of token k: of thought first, then of the answer, whose last one has the finish reason.
// All chunks of thought and the first of the answer name the role.
func (e *Events) appendToken(b []byte, k int) []byte {
	r := e.reply
	p := &r.Plan
	b = append(b, r.opening...)
	switch {
	case k < p.Reasoning:
		b = append(b, `"delta":{"role":"assistant","reasoning_content":"`...)
		b = append(e.appendThought(b), `"}`...)
	case r.API == Completions:
		b = append(b, `"text":"`...)
		b = append(e.appendWord(b), '"')
	case k == 0:
		b = append(b, `"delta":{"role":"assistant","content":"`...)
		b = append(e.appendWord(b), `"}`...)
	default:
		b = append(b, `"delta":{"content":"`...)
		b = append(e.appendWord(b), `"}`...)
	}
	if k >= p.Reasoning && k == p.Tokens()-1 {
		b = append(b, `,"finish_reason":"`...)
		b = append(b, p.Finish...)
		b = append(b, '"')
		b = r.appendSpeculation(b, specInChoice)
		b = append(b, "}]"...)
		b = r.appendSpeculation(b, specAtRoot)
	} else {
		b = append(b, `,"finish_reason":null}]`...)
	}
	if r.Request.chunkUsage {
		b = append(b, `,"usage":`...)
		reasoning := min(k+1, p.Reasoning)
		b = appendUsage(b, p.PromptTokens, k+1-reasoning, reasoning)
	}
	return append(b, '}')
}

// appendWord appends the next token of the content.
func (e *Events) appendWord(b []byte) []byte {
	if s := e.reply.script; s != nil {
		e.word++
		return append(b, s.content[e.word-1]...)
	}
	return append(b, e.reply.gen.vocabulary.token(&e.words)...)
}

// appendThought appends the next token of the reasoning.
func (e *Events) appendThought(b []byte) []byte {
	if s := e.reply.script; s != nil {
		e.thought++
		return append(b, s.reasoning[e.thought-1]...)
	}
	return append(b, e.reply.gen.vocabulary.token(&e.thoughts)...)
}

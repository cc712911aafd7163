package api

import "strconv"

// This file writes the replies of the generate APIs of text-generation-inference and SGLang, and those
// of the APIs that answer with a plain text member.

func wholeGenerated(r *Reply, b []byte) []byte {
	p := &r.Plan
	b = append(b, `{"generated_text":"`...)
	b = r.appendContent(b, p.Tokens())
	return append(b, `"}`...)
}

// generatedEvent appends the event of a token; the last one repeats the whole text.
func generatedEvent(e *Events, b []byte, k int) []byte {
	r := e.reply
	if k == ErrorEvent {
		return append(b, `data: {"error":"injected fault: error inside a success","error_type":"generation"}`...)
	}
	b = append(b, `data: {"index":`...)
	b = strconv.AppendInt(b, int64(k+1), 10)
	b = append(b, `,"token":{"id":`...)
	b = strconv.AppendInt(b, int64(k), 10)
	b = append(b, `,"text":"`...)
	b = e.appendWord(b)
	b = append(b, `","logprob":-0.1,"special":false},"generated_text":`...)
	if k == r.Plan.Tokens()-1 {
		b = append(b, '"')
		b = append(r.appendContent(b, r.Plan.Tokens()), '"')
	} else {
		b = append(b, "null"...)
	}
	return append(b, `,"details":null}`...)
}

// appendIDs appends a reply of token ids from one up to another.
func appendIDs(r *Reply, b []byte, from, to int) []byte {
	p := &r.Plan
	b = append(b, `{"output_ids":[`...)
	for k := from; k < to; k++ {
		if k > from {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(1000+(p.draw+uint64(k))%50000), 10)
	}
	b = append(b, `],"meta_info":{"id":"`...)
	b = r.AppendID(b)
	b = append(b, `","prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(p.PromptTokens), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(to), 10)
	b = append(b, `,"cached_tokens":0,"finish_reason":`...)
	if to == p.Tokens() {
		b = append(append(append(b, `{"type":"`...), p.Finish...), `"}`...)
	} else {
		b = append(b, "null"...)
	}
	return append(b, "}}"...)
}

func wholeIDs(r *Reply, b []byte) []byte { return appendIDs(r, b, 0, r.Plan.Tokens()) }

func idsEvent(e *Events, b []byte, k int) []byte {
	r := e.reply
	b = append(b, "data: "...)
	switch k {
	case ErrorEvent:
		b = append(b, ErrorInside...)
	case DoneEvent:
		b = append(b, "[DONE]"...)
	default:
		b = appendIDs(r, b, k, k+1)
	}
	return b
}

func wholeAnswer(r *Reply, b []byte) []byte {
	p := &r.Plan
	b = append(b, `{"content":"`...)
	b = r.appendContent(b, p.Tokens())
	return append(b, `","sources":[{"title":"mock","score":1.0}]}`...)
}

// answerEvent appends the event of a token; such streams end without a mark.
func answerEvent(e *Events, b []byte, k int) []byte {
	r := e.reply
	if k == ErrorEvent {
		return append(append(b, "data: "...), ErrorInside...)
	}
	key := "content"
	if r.API == Multimodal {
		key = "text"
	}
	b = append(append(append(b, `data: {"`...), key...), `":"`...)
	return append(e.appendWord(b), `"}`...)
}

func wholeMultimodal(r *Reply, b []byte) []byte {
	p := &r.Plan
	b = append(b, `{"text":"`...)
	b = r.appendContent(b, p.Tokens())
	return append(b, `"}`...)
}

// transcriptTokens returns the length of a transcript: two words for each second, from eight words to an hour.
func transcriptTokens(seconds float64) int { return max(8, int(2*min(seconds, 3600))) }

func wholeTranscript(r *Reply, b []byte) []byte {
	p := &r.Plan
	switch r.Request.format {
	case "text", "srt", "vtt":
		if r.Request.format == "vtt" {
			b = append(b, "WEBVTT\n\n"...)
		}
		if r.Request.format != "text" {
			b = append(b, "00:00:00.000 --> 00:00:01.000\n"...)
		}
		return append(r.appendContent(b, p.Tokens()), '\n')
	}
	b = append(b, `{"text":"`...)
	b = r.appendContent(b, p.Tokens())
	b = append(b, `","usage":{"type":"duration","seconds":`...)
	b = strconv.AppendFloat(b, r.Request.seconds, 'f', -1, 64)
	return append(b, "}}"...)
}

package mockserver

import "strconv"

// This file writes the replies of the generate APIs of text-generation-inference and SGLang, and those
// of the APIs that answer with a plain text member.

func wholeGenerated(c *conn, b []byte) []byte {
	p := &c.x.plan
	b = append(b, `{"generated_text":"`...)
	b = c.appendWords(b, c.srv.words.At(p.draw), p.tokens())
	return append(b, `"}`...)
}

// generatedEvent builds the event of a token; the last one repeats the whole text.
func generatedEvent(s *stream, k int) {
	c := s.c
	if k == kindError {
		c.out = append(c.out, `data: {"error":"injected fault: error inside a success","error_type":"generation"}`+
			"\n\n"...)
		return
	}
	c.out = append(c.out, `data: {"index":`...)
	c.out = strconv.AppendInt(c.out, int64(k+1), 10)
	c.out = append(c.out, `,"token":{"id":`...)
	c.out = strconv.AppendInt(c.out, int64(k), 10)
	c.out = append(c.out, `,"text":"`...)
	c.out = append(c.out, c.srv.vocabulary.piece(&s.words)...)
	c.out = append(c.out, `","logprob":-0.1,"special":false},"generated_text":`...)
	if k == s.p.tokens()-1 {
		c.out = append(c.out, '"')
		c.out = append(c.appendWords(c.out, c.srv.words.At(s.p.draw), s.p.tokens()), '"')
	} else {
		c.out = append(c.out, "null"...)
	}
	c.out = append(c.out, ",\"details\":null}\n\n"...)
}

// appendIDs builds a reply of token ids from one up to another.
func appendIDs(c *conn, b []byte, from, to int) []byte {
	p := &c.x.plan
	b = append(b, `{"output_ids":[`...)
	for k := from; k < to; k++ {
		if k > from {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(1000+(p.draw+uint64(k))%50000), 10)
	}
	b = append(b, `],"meta_info":{"id":"`...)
	b = c.appendID(b)
	b = append(b, `","prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(p.promptTokens), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(to), 10)
	b = append(b, `,"cached_tokens":0,"finish_reason":`...)
	if to == p.tokens() {
		b = append(append(append(b, `{"type":"`...), p.finish...), `"}`...)
	} else {
		b = append(b, "null"...)
	}
	return append(b, "}}"...)
}

func wholeIDs(c *conn, b []byte) []byte { return appendIDs(c, b, 0, c.x.plan.tokens()) }

func idsEvent(s *stream, k int) {
	c := s.c
	c.out = append(c.out, "data: "...)
	switch k {
	case kindError:
		c.out = append(c.out, errorInside...)
	case kindDone:
		c.out = append(c.out, "[DONE]"...)
	default:
		c.out = appendIDs(c, c.out, k, k+1)
	}
	c.out = append(c.out, "\n\n"...)
}

func wholeAnswer(c *conn, b []byte) []byte {
	p := &c.x.plan
	b = append(b, `{"content":"`...)
	b = c.appendWords(b, c.srv.words.At(p.draw), p.tokens())
	return append(b, `","sources":[{"title":"mock","score":1.0}]}`...)
}

// answerEvent builds the event of a token; such streams end without a mark.
func answerEvent(s *stream, k int) {
	c := s.c
	if k == kindError {
		c.out = append(append(append(c.out, "data: "...), errorInside...), "\n\n"...)
		return
	}
	key := "content"
	if c.x.api == apiMultimodal {
		key = "text"
	}
	c.out = append(append(append(c.out, `data: {"`...), key...), `":"`...)
	c.out = append(append(c.out, c.srv.vocabulary.piece(&s.words)...), "\"}\n\n"...)
}

func wholeMultimodal(c *conn, b []byte) []byte {
	p := &c.x.plan
	b = append(b, `{"text":"`...)
	b = c.appendWords(b, c.srv.words.At(p.draw), p.tokens())
	return append(b, `"}`...)
}

// transcriptTokens is the length of a transcript: two words for each second, from eight words to an hour.
func transcriptTokens(seconds float64) int { return max(8, int(2*min(seconds, 3600))) }

func wholeTranscript(c *conn, b []byte) []byte {
	p := &c.x.plan
	switch c.req.format {
	case "text", "srt", "vtt":
		if c.req.format == "vtt" {
			b = append(b, "WEBVTT\n\n"...)
		}
		if c.req.format != "text" {
			b = append(b, "00:00:00.000 --> 00:00:01.000\n"...)
		}
		return append(c.appendWords(b, c.srv.words.At(p.draw), p.tokens()), '\n')
	}
	b = append(b, `{"text":"`...)
	b = c.appendWords(b, c.srv.words.At(p.draw), p.tokens())
	b = append(b, `","usage":{"type":"duration","seconds":`...)
	b = strconv.AppendFloat(b, c.req.seconds, 'f', -1, 64)
	return append(b, "}}"...)
}

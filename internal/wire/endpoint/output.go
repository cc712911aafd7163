package endpoint

import (
	"slices"
	"strings"

	"aiperf/internal/base/jsonscan"
)

// carries reports whether a raw value may hold output: a string, list or object that is not empty.
func carries(raw []byte) bool {
	return len(raw) > 2 && (raw[0] == '"' || raw[0] == '[' || raw[0] == '{')
}

// appendParts appends the text of a value that is a string, a list of parts or a part, which vendors use for one another.
func appendParts(dst, raw []byte) []byte {
	switch {
	case jsonscan.IsText(raw):
		return jsonscan.AppendText(dst, raw)
	case startsWith(raw, '['):
		for part := range jsonscan.Elements(raw) {
			dst = appendParts(dst, part)
		}
	case startsWith(raw, '{'):
		start := len(dst)
		for _, key := range [...]string{"text", "thinking", "summary", "content"} {
			if dst = appendParts(dst, jsonscan.Find(raw, key)); len(dst) > start {
				return dst
			}
		}
	}
	return dst
}

// further are the parts of a message that few replies have.
type further struct {
	// thinking and details are reasoning under other names.
	thinking, details, refusal, audio []byte
	// thought reports that the content is reasoning.
	thought bool
}

// further reads the members of a message that its spans do not have. A name that nobody knows is noted if it carries
// output.
func (r *Reply) further(message []byte) (f further) {
	for m := range jsonscan.Members(message) {
		switch key := string(m.Key); key {
		case "thinking", "thinking_content", "reasoning_text", "thought":
			if len(f.thinking) == 0 && carries(m.Value) {
				f.thinking = m.Value
			}
		case "reasoning_details", "thinking_blocks":
			f.details = m.Value
		case "refusal":
			f.refusal = m.Value
		case "audio":
			f.audio = m.Value
		case "extra_content":
			f.thought = string(jsonscan.Find(jsonscan.Find(m.Value, "google"), "thought")) == "true"
		case "content", "reasoning_content", "reasoning", "tool_calls", "function_call":
			// read as spans
		case "role", "name", "id", "type", "object", "model", "created", "status", "logprobs", "token_ids",
			"prompt_token_ids", "finish_reason", "stop_reason", "matched_stop", "tool_call_id", "annotations", "citations",
			"context", "signature", "thought_signature", "provider_specific_fields", "channel", "recipient":
			// no output
		default:
			if carries(m.Value) {
				r.leave("message." + key)
			}
		}
	}
	return f
}

// maxUnread bounds the names of a reply that nobody reads.
const maxUnread = 4

// leave notes that output under a name was left unread.
func (r *Reply) leave(name string) {
	if name = plainName(name); len(r.Unread) < maxUnread && !slices.Contains(r.Unread, name) {
		r.Unread = append(r.Unread, name)
	}
}

// maxName bounds a name that a server chose.
const maxName = 60

// plainName is a name that a server chose, as messages may show it. What is no name is not shown in part: a piece of a
// secret would pass the redactor.
func plainName(name string) string {
	strange := strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("_.-: ", c)
	})
	if strange || len(name) > maxName {
		return "unreadable"
	}
	return name
}

// rich reads a message whose output is not in strings alone, or under further names.
func (d *openAIDecoder) rich(m *spans, atNS int64) {
	r := &d.reply
	f := r.further(m.raw)
	thoughts, start, heard := len(r.Reasoning), len(r.Output), false
	for _, raw := range [...][]byte{m.reasoningContent, m.reasoning, f.thinking, f.details} {
		if r.Reasoning = appendParts(r.Reasoning, raw); len(r.Reasoning) > thoughts {
			break
		}
	}
	if d.collectTools(m) && len(r.Reasoning) == thoughts {
		r.Output = append(r.Output, d.scratch...)
	}
	switch {
	case f.thought:
		r.Reasoning = appendParts(r.Reasoning, m.content)
	case startsWith(m.content, '['):
		for part := range jsonscan.Elements(m.content) {
			heard = d.part(part) || heard
		}
	case jsonscan.IsText(m.content):
		d.appendText(m.content, false)
	}
	if jsonscan.IsText(f.refusal) {
		d.appendText(f.refusal, false)
	}
	transcript, sounds := sound(f.audio)
	if heard = heard || sounds; transcript != nil {
		d.appendText(transcript, false)
	}
	if output := len(r.Output) > start || heard; output || len(r.Reasoning) > thoughts {
		d.arrived(atNS, output)
	}
}

// sound is the raw transcript of a piece of sound, nil if it has none, and whether there is sound: data, or where to
// fetch it. A part may hold it in an object of its own; what lies deeper is not looked for: each level is read once more.
func sound(raw []byte) (transcript []byte, sounds bool) { return soundIn(raw, 1) }

// soundIn looks for sound in an object, and so many levels below it.
func soundIn(raw []byte, levels int) (transcript []byte, sounds bool) {
	if !startsWith(raw, '{') {
		return nil, false
	}
	for m := range jsonscan.Members(raw) {
		switch string(m.Key) {
		case "transcript":
			if jsonscan.IsText(m.Value) {
				transcript = m.Value
			}
		case "data", "url":
			sounds = sounds || jsonscan.IsText(m.Value)
		case "audio", "audio_url":
			if levels == 0 {
				continue
			}
			inner, more := soundIn(m.Value, levels-1)
			if sounds = sounds || more; inner != nil {
				transcript = inner
			}
		}
	}
	return transcript, sounds
}

// isSound reports whether a part of this type is sound.
func isSound(kind string) bool {
	return kind == "audio" || kind == "output_audio" || kind == "audio_url"
}

// part reads one part of a content that is a list, and reports whether it is sound.
func (d *openAIDecoder) part(raw []byte) (heard bool) {
	r := &d.reply
	if raw[0] != '{' {
		if jsonscan.IsText(raw) {
			d.appendText(raw, false)
		}
		return false
	}
	kind := jsonscan.FindText(raw, "type")
	switch {
	case kind == "thinking" || kind == "reasoning" || string(jsonscan.Find(raw, "thought")) == "true":
		r.Reasoning = appendParts(r.Reasoning, raw)
		return false
	case kind == "refusal":
		if text := jsonscan.Find(raw, "refusal"); jsonscan.IsText(text) {
			d.appendText(text, false)
		}
		return false
	case isSound(kind):
		transcript, sounds := sound(raw)
		if transcript != nil {
			d.appendText(transcript, false)
		}
		return sounds
	}
	for _, key := range [...]string{"text", "content"} {
		if text := jsonscan.Find(raw, key); jsonscan.IsText(text) {
			d.appendText(text, false)
			return false
		}
	}
	for m := range jsonscan.Members(raw) {
		if string(m.Key) != "type" && carries(m.Value) {
			r.leave("content." + kind)
			return false
		}
	}
	return false
}

// foreign reads a document without choices: the native replies of servers that also take this API's requests.
func (d *openAIDecoder) foreign(data []byte, atNS int64) {
	var r root
	if !r.scan(data) {
		return
	}
	var message spans
	if startsWith(r.message, '{') {
		message.scan(r.message, 0)
	}
	for _, raw := range [...][]byte{r.response, r.content, r.text} {
		if !message.says() && jsonscan.IsText(raw) {
			message.content = raw
		}
	}
	if string(r.done) == "true" {
		d.reply.end(r.doneReason)
		d.reply.Finished = true
	}
	d.message(&message, atNS)
}

package endpoint

import (
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
)

// chat is the OpenAI chat completions API.
type chat struct {
	openAI
}

func newChat(d Descriptor, o Options) Endpoint {
	return &chat{newOpenAI(d, o)}
}

func (e *chat) Encode(c *Context) (*Body, error) {
	if len(c.Turns) == 0 || c.Turns[len(c.Turns)-1].Turn == nil {
		return nil, valueError("The request has no current turn.")
	}
	current := c.Turns[len(c.Turns)-1].Turn
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(current.Extra),
		chunkUsage: e.options.ChunkUsage}
	if w.key("messages") {
		m := messageWriter{buf: w.buf, part: appendChatPart, alwaysParts: e.options.ForceContentParts, ids: true}
		if err := m.write(c); err != nil {
			return nil, err
		}
		w.buf = m.buf
	}
	w.text("model", modelOf(current.Model, e.options.Model))
	w.literal("stream", strconv.FormatBool(e.options.Streaming))
	for i := len(c.Turns) - 1; i >= 0; i-- {
		if t := c.Turns[i].Turn; t != nil && len(t.RawTools) > 0 {
			w.raws("tools", t.RawTools)
			break
		}
	}
	if current.MaxTokens != nil {
		key := "max_completion_tokens"
		if e.options.UseLegacyMaxTokens {
			key = "max_tokens"
		}
		w.literal(key, strconv.Itoa(*current.MaxTokens))
	}
	return w.finish(e.options.Streaming), nil
}

func modelOf(turn, primary string) string {
	if turn != "" {
		return turn
	}
	return primary
}

// sizeHint is about the length of the encoded body.
func sizeHint(c *Context) int {
	n := 256
	if c.SystemMessage != nil {
		n += len(*c.SystemMessage) + 64
	}
	if c.UserContext != nil {
		n += len(*c.UserContext) + 64
	}
	for i := range c.Turns {
		n += len(c.Turns[i].Assistant) + 64
		if c.Turns[i].Turn == nil {
			continue
		}
		for _, t := range c.Turns[i].Texts {
			for _, s := range t.Contents {
				n += len(s) + len(s)/32 + 64
			}
		}
		for _, m := range c.Turns[i].RawMessages {
			n += len(m)
		}
	}
	return n
}

// appendChatPart appends one content part.
func appendChatPart(dst []byte, kind mediaKind, content string) ([]byte, error) {
	switch kind {
	case mediaText:
		dst = append(dst, `{"type":"text","text":`...)
		return append(jsonscan.AppendString(dst, content), '}'), nil
	case mediaImage:
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
	case mediaVideo:
		dst = append(dst, `{"type":"video_url","video_url":{"url":`...)
	case mediaAudio:
		format, data, ok := splitAudio(content)
		if !ok {
			return nil, valueError("audio content must be in the format 'format,b64_audio'")
		}
		dst = append(dst, `{"type":"input_audio","input_audio":{"data":`...)
		dst = append(jsonscan.AppendString(dst, data), `,"format":`...)
		content = format
	}
	return append(jsonscan.AppendString(dst, content), "}}"...), nil
}

// splitAudio takes "wav,<base64>" or a data URI of an audio type.
func splitAudio(content string) (format, data string, ok bool) {
	format, data, ok = strings.Cut(content, ",")
	if !ok {
		return "", "", false
	}
	if media, isURI := strings.CutPrefix(format, "data:"); isURI {
		media, _, _ = strings.Cut(media, ";")
		if format = strings.TrimPrefix(media, "audio/"); format == "" {
			format = "wav"
		}
	}
	return format, data, true
}

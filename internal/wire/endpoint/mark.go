package endpoint

import (
	"encoding/json"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

// Mark is a text that makes a request unlike others, so that no prefix cache of a server has it.
type Mark struct {
	Text string
	// After places it after the text of the message, with an empty line between them, instead of before it.
	After bool
	// System marks the system message where there is one, else the first message of the user.
	System bool
}

func (m Mark) apply(text string) string {
	if m.After {
		return text + m.Part()
	}
	return m.Part() + text
}

// Part is the mark with the empty line between it and the text before or after which it is placed.
func (m Mark) Part() string {
	if m.After {
		return systemSeparator + m.Text
	}
	return m.Text + systemSeparator
}

// Mark marks one message of the request; what the context shares with other requests stays as it is.
// It reports whether there was a system message to mark.
func (c *Context) Mark(m Mark) (hadSystem bool) {
	if m.System {
		if c.SystemMessage != nil {
			text := m.apply(*c.SystemMessage)
			c.SystemMessage = &text
			return true
		}
		if c.markFirst("system", m) {
			return true
		}
	}
	c.markFirst("user", m)
	return false
}

// markFirst marks the first message of a role.
func (c *Context) markFirst(role string, m Mark) bool {
	for i := range c.Turns {
		t := c.Turns[i].Turn
		switch {
		case t == nil:
		case t.RawMessages != nil:
			for j, raw := range t.RawMessages {
				if jsonscan.FindText(raw, "role") != role {
					continue
				}
				marked := *t
				marked.RawMessages = append([]json.RawMessage(nil), t.RawMessages...)
				marked.RawMessages[j] = m.message(raw)
				c.Turns[i].Turn, c.Turns[i].Kept = &marked, nil
				return true
			}
		case t.Role == role || t.Role == "" && role == "user":
			marked := *t
			marked.Texts = m.texts(t)
			c.Turns[i].Turn, c.Turns[i].Kept = &marked, nil
			return true
		}
	}
	return false
}

// texts are those of a turn with the mark: in the text where it is the only content, else as a text of
// its own.
func (m Mark) texts(t *dataset.Turn) []dataset.Media {
	if text, ok := soleText(t); ok {
		return []dataset.Media{{Name: t.Texts[0].Name, Contents: []string{m.apply(text)}}}
	}
	own := dataset.Media{Contents: []string{m.Part()}}
	if m.After {
		return append(append([]dataset.Media(nil), t.Texts...), own)
	}
	return append([]dataset.Media{own}, t.Texts...)
}

// message is a ready message with the mark in its content.
func (m Mark) message(raw []byte) json.RawMessage {
	out := []byte{'{'}
	for field := range jsonscan.Members(raw) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, field.Key), ':')
		if string(field.Key) == "content" {
			out = m.content(out, field.Value)
		} else {
			out = append(out, field.Value...)
		}
	}
	return append(out, '}')
}

// content appends the content of a message with the mark at its beginning or end: in the text itself, or as a part of
// its own in a list of parts. Content of another kind stays as it is.
func (m Mark) content(out, content []byte) []byte {
	switch {
	case jsonscan.IsText(content):
		return jsonscan.AppendString(out, m.apply(jsonscan.Text(content)))
	case len(content) > 0 && content[0] == '[':
		own, _ := appendChatPart(nil, mediaText, m.Part()) // a text part cannot fail
		out = append(out, '[')
		if !m.After {
			out = append(out, own...)
		}
		some := !m.After
		for e := range jsonscan.Elements(content) {
			if some {
				out = append(out, ',')
			}
			out, some = append(out, e...), true
		}
		if m.After {
			if some {
				out = append(out, ',')
			}
			out = append(out, own...)
		}
		return append(out, ']')
	}
	return append(out, content...)
}

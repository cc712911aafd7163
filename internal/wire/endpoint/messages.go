package endpoint

import (
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

type mediaKind uint8

const (
	mediaText mediaKind = iota
	mediaImage
	mediaAudio
	mediaVideo
)

// messageWriter builds the message list that chat-like APIs share: system message, user context, then
// the turns in order.
type messageWriter struct {
	buf         []byte
	part        func(dst []byte, kind mediaKind, content string) ([]byte, error)
	alwaysParts bool
	// ids gives images their ids.
	ids bool
	// typed gives the messages that are made here the type of an item.
	typed bool
	some  bool
}

// systemSeparator separates the run's system prompt from that of the data set.
const systemSeparator = "\n\n"

// write writes the messages of a request: the system message, merged with that of the first turn where there is one,
// the user's context, and all turns.
func (w *messageWriter) write(c *Context) error {
	w.buf = append(w.buf, '[')
	merged := false
	if c.SystemMessage != nil {
		var err error
		if merged, err = w.system(*c.SystemMessage, c.Turns); err != nil {
			return err
		}
	}
	if c.UserContext != nil {
		w.begin("user")
		w.buf = jsonscan.AppendString(w.buf, *c.UserContext)
		w.end()
	}
	for i := range c.Turns {
		if err := w.turn(&c.Turns[i], &merged); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, ']')
	return nil
}

// authoredSystem is the system message with which the turns begin: a raw one, or a turn.
func authoredSystem(turns []Turn) (raw []byte, turn *dataset.Turn) {
	for i := range turns {
		t := &turns[i]
		switch {
		case t.Assistant != nil:
		case t.RawMessages != nil:
			if len(t.RawMessages) == 0 {
				continue
			}
			if first := t.RawMessages[0]; jsonscan.FindText(first, "role") == "system" {
				return first, nil
			}
		case t.Role == "system":
			return nil, t.Turn
		}
		break
	}
	return nil, nil
}

// system writes the system message. If the turns begin with a system message of their own the two
// become one; merged then reports that the first message of the turns is used up.
func (w *messageWriter) system(prefix string, turns []Turn) (merged bool, err error) {
	w.begin("system")
	raw, turn := authoredSystem(turns)
	switch {
	case raw != nil:
		w.joinRaw(prefix, raw)
		return true, nil
	case turn != nil:
		return true, w.joinTurn(prefix, turn)
	}
	w.buf = jsonscan.AppendString(w.buf, prefix)
	w.end()
	return false, nil
}

// joinRaw completes the system message with the content and the other members of an authored one.
func (w *messageWriter) joinRaw(prefix string, raw []byte) {
	switch content := jsonscan.Find(raw, "content"); {
	case len(content) > 0 && content[0] == '"':
		w.buf = jsonscan.AppendString(w.buf, prefix+systemSeparator+jsonscan.Text(content))
	case len(content) > 0 && content[0] == '[':
		w.buf = append(w.buf, '[')
		w.buf, _ = w.part(w.buf, mediaText, prefix+systemSeparator) // a text part cannot fail
		for e := range jsonscan.Elements(content) {
			w.buf = jsonscan.AppendCompact(append(w.buf, ','), e)
		}
		w.buf = append(w.buf, ']')
	default:
		w.buf = jsonscan.AppendString(w.buf, prefix)
	}
	for m := range jsonscan.Members(raw) {
		if k := string(m.Key); k != "role" && k != "content" && (k != "type" || !w.typed) {
			w.buf = append(jsonscan.AppendString(append(w.buf, ','), m.Key), ':')
			w.buf = jsonscan.AppendCompact(w.buf, m.Value)
		}
	}
	w.end()
}

func (w *messageWriter) joinTurn(prefix string, t *dataset.Turn) error {
	if text, ok := soleText(t); ok && !w.alwaysParts {
		w.buf = jsonscan.AppendString(w.buf, prefix+systemSeparator+text)
		w.end()
		return nil
	}
	err := w.parts(t, prefix+systemSeparator)
	w.end()
	return err
}

// begin opens a message up to the value of its content.
func (w *messageWriter) begin(role string) {
	w.comma()
	w.buf = append(w.buf, '{')
	w.buf = append(w.buf, `"role":`...)
	w.buf = jsonscan.AppendString(w.buf, role)
	w.buf = append(w.buf, `,"content":`...)
}

// end closes a message after its content.
func (w *messageWriter) end() {
	if w.typed {
		w.buf = append(w.buf, `,"type":"message"`...)
	}
	w.buf = append(w.buf, '}')
}

func (w *messageWriter) comma() {
	if w.some {
		w.buf = append(w.buf, ',')
	}
	w.some = true
}

// kept writes a turn of the history from its encoded form, which it makes at the first time.
func (w *messageWriter) kept(t *Turn) error {
	text := t.Kept.messages.Load()
	if text == nil {
		alone := *w
		alone.buf, alone.some = nil, false
		fresh := *t
		fresh.Kept = nil
		if err := alone.turn(&fresh, new(bool)); err != nil {
			return err
		}
		text = &alone.buf
		t.Kept.messages.Store(text)
	}
	if len(*text) > 0 {
		w.comma()
		w.buf = append(w.buf, *text...)
	}
	return nil
}

// turn writes what one turn contributes; skipFirst leaves the first message out, once.
func (w *messageWriter) turn(t *Turn, skipFirst *bool) error {
	if t.Kept != nil && !*skipFirst {
		return w.kept(t)
	}
	switch {
	case t.Assistant != nil:
		w.comma()
		w.buf = append(w.buf, t.Assistant...)
		return nil
	case t.RawMessages != nil:
		for _, m := range t.RawMessages {
			if *skipFirst {
				*skipFirst = false
				continue
			}
			w.comma()
			w.buf = jsonscan.AppendCompact(w.buf, m)
		}
		return nil
	case *skipFirst:
		*skipFirst = false
		return nil
	}
	role := t.Role
	if role == "" {
		role = "user"
	}
	w.begin(role)
	var err error
	if text, ok := soleText(t.Turn); ok && !w.alwaysParts {
		w.buf = jsonscan.AppendString(w.buf, text)
	} else {
		err = w.parts(t.Turn, "")
	}
	w.end()
	return err
}

// soleText is the text of a turn that consists of one string and nothing else.
func soleText(t *dataset.Turn) (string, bool) {
	if len(t.Texts) != 1 || len(t.Texts[0].Contents) != 1 || len(t.Images)+len(t.Audios)+len(t.Videos) > 0 {
		return "", false
	}
	return t.Texts[0].Contents[0], true
}

// parts writes a content list: lead if there is one, then texts, images, audios and videos without
// the empty ones. A list of nothing is an empty text.
func (w *messageWriter) parts(t *dataset.Turn, lead string) error {
	start, n := len(w.buf), 0
	w.buf = append(w.buf, '[')
	add := func(kind mediaKind, content, id string) error {
		if content == "" && id == "" {
			return nil
		}
		if n++; n > 1 {
			w.buf = append(w.buf, ',')
		}
		buf, err := w.part(w.buf, kind, content)
		if err != nil {
			return err
		}
		if id != "" {
			buf = jsonscan.AppendString(append(buf[:len(buf)-1], `,"uuid":`...), id)
			buf = append(buf, '}')
		}
		w.buf = buf
		return nil
	}
	if err := add(mediaText, lead, ""); err != nil {
		return err
	}
	for kind, list := range [...][]dataset.Media{mediaText: t.Texts, mediaImage: t.Images, mediaAudio: t.Audios,
		mediaVideo: t.Videos} {
		for _, m := range list {
			for i, content := range m.Contents {
				id := ""
				if w.ids && kind == int(mediaImage) && i < len(m.IDs) {
					id = m.IDs[i]
				}
				if err := add(mediaKind(kind), content, id); err != nil {
					return err
				}
			}
		}
	}
	if n == 0 {
		w.buf = append(w.buf[:start], `""`...)
		return nil
	}
	w.buf = append(w.buf, ']')
	return nil
}

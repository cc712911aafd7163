package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/workload/dataset"
)

// modalities are the kinds of content; each has a key for one content and one for several.
var modalities = []struct{ singular, plural string }{
	{"text", "texts"},
	{"image", "images"},
	{"audio", "audios"},
	{"video", "videos"},
}

var (
	contentKeys = []string{"text", "texts", "image", "images", "audio", "audios", "video", "videos"}
	turnKeys    = append([]string{"type", "timestamp", "delay", "role", "output_length", "extra", headersKey},
		contentKeys...)
	singleKeys = append([]string{"session_id"}, turnKeys...)
	multiKeys  = []string{"type", "session_id", "turns", headersKey}
)

// singleTurn reads a line that is one turn. Lines with the same session id are one conversation.
func (l *lineReader) singleTurn(line []byte) (r row) {
	o, id, ok := l.object(line, singleKeys)
	if !ok {
		return r
	}
	r.session, r.kind = id, givenText
	var err error
	if r.turn, err = l.turnOf(o); err != nil {
		l.errorOf(o, err)
	}
	return r
}

// multiTurn reads a line with a list of turns. Lines with the same session id are joined.
func (l *lineReader) multiTurn(line []byte) (r row) {
	o, id, ok := l.object(line, multiKeys)
	if !ok {
		return r
	}
	const want = "a list of at least one turn"
	var list []json.RawMessage
	switch {
	case !o.has("turns"):
		l.errorOf(o, errors.New(`field "turns" is missing: want `+want))
		return r
	case json.Unmarshal(o.members["turns"], &list) != nil || len(list) == 0:
		l.errorf("%v", o.wrong("turns", want))
		return r
	}
	r.session, r.kind = id, givenText
	turns := make([]dataset.Turn, len(list))
	for i, text := range list {
		var err error
		if turns[i], err = l.innerTurn(text); err != nil {
			l.errorf("turns[%d]: %v", i, err)
			return r
		}
	}
	all, err := l.headers(o)
	if err != nil {
		l.errorf("%v", err)
		return r
	}
	withHeaders(turns, all)
	r.turn, r.more = turns[0], turns[1:]
	return r
}

func (l *lineReader) innerTurn(text []byte) (dataset.Turn, error) {
	o, err := parseObject(text)
	if err != nil {
		return dataset.Turn{}, err
	}
	o.takePrompt()
	l.checkKeys(o, turnKeys)
	return l.turnOf(o)
}

// takePrompt uses the member prompt as text where there is no text.
func (o *object) takePrompt() {
	if !o.has("prompt") || o.has("text") || o.has("texts") {
		return
	}
	o.members["text"] = o.members["prompt"]
	delete(o.members, "prompt")
	o.keys[slices.Index(o.keys, "prompt")] = "text"
}

// otherNames are what the text of a record is called elsewhere.
var otherNames = []string{"content", "question", "query", "input", "instruction", "inputs"}

// suggestion returns a hint at the known key that an unknown one may be a misspelling of.
func suggestion(key string, known []string) string {
	if !slices.Contains(known, "text") {
		if near := suggest.Nearest(strings.ToLower(key), known); near != "" {
			return fmt.Sprintf(": did you mean %q?", near)
		}
		return ""
	}
	near := suggest.Nearest(strings.ToLower(key), append([]string{"prompt"}, known...))
	switch {
	case slices.Contains(otherNames, strings.ToLower(key)):
		return `: use "text" for the prompt`
	case near == "prompt":
		return `: did you mean "prompt"? Use "text" or "prompt"`
	case near != "":
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ""
}

// unknownKeys names a key of a record whose format is not recognised, with the one that was perhaps meant.
func unknownKeys(o *object) string {
	known := slices.Concat(singleKeys,
		[]string{"turns", "messages", "conversations", "payload", "text_input", "input_length"})
	for _, key := range o.keys {
		if hint := suggestion(key, known); hint != "" && !slices.Contains(known, key) {
			return fmt.Sprintf(" (unknown key %q%s)", shorten(key), hint)
		}
	}
	if len(o.keys) == 0 {
		return ""
	}
	return fmt.Sprintf(` (unknown key %q: use "text" for a prompt)`, shorten(o.keys[0]))
}

var errNoContent = errors.New("the turn has no content: want a text, image, audio or video that is not empty")

// turnOf reads a turn from its object.
func (l *lineReader) turnOf(o *object) (dataset.Turn, error) {
	var t dataset.Turn
	var err error
	keep := func(e error) { // the first error of several fields
		if err == nil {
			err = e
		}
	}
	var e error
	t.Role, e = o.text("role")
	keep(e)
	t.TimestampMS, e = o.milliseconds("timestamp")
	keep(e)
	t.DelayMS, e = o.milliseconds("delay")
	keep(e)
	t.MaxTokens, e = o.positive("output_length")
	keep(e)
	t.Extra, e = o.fields("extra")
	keep(e)
	t.Headers, e = l.headers(o)
	keep(e)
	keep(l.contents(o, &t))
	if err == nil && t.TimestampMS != nil && t.DelayMS != nil {
		err = errors.New(`fields "timestamp" and "delay" exclude each other`)
	}
	if err == nil && len(t.Texts)+len(t.Images)+len(t.Audios)+len(t.Videos) == 0 {
		err = errNoContent
	}
	return t, err
}

// media reads a list of strings, which are the contents of one object, or a list of objects.
func (o *object) media(key string) ([]dataset.Media, error) {
	if !o.has(key) {
		return nil, nil
	}
	var strings []string
	if json.Unmarshal(o.members[key], &strings) == nil {
		if len(strings) == 0 {
			return nil, nil
		}
		return []dataset.Media{{Contents: strings}}, nil
	}
	var objects []struct {
		Name     string   `json:"name"`
		Contents []string `json:"contents"`
		UUIDs    []string `json:"uuids"`
	}
	if json.Unmarshal(o.members[key], &objects) != nil {
		return nil, o.wrong(key, "a list of strings or of objects with a name and contents")
	}
	var media []dataset.Media
	for _, m := range objects {
		if key != imagesKey {
			m.UUIDs = nil
		}
		switch {
		case len(m.UUIDs) > 0 && len(m.Contents) == 0:
			m.Contents = make([]string, len(m.UUIDs)) // the server has them all
		case len(m.Contents) == 0:
			return nil, o.wrong(key, "objects with at least one content")
		}
		if len(m.UUIDs) > 0 && (len(m.UUIDs) != len(m.Contents) || slices.Contains(m.UUIDs, "")) {
			return nil, fmt.Errorf(
				"field %q: want as many uuids as contents, none of them empty, got %d for %d contents", key,
				len(m.UUIDs), len(m.Contents))
		}
		media = append(media, dataset.Media{Name: m.Name, Contents: m.Contents, IDs: m.UUIDs})
	}
	return media, nil
}

// imagesKey is the only list whose contents have ids.
const imagesKey = "images"

// stripImages empties the images whose ids an earlier turn of the conversation sent with their content.
func stripImages(c *dataset.Conversation) {
	sent := map[string]bool{}
	for t := range c.Turns {
		var now []string
		for _, m := range c.Turns[t].Images {
			for i, id := range m.IDs {
				switch {
				case sent[id]:
					m.Contents[i] = ""
				case m.Contents[i] != "":
					now = append(now, id)
				}
			}
		}
		for _, id := range now {
			sent[id] = true
		}
	}
}

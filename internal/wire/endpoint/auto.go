package endpoint

import (
	"encoding/json"

	"github.com/jmespath-community/go-jmespath"

	"aiperf/internal/base/jsonscan"
)

// autoReader finds the answer in replies of an unknown form: by an expression of the user's, else by
// the names that servers give to embeddings, rankings and texts.
type autoReader struct{ field jmespath.JMESPath }

func (autoReader) reset() {}

// plain takes a reply that is not JSON for its text, but not one that calls itself something else.
func (autoReader) plain(d *documentDecoder, contentType string, text []byte, atNS int64) bool {
	if contentType != "" && contentType != "text/plain" {
		return false
	}
	d.reply.Finished = true
	d.reply.Output = append(d.reply.Output, text...)
	d.content(atNS, true)
	return true
}

func (a autoReader) read(d *documentDecoder, r *root, data []byte, atNS int64) {
	d.reply.Finished = true // nothing is known of how such streams end
	switch string(data) {
	case "{}", "[]", "0", `""`, "null", "false":
		a.plain(d, "", data, atNS)
		return
	}
	output := len(d.reply.Output)
	a.answer(d, r, data, atNS)
	if !d.reply.Whole {
		d.reply.grow(output, len(d.reply.Reasoning), atNS)
	}
	a.notes(&d.reply, r)
}

// notes reads what common servers say of a reply besides its text.
func (autoReader) notes(reply *Reply, r *root) {
	if startsWith(r.metaInfo, '{') {
		reply.Usage.Fold(r.metaInfo)
		reply.end(jsonscan.Find(r.metaInfo, "finish_reason"))
	}
	for choice := range jsonscan.Elements(r.choices) {
		reply.end(jsonscan.Find(choice, "finish_reason"))
		break
	}
	reply.end(r.finish)
	reply.end(r.doneReason)
	reply.details(r.details)
}

// answer adds what the document answers.
func (a autoReader) answer(d *documentDecoder, r *root, data []byte, atNS int64) {
	if a.field != nil && a.search(d, data, atNS) {
		return
	}
	switch {
	case r.array != nil:
		take(d, kindOf(r.array), "", atNS)
	case data[0] == '"':
		d.output(data, atNS)
	case holdsEmbeddings(r), isList(r.rankings), isList(r.results):
		d.content(atNS, true)
	default:
		if !a.text(d, r, atNS) && listsEmbeddings(r) {
			d.content(atNS, true)
		}
	}
}

// search evaluates the user's expression; false if the result is not an answer.
func (a autoReader) search(d *documentDecoder, data []byte, atNS int64) bool {
	var tree any
	if json.Unmarshal(data, &tree) != nil {
		return false
	}
	found, err := a.field.Search(tree)
	if err != nil {
		return false
	}
	if text, ok := found.(string); ok {
		return take(d, aText, text, atNS)
	}
	raw, err := json.Marshal(found)
	return err == nil && take(d, kindOf(raw), "", atNS)
}

// answerKind is what a value means by its form alone.
type answerKind uint8

const (
	noAnswer answerKind = iota
	aText
	someEmbeddings
	someRankings
)

// kindOf distinguishes lists of numbers, or of such lists, from lists of objects.
func kindOf(raw []byte) answerKind {
	kind, n := noAnswer, 0
	for e := range jsonscan.Elements(raw) {
		k := noAnswer
		switch {
		case isNumber(e):
			k = someEmbeddings
		case e[0] == '[':
			if k = kindOf(e); k != someEmbeddings {
				return noAnswer
			}
		case e[0] == '{':
			k = someRankings
		}
		if n++; k == noAnswer || n > 1 && k != kind {
			return noAnswer
		}
		kind = k
	}
	return kind
}

func take(d *documentDecoder, kind answerKind, text string, atNS int64) bool {
	if kind == noAnswer || kind == aText && text == "" {
		return false
	}
	d.reply.Output = append(d.reply.Output, text...)
	d.content(atNS, true)
	return true
}

func isList(raw []byte) bool { return len(raw) > 0 && raw[0] == '[' }

func holdsEmbeddings(r *root) bool {
	for first := range jsonscan.Elements(r.data) {
		return jsonscan.FindText(first, "object") == "embedding"
	}
	return isList(r.embeddings) || isList(r.embedding)
}

// listsEmbeddings reports whether the list of data has embeddings, whatever its elements call themselves.
func listsEmbeddings(r *root) bool {
	for first := range jsonscan.Elements(r.data) {
		return !jsonscan.IsNull(jsonscan.Find(first, "embedding"))
	}
	return false
}

// text takes the first member that is a text, or else the first choice's; false if there is none.
func (autoReader) text(d *documentDecoder, r *root, atNS int64) bool {
	for _, raw := range [...][]byte{r.text, r.content, r.response, r.output, r.result} {
		if d.output(raw, atNS) || d.joined(raw, atNS) {
			return true
		}
	}
	if startsWith(r.message, '{') && d.output(jsonscan.Find(r.message, "content"), atNS) {
		return true
	}
	for choice := range jsonscan.Elements(r.choices) {
		message, delta := jsonscan.Find(choice, "message"), jsonscan.Find(choice, "delta")
		for _, raw := range [...][]byte{
			jsonscan.Find(choice, "text"), jsonscan.Find(message, "content"), jsonscan.Find(delta, "content"),
		} {
			if d.output(raw, atNS) {
				return true
			}
		}
		break
	}
	return false
}

// joined takes a list of strings as one text.
func (d *documentDecoder) joined(raw []byte, atNS int64) bool {
	start := len(d.reply.Output)
	for e := range jsonscan.Elements(raw) {
		if e[0] != '"' {
			d.reply.Output = d.reply.Output[:start]
			return false
		}
		d.reply.Output = jsonscan.AppendText(d.reply.Output, e)
	}
	if len(d.reply.Output) == start {
		return false
	}
	d.content(atNS, true)
	return true
}

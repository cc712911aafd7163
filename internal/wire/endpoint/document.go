package endpoint

import (
	"bytes"
	"strings"
	"sync"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
)

// documentReader reads a document and adds its contents to the decoder. It may keep state between the documents of one
// exchange.
type documentReader interface {
	// read reads one document; data is its text.
	read(d *documentDecoder, r *root, data []byte, atNS int64)
	// reset forgets the exchange.
	reset()
}

// plainReader is a reader that also takes replies that are not JSON. contentType is that of a whole reply, "" for an
// event; false refuses the text.
type plainReader interface {
	plain(d *documentDecoder, contentType string, text []byte, atNS int64) bool
}

// binaryReader is a reader of vectors, which some servers send as bytes if they are asked to: the reply has no usage.
type binaryReader interface {
	// takesBinary reports whether a whole reply of octets is content.
	takesBinary() bool
}

// replayer is a reader whose API represents replies in a form of its own.
type replayer interface {
	// replay appends what the next turn's history carries for the reply.
	replay(r *Reply, dst []byte) []byte
}

// documentDecoder decodes replies by the members of their documents.
type documentDecoder struct {
	home  *sync.Pool
	api   documentReader
	root  root
	reply Reply
	first func()
	// event is the name of the event that is read, contentType that of the body.
	event       []byte
	contentType string
}

// newDecoders is a pool of decoders, each with a reader of its own.
func newDecoders(api func() documentReader) *sync.Pool {
	home := &sync.Pool{}
	home.New = func() any {
		d := &documentDecoder{home: home, api: api()}
		d.reply.form, _ = d.api.(replayer)
		return d
	}
	return home
}

// documents is what the endpoint types have in common whose replies are documents.
type documents struct {
	shared
	decoders *sync.Pool
}

func newDocuments(d Descriptor, o Options, api func() documentReader) documents {
	return documents{newShared(d, o), newDecoders(api)}
}

func (e *documents) NewDecoder() Decoder { return e.decoders.Get().(*documentDecoder) }

func (d *documentDecoder) OnFirstContent(f func()) { d.first = f }

func (d *documentDecoder) Reply() *Reply {
	d.reply.settle()
	return &d.reply
}

func (d *documentDecoder) Release() {
	d.clear()
	d.home.Put(d)
}

// clear forgets the exchange.
func (d *documentDecoder) clear() {
	r := &d.reply
	if cap(r.Output)+cap(r.Reasoning)+cap(r.text)+8*cap(r.ContentNS) > maxKept {
		d.reply = Reply{form: r.form}
	} else {
		r.reset()
	}
	d.api.reset()
	d.first, d.root, d.event, d.contentType = nil, root{}, nil, ""
}

// Event decodes the data of one server-sent event.
func (d *documentDecoder) Event(name, data []byte, atNS int64) {
	d.event = name
	d.reply.event(data, atNS, d.document)
}

// Body decodes a whole reply.
func (d *documentDecoder) Body(contentType string, binary bool, body []byte, atNS int64) {
	d.contentType = contentType
	if b, ok := d.api.(binaryReader); ok && binary && contentType == octets && b.takesBinary() && !isProse(body) {
		d.reply.Finished, d.reply.Whole = true, true
		d.content(atNS, true)
		return
	}
	d.reply.body(contentType, binary, body, atNS, d.document)
}

// octets is the media type of bytes that are anything.
const octets = "application/octet-stream"

// document reads an event or a whole body. What all APIs have in common, errors and usage, is read here. Text that is
// not JSON is a reply where the API has such, unless it is the page of a proxy.
func (d *documentDecoder) document(data []byte, atNS int64) {
	r := &d.root
	if !r.scan(data) {
		if p, ok := d.api.(plainReader); ok && !isPage(data) && p.plain(d, d.contentType, data, atNS) {
			return
		}
		d.reply.Malformed++
		d.reply.lacks(data)
		return
	}
	failed := !jsonscan.IsNull(r.err) || string(name(r.object)) == "error" || string(name(r.kind)) == "error"
	if d.reply.Err == nil && failed {
		d.reply.Err = r.failure(data)
	}
	switch {
	case len(r.usage) > 2:
		d.reply.Usage.Fold(r.usage)
	case r.foreignUsage:
		d.reply.Usage.Fold(data)
	}
	d.api.read(d, r, data, atNS)
	d.reply.lacks(data)
}

// kind is the type of the document, or else the name of its event.
func (d *documentDecoder) kind() []byte {
	if kind := name(d.root.kind); len(kind) > 0 {
		return kind
	}
	return d.event
}

// isPage reports whether a text is a page for people, which no API answers with: that of a login, or of a proxy.
func isPage(text []byte) bool {
	text = bytes.TrimSpace(text[:min(len(text), 256)])
	for _, start := range [...]string{"<!doctype html", "<html", "<head", "<body", "<?xml"} {
		if len(text) >= len(start) && strings.EqualFold(string(text[:len(start)]), start) {
			return true
		}
	}
	return false
}

// failure is the error that a document reports; nil if there is none.
func (r *root) failure(data []byte) *record.Error {
	e := readError(&chunk{err: r.err, object: []byte("error")}, data)
	if e != nil && e.Type == "" {
		e.Type = jsonscan.Text(r.errorType)
	}
	return e
}

// fail notes an error of the reply's content unless the server reported one before.
func (d *documentDecoder) fail(kind, message string) {
	if d.reply.Err == nil {
		d.reply.Err = &record.Error{Type: kind, Message: message}
	}
}

// output adds text that is not reasoning: the raw string of a content response.
func (d *documentDecoder) output(raw []byte, atNS int64) bool {
	if !jsonscan.IsText(raw) {
		return false
	}
	d.reply.Output = jsonscan.AppendText(d.reply.Output, raw)
	d.content(atNS, true)
	return true
}

// reasoning adds text of reasoning.
func (d *documentDecoder) reasoning(raw []byte, atNS int64) {
	if jsonscan.IsText(raw) {
		d.reply.Reasoning = jsonscan.AppendText(d.reply.Reasoning, raw)
		d.content(atNS, false)
	}
}

// content notes a content response; output reports that it carries more than reasoning.
func (d *documentDecoder) content(atNS int64, output bool) {
	r := &d.reply
	r.ContentNS = append(r.ContentNS, atNS)
	if r.FirstOutputNS == 0 && output {
		r.FirstOutputNS = atNS
	}
	if d.first != nil {
		first := d.first
		d.first = nil
		first()
	}
}

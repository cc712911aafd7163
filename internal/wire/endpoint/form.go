package endpoint

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

// formBoundary separates the fields of multipart bodies. It is the same for all of them, as long as no
// field holds it.
const formBoundary = "aiperf-7d0e5c1b9a3f4e62"

// formFile is a file of a form; its data is base64, as the data set holds it.
type formFile struct{ name, contentType, data string }

// formWriter collects the parts of a multipart body, and the JSON object that represents it in exports.
type formWriter struct {
	parts []formPart
	json  objectWriter
}

type formPart struct {
	head  string
	value []byte
}

// newForm merges the overrides over the fields; reserved ones among them must be gone already.
func newForm(over overrides) *formWriter { return &formWriter{json: objectWriter{over: over}} }

// textPart is the type of a field that is not a file.
const textPart = "text/plain; charset=utf-8"

func (f *formWriter) part(contentType, name, more string, value []byte) {
	f.parts = append(f.parts, formPart{"Content-Type: " + contentType + "\r\nContent-Disposition: form-data; name=\"" +
		quoted.Replace(name) + `"` + more, value})
}

var quoted = strings.NewReplacer("\"", "%22", "\r", "%0D", "\n", "%0A")

// field writes a generated field, or what the overrides have in its place; value is JSON text.
func (f *formWriter) field(name string, value []byte) {
	if f.json.key(name) {
		f.json.buf = append(f.json.buf, value...)
	} else {
		value, _ = f.json.over.get(name)
	}
	f.value(name, value)
}

func (f *formWriter) text(name, value string) { f.field(name, jsonscan.AppendString(nil, value)) }

// value writes a value as forms do: null is left out, a list is the same field several times, an object
// its JSON text.
func (f *formWriter) value(name string, raw []byte) {
	switch {
	case jsonscan.IsNull(raw):
	case raw[0] == '[':
		for e := range jsonscan.Elements(raw) {
			f.value(name, e)
		}
	case raw[0] == '"':
		f.part(textPart, name, "", jsonscan.AppendText(nil, raw))
	default:
		f.part(textPart, name, "", raw)
	}
}

// file writes a file.
func (f *formWriter) file(name string, file formFile) error {
	data, err := base64.StdEncoding.DecodeString(file.data)
	if err != nil {
		if data, err = base64.RawStdEncoding.DecodeString(file.data); err != nil {
			return valueError("The " + name + " is not valid base64: " + err.Error())
		}
	}
	f.part(file.contentType, name, `; filename="`+quoted.Replace(file.name)+`"`, data)
	if f.json.key(name) {
		f.json.buf = jsonscan.AppendString(append(f.json.buf, `{"filename":`...), file.name)
		f.json.buf = append(f.json.buf, `,"content_type":`...)
		f.json.buf = append(jsonscan.AppendString(f.json.buf, file.contentType), `,"data":`...)
		f.json.buf = append(jsonscan.AppendString(f.json.buf, file.data), '}')
	}
	return nil
}

// finish writes the rest of the overrides and completes the body.
func (f *formWriter) finish() *Body {
	for _, m := range f.json.over {
		if !f.json.wrote(m.Name) {
			f.value(m.Name, m.Value)
		}
	}
	boundary, size := formBoundary, 0
	for _, p := range f.parts {
		for bytes.Contains(p.value, []byte(boundary)) {
			boundary += "0"
		}
		size += len(p.head) + len(p.value) + len(boundary) + 16
	}
	buf := make([]byte, 0, size+len(boundary))
	for _, p := range f.parts {
		buf = append(append(append(buf, "--"...), boundary...), "\r\n"...)
		buf = append(append(buf, p.head...), "\r\n\r\n"...)
		buf = append(append(buf, p.value...), "\r\n"...)
	}
	buf = append(append(append(buf, "--"...), boundary...), "--\r\n"...)
	body := f.json.end(false, false)
	body.form, body.Bytes = body.Bytes, buf
	body.ContentType = "multipart/form-data; boundary=" + boundary
	return body
}

// withoutReserved drops the keys that an API makes itself, with a warning.
func (o overrides) withoutReserved(warn *once, keys ...string) overrides {
	kept := o
	for _, key := range keys {
		if _, ok := kept.get(key); ok {
			warn.say("The extra input " + key + " is ignored: the request sets this field itself.")
			kept = slices.DeleteFunc(slices.Clone(kept), func(m dataset.Field) bool { return m.Name == key })
		}
	}
	return kept
}

package mockserver

import (
	"bytes"
	"encoding/binary"
	"io"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"
)

// isForm reports whether the body is a form; the format still holds the content type.
func (r *request) isForm() bool { return strings.HasPrefix(r.format, "multipart/form-data") }

// form reads a multipart body.
func (r *request) form(a api, body []byte) *httpError {
	if a != apiTranscriptions && a != apiImageEdits && a != apiVideos {
		return badRequest("the body must be a JSON object")
	}
	_, parameters, err := mime.ParseMediaType(r.format)
	if err != nil || parameters["boundary"] == "" {
		return badRequest("the content type has no boundary")
	}
	r.format = ""
	reader := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
	prompt, file := false, false
	for {
		part, err := reader.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return badRequest("the form is malformed: %v", err)
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return badRequest("the form is malformed: %v", err)
		}
		switch part.FormName() {
		case "model":
			r.model = appendJSONString(nil, string(value))
		case "prompt":
			prompt = true
			r.addText()
			r.text = append(r.text, value...)
		case "n":
			r.n, _ = strconv.Atoi(string(value)) // 0 stands for the default
		case "response_format":
			r.format = string(value)
		case "file":
			file = part.FileName() != ""
			r.seconds = wavSeconds(value)
		case "image", "image[]":
			file = part.FileName() != ""
			r.inputs++
		case "url":
			file = true
		}
	}
	if r.model == nil {
		r.model = []byte(defaultModel)
	}
	switch {
	case a != apiTranscriptions && !prompt:
		return badRequest("prompt is required")
	case a == apiTranscriptions && !file:
		return badRequest("file is required")
	case a == apiImageEdits && !file:
		return badRequest("image is required")
	}
	if a == apiTranscriptions {
		r.text, r.hasText = r.text[:0], false // a hint for the transcript is not a prompt
	}
	return nil
}

// wavSeconds is the length of a canonical WAV file, 0 for anything else.
func wavSeconds(b []byte) float64 {
	if len(b) < 44 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return 0
	}
	rate := binary.LittleEndian.Uint32(b[28:])
	if rate == 0 {
		return 0
	}
	return float64(len(b)-44) / float64(rate)
}

package api

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"
)

// isForm reports whether the body is a form; the format still holds the content type.
func (r *Request) isForm() bool { return strings.HasPrefix(r.format, "multipart/form-data") }

// form reads a multipart body.
func (r *Request) form(a API, body []byte) error {
	if a != Transcriptions && a != ImageEdits && a != Videos {
		return errors.New("the body must be a JSON object")
	}
	_, parameters, err := mime.ParseMediaType(r.format)
	if err != nil || parameters["boundary"] == "" {
		return errors.New("the content type has no boundary")
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
			return fmt.Errorf("the form is malformed: %v", err)
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return fmt.Errorf("the form is malformed: %v", err)
		}
		switch part.FormName() {
		case "model":
			r.Model = AppendString(nil, string(value))
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
			r.Inputs++
		case "url":
			file = true
		}
	}
	if r.Model == nil {
		r.Model = []byte(defaultModel)
	}
	switch {
	case a != Transcriptions && !prompt:
		return errors.New("prompt is required")
	case a == Transcriptions && !file:
		return errors.New("file is required")
	case a == ImageEdits && !file:
		return errors.New("image is required")
	}
	if a == Transcriptions {
		r.text, r.hasText = r.text[:0], false // a hint for the transcript is not a prompt
	}
	return nil
}

// wavSeconds returns the length of a canonical WAV file, 0 for anything else.
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

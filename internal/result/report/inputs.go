package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
)

// Input is one turn's request body, formatted as the endpoint sends that turn on its own.
type Input struct {
	SessionID string
	// Payload is compact JSON; it is read before the next Input is asked for.
	Payload []byte
	// Headers are those that the data gives the turn; they are written without secrets.
	Headers []record.Header
}

// PayloadError reports that a turn could not be formatted: that is fatal to a run, while inputs.json
// not being writable is not.
type PayloadError struct{ Err error }

func (e *PayloadError) Error() string { return e.Err.Error() }

// Unwrap returns what the formatter said.
func (e *PayloadError) Unwrap() error { return e.Err }

// ErrInputsTooLarge reports that inputs.json would have passed its limit and was left out.
var ErrInputsTooLarge = errors.New("larger than allowed")

// WriteInputs writes inputs.json while the inputs come, so that a large dataset is never in memory
// twice. Neighbouring inputs of one session form one entry. The file takes its place only when it is
// complete; an error of the iterator comes back as a *PayloadError. A file that would pass maxBytes is left out
// with ErrInputsTooLarge; 0 means no limit.
func WriteInputs(path string, redactor *artifact.Redactor, maxBytes int64, inputs iter.Seq2[Input, error]) error {
	return artifact.WriteStream(path, func(out *bufio.Writer) error {
		w := inputsWriter{out: out, redactor: redactor}
		w.text("{\n  \"data\": [")
		for input, err := range inputs {
			if err != nil {
				return &PayloadError{err}
			}
			if err := w.add(input); err != nil {
				return err
			}
			if maxBytes > 0 && w.written > maxBytes {
				return ErrInputsTooLarge
			}
		}
		if w.open {
			w.endSession()
			w.text("\n  ")
		}
		w.text("]\n}\n")
		return nil
	})
}

// inputsWriter formats the document as an indented JSON encoder would. Write errors stick to the
// buffered writer.
type inputsWriter struct {
	out      *bufio.Writer
	redactor *artifact.Redactor
	scratch  bytes.Buffer
	open     bool
	session  string
	// payloads are those of the session so far, headers what the data gives them; it stays empty where that is nothing.
	payloads int
	headers  []artifact.Object
	// written counts the bytes of the payloads, which are nearly all of the file.
	written int64
}

func (w *inputsWriter) text(s string) { _, _ = w.out.WriteString(s) }

func (w *inputsWriter) add(input Input) error {
	switch {
	case !w.open:
		w.startSession(input.SessionID)
	case w.session != input.SessionID:
		w.endSession()
		w.text(",")
		w.startSession(input.SessionID)
	default:
		w.text(",")
	}
	payload := jsonscan.WithoutNulls(w.redactor.JSON(input.Payload))
	w.scratch.Reset()
	w.scratch.WriteString("\n        ")
	if err := json.Indent(&w.scratch, payload, "        ", "  "); err != nil {
		return &PayloadError{fmt.Errorf("session %s: %w", input.SessionID, err)}
	}
	n, err := w.out.Write(bytes.ToValidUTF8(w.scratch.Bytes(), []byte("\uFFFD")))
	w.written += int64(n)
	w.keepHeaders(input.Headers)
	return err
}

// keepHeaders keeps the headers of a payload for the end of its session, where the place in the list says whose they
// are.
func (w *inputsWriter) keepHeaders(list []record.Header) {
	if w.payloads++; len(list) == 0 {
		return
	}
	w.headers = append(w.headers, make([]artifact.Object, w.payloads-len(w.headers))...)
	for _, h := range list {
		name, value := w.redactor.Header(h.Name, h.Value)
		w.headers[w.payloads-1] = append(w.headers[w.payloads-1], artifact.Member{Key: name, Value: value})
	}
}

// endSession closes the entry of a session, with an object of headers for each payload if one has any.
func (w *inputsWriter) endSession() {
	w.text("\n      ]")
	if len(w.headers) > 0 {
		w.text(",\n      \"headers\": [")
		for i := range w.payloads {
			if i > 0 {
				w.text(",")
			}
			w.text("\n        ")
			one := artifact.Object{}
			if i < len(w.headers) && w.headers[i] != nil {
				one = w.headers[i]
			}
			text, _ := artifact.AppendJSON(nil, one) // texts can always be written
			w.scratch.Reset()
			_ = json.Indent(&w.scratch, text, "        ", "  ") // is JSON
			_, _ = w.out.Write(bytes.ToValidUTF8(w.scratch.Bytes(), []byte("\uFFFD")))
		}
		w.text("\n      ]")
	}
	w.text("\n    }")
	w.payloads, w.headers = 0, w.headers[:0]
}

func (w *inputsWriter) startSession(id string) {
	w.open, w.session = true, id
	w.text("\n    {\n      \"session_id\": ")
	_, _ = w.out.Write(artifact.AppendString(nil, id))
	w.text(",\n      \"payloads\": [")
}

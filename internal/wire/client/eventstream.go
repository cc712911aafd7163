package client

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"strings"
)

// MediaType is the content type of such a stream.
const MediaType = "application/vnd.amazon.eventstream"

// The sizes of a frame's fixed parts, and the largest frame that a service may send.
const (
	prelude  = 12
	trailer  = 4
	maxFrame = 24 << 20
)

// Errors of a stream that is none.
var (
	errChecksum = errors.New("a frame of the event stream has a wrong checksum")
	errFrame    = errors.New("a frame of the event stream is malformed")
)

// Message is one frame. Its payload is valid until the next call of Feed or Next.
type Message struct {
	// Kind is "event", "exception" or "error"; Name the type of the event or of what went wrong.
	Kind, Name string
	// ErrorText is the message of an error frame.
	ErrorText string
	Payload   []byte
}

// Text is the message of an exception.
func (m *Message) Text() string {
	if m.ErrorText != "" {
		return m.ErrorText
	}
	var doc struct {
		Message  string `json:"message"`
		Original string `json:"OriginalMessage"`
	}
	if json.Unmarshal(m.Payload, &doc) == nil && doc.Message != "" {
		return doc.Message
	}
	return strings.ToValidUTF8(string(m.Payload), "\uFFFD")
}

// Decoder cuts frames. The zero value is ready for a stream.
type Decoder struct {
	buf     []byte
	start   int
	message Message
}

// Feed adds what was read.
func (d *Decoder) Feed(p []byte) {
	if d.start > 0 {
		d.buf = d.buf[:copy(d.buf, d.buf[d.start:])]
		d.start = 0
	}
	d.buf = append(d.buf, p...)
}

// Pending is the number of bytes that are not yet a whole frame.
func (d *Decoder) Pending() int { return len(d.buf) - d.start }

// Next is the next whole frame, nil when more bytes are needed. An error ends the stream.
func (d *Decoder) Next() (*Message, error) {
	b := d.buf[d.start:]
	if len(b) < prelude {
		return nil, nil
	}
	total, headers := int(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:]))
	if crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) {
		return nil, errChecksum
	}
	if total < prelude+trailer || total > maxFrame || headers < 0 || headers > total-prelude-trailer {
		return nil, errFrame
	}
	if len(b) < total {
		return nil, nil
	}
	if crc32.ChecksumIEEE(b[:total-trailer]) != binary.BigEndian.Uint32(b[total-trailer:]) {
		return nil, errChecksum
	}
	d.start += total
	d.message = Message{Payload: b[prelude+headers : total-trailer]}
	if err := d.message.read(b[prelude : prelude+headers]); err != nil {
		return nil, err
	}
	return &d.message, nil
}

// The value types of headers and the lengths of those that have a fixed one.
var fixedLengths = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: -1, 7: -1, 8: 8, 9: 16}

const typeString = 7

// read reads the headers of a message: for each a length and a name, a kind, and a value whose length is given or
// follows from the kind. Only texts are kept; the others are passed over by their length.
func (m *Message) read(b []byte) error {
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < 1+n+1 {
			return errFrame
		}
		name, kind := string(b[1:1+n]), int(b[1+n])
		b = b[2+n:]
		if kind >= len(fixedLengths) {
			return errFrame
		}
		length := fixedLengths[kind]
		if length < 0 {
			if len(b) < 2 {
				return errFrame
			}
			length = int(binary.BigEndian.Uint16(b))
			b = b[2:]
		}
		if len(b) < length {
			return errFrame
		}
		if kind == typeString {
			m.set(name, string(b[:length]))
		}
		b = b[length:]
	}
	return nil
}

func (m *Message) set(name, value string) {
	switch name {
	case ":message-type":
		m.Kind = value
	case ":event-type", ":exception-type", ":error-code":
		m.Name = value
	case ":error-message":
		m.ErrorText = value
	}
}

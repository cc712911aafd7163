package client

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client/sse"
)

// shape is what the first bytes of a body show it to be, whatever its Content-Type says.
type shape uint8

const (
	unknownShape shape = iota
	oneBody
	eventStream
	jsonLines
)

// shaper finds the shape of a body while it is read.
type shaper struct {
	mediaType string
	shape     shape
	// line is where the first line ends, 0 before it has; lineNS is when it came.
	line   int
	lineNS int64
}

// look examines all that has come of the body so far, the last of it at an instant.
func (s *shaper) look(text []byte, atNS int64) {
	if s.shape != unknownShape {
		return
	}
	const mark = "\xEF\xBB\xBF"
	head := bytes.TrimLeft(bytes.TrimPrefix(text, []byte(mark)), " \t\r\n")
	switch {
	case len(head) == 0 || strings.HasPrefix(mark, string(text[:min(len(text), len(mark))])) && len(text) < len(mark):
	case head[0] == '{':
		s.shape = s.lines(text, atNS)
	case head[0] == '[', head[0] == '"':
		s.shape = oneBody
	default:
		s.shape = s.events(head)
	}
}

// isMedia reports whether a body without a Content-Type is none of the texts that servers reply with: no JSON, and no
// characters at its beginning.
func (s *shaper) isMedia(text []byte) bool {
	if s.shape != oneBody || text[0] == '{' || text[0] == '[' {
		return false
	}
	head := text[:min(len(text), 64)]
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	for cut := range min(utf8.UTFMax, len(head)) { // the last character may be cut
		if utf8.Valid(head[:len(head)-cut]) {
			return false
		}
	}
	return true
}

// streams reports that the body is known to be a stream.
func (s *shaper) streams() bool { return s.shape == eventStream || s.shape == jsonLines }

// lines recognises a text of which each line is an object. The first one has its instant, which a body has not.
func (s *shaper) lines(text []byte, atNS int64) shape {
	if s.line == 0 {
		i := bytes.IndexByte(text[min(len(text), bytes.IndexByte(text, '{')):], '\n')
		if i < 0 {
			return unknownShape
		}
		s.line, s.lineNS = bytes.IndexByte(text, '{')+i, atNS
	}
	switch next := bytes.TrimLeft(text[s.line:], " \t\r\n"); {
	case len(next) == 0:
		return unknownShape
	case next[0] == '{' && jsonscan.Valid(bytes.TrimSpace(text[:s.line])):
		return jsonLines
	}
	return oneBody
}

// events recognises the fields of server-sent events. Plain text can begin with what looks like one: there the data must
// be JSON.
func (s *shaper) events(head []byte) shape {
	for {
		if head[0] == ':' {
			return eventStream
		}
		name, value, found := bytes.Cut(head, []byte(":"))
		switch string(name) {
		case "data":
			value = bytes.TrimLeft(value, " \t")
			switch {
			case !strings.HasPrefix(s.mediaType, "text/"):
				return eventStream
			case len(value) == 0:
				return unknownShape
			case value[0] == '{' || value[0] == '[':
				return eventStream
			}
			return oneBody
		case "event", "id", "retry":
			_, rest, ended := bytes.Cut(value, []byte("\n"))
			if rest = bytes.TrimLeft(rest, "\r\n"); !ended || len(rest) == 0 {
				return unknownShape
			}
			head = rest
			continue
		}
		const longest = "event"
		if !found && len(head) < len(longest) {
			for _, field := range [...]string{"data", longest, "id", "retry"} {
				if strings.HasPrefix(field, string(head)) {
					return unknownShape
				}
			}
		}
		return oneBody
	}
}

// beginning is what was read of a body, and io.EOF if that is all of it.
type beginning struct {
	text []byte
	end  error
}

// receiveText reads a reply of text that is not known to be a stream; begun is what was read of it at an instant.
func (x *exchange) receiveText(h *hop, mediaType, charset string, begun beginning, atNS int64) error {
	pooled := x.client.bodies.Get().(*[]byte)
	text, err := append((*pooled)[:0], begun.text...), begun.end
	defer func() {
		if cap(text) <= maxPooled {
			*pooled = text[:0]
			x.client.bodies.Put(pooled)
		}
	}()
	s := shaper{mediaType: mediaType}
	_, listens := x.sink.(Listener)
	listens = listens && mediaType == ""
	if s.look(text, atNS); err == nil && !s.streams() {
		text, err = x.readUntil(text, func(b []byte) bool {
			s.look(b, x.conn.wire.readNS)
			if listens && s.isMedia(b) {
				x.tell("", b)
			}
			return s.streams()
		})
	}
	switch {
	case err != nil && err != io.EOF:
		x.keep(mediaType, isBinary(mediaType), text)
		return x.broken(h, neterr.Payload, "reading the response body", err, false)
	case s.shape == eventStream:
		return x.receiveStream(h, nil, &beginning{text, err})
	case s.shape == jsonLines:
		return x.receiveLines(h, mediaType, beginning{text, err}, s.lineNS)
	}
	return x.concludeBody(mediaType, charset, isBinary(mediaType) || listens && s.isMedia(text), text)
}

// concludeBody passes a whole body to the sink.
func (x *exchange) concludeBody(mediaType, charset string, binary bool, text []byte) error {
	lag := x.conn.wire.lagNS
	if !x.conclude() {
		x.keep(mediaType, binary, text)
		return ErrEnded
	}
	body := text
	if !binary {
		body = decode(text, charset)
	}
	x.keep(mediaType, binary, body)
	x.out.Responses, x.out.LastResponseNS = 1, x.out.EndNS
	if !x.heard {
		x.out.FirstReadLagNS = lag
	}
	x.sink.Body(mediaType, binary, body, x.out.EndNS)
	return nil
}

// receiveLines passes lines of JSON to the sink as events; begun is what has come, its first line at firstNS.
func (x *exchange) receiveLines(h *hop, mediaType string, begun beginning, firstNS int64) error {
	const reading = "reading lines of JSON"
	text, err := bytes.Clone(begun.text), begun.end
	for total := int64(len(text)); ; {
		at, rest := x.conn.wire.readNS, text
		for i := bytes.IndexByte(rest, '\n'); i >= 0; i = bytes.IndexByte(rest, '\n') {
			if firstNS == 0 {
				firstNS = at
			}
			x.line(mediaType, rest[:i], firstNS)
			if rest, firstNS = rest[i+1:], 0; x.Ended() {
				return ErrEnded
			}
		}
		if limit := x.opts.MaxBody; err == nil && total/maxStreamed > limit {
			err = tooLarge(maxStreamed * limit)
		}
		switch {
		case err == io.EOF:
			x.line(mediaType, rest, at)
			if !x.conclude() {
				return ErrEnded
			}
			return nil
		case err != nil:
			return x.broken(h, neterr.Payload, reading, err, false)
		}
		n := copy(text, rest)
		text, err = x.readUntil(text[:n], func([]byte) bool { return true })
		total += int64(len(text) - n)
	}
}

// line passes a line to the sink, unless it is empty.
func (x *exchange) line(mediaType string, line []byte, atNS int64) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return
	}
	line = sse.ToValid(line)
	if x.req.KeepRaw {
		x.responses = append(x.responses,
			record.RawResponse{PerfNS: atNS, ContentType: mediaType, Bytes: bytes.Clone(line)})
	}
	if x.out.Responses == 0 {
		x.out.FirstReadLagNS = x.conn.wire.lagNS
	}
	x.out.LastResponseNS = atNS
	x.arrived(atNS)
	x.out.Responses++
	x.sink.Event(nil, line, atNS)
}

package client

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// streamException is a frame by which an AWS service reports that the request failed.
type streamException struct{ typ, message string }

func (e *streamException) Error() string { return e.typ + ": " + e.message }

// frames reads the payload of an AWS event stream: the server-sent events that the model's container
// wrote, split anywhere. A read returns the bytes of one network read.
type frames struct {
	x       *exchange
	decoder Decoder
	left    []byte // of a payload
	end     error
	buf     [streamRoom]byte
}

// read returns bytes of payloads, and reads from the network only when no whole message is left, so that the time of a
// read is that of the message's last byte. An end within a message is an error; an exception is the error that the
// server sent.
func (f *frames) read(p []byte) (int, error) {
	for {
		if len(f.left) > 0 {
			n := copy(p, f.left)
			f.left = f.left[n:]
			return n, nil
		}
		m, err := f.decoder.Next()
		switch {
		case err != nil:
			return 0, err
		case m != nil && m.Kind == "event":
			f.left = m.Payload
			continue
		case m != nil:
			return 0, &streamException{m.Name, m.Text()}
		case f.end == io.EOF && f.decoder.Pending() > 0:
			return 0, io.ErrUnexpectedEOF
		case f.end != nil:
			return 0, f.end
		}
		var n int
		n, f.end = f.x.readBody(f.buf[:])
		f.decoder.Feed(f.buf[:n])
	}
}

// hint returns what the body of a refusal does not say: the usual causes of a refused signature, the scheme that a
// server of TLS needs, the server's Retry-After, and that the body is longer.
func (c *Client) hint(e *statusError) string {
	switch {
	case e.more:
		return fmt.Sprintf("the first %d bytes of a longer body", maxRefusal)
	case e.code == http.StatusBadRequest &&
		(strings.Contains(e.body, "HTTPS server") || strings.Contains(e.body, "HTTPS port")):
		return "the server speaks TLS here: use https:// in --url"
	case e.retryAfter != "":
		return "Retry-After: " + e.retryAfter
	case c.opts.Sign == nil || !strings.Contains(e.body, "SignatureDoesNotMatch"):
		return ""
	}
	return "the signature was refused: check --aws-service (the signing name), --aws-region, and that this machine's " +
		"clock is off by less than 5 minutes"
}

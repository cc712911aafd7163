package client

import (
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// decodeBody decodes a compressed body: the client requests no coding, but a server may choose one then. A reply's
// stamps stay those of the reads that brought it.
func (x *exchange) decodeBody(resp *http.Response) error {
	for _, value := range resp.Header["Content-Encoding"] {
		for coding := range strings.SplitSeq(value, ",") {
			if err := x.addDecoder(strings.ToLower(strings.TrimSpace(coding))); err != nil {
				return err
			}
		}
	}
	return nil
}

// addDecoder puts a decoder before the body, or before the decoder of the coding that was applied later. An exchange
// with one is not used again: the decompressor may still hold it.
func (x *exchange) addDecoder(coding string) error {
	var open func(io.Reader) (io.Reader, error)
	switch coding {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		open = func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		open = func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }
	default:
		return fmt.Errorf("content encoding %q was not requested and is not supported", coding)
	}
	x.pinned = true
	from := x.decoder
	if from == nil {
		from = codedBody{x}
	}
	x.decoder = &decoder{from: from, open: open}
	return nil
}

// codedBody is the body as it came. A coding may yield nothing of what it reads, without end, so what it reads is
// bounded like what it yields.
type codedBody struct{ x *exchange }

func (c codedBody) Read(p []byte) (int, error) {
	n, err := c.x.readCoded(p)
	if limit := c.x.codedLimit; c.x.t.BodyReceived > limit {
		return n, tooLarge(limit)
	}
	return n, err
}

// decoder undoes one coding; it reads nothing before it is read.
type decoder struct {
	from    io.Reader
	open    func(io.Reader) (io.Reader, error)
	decoded io.Reader
}

func (d *decoder) Read(p []byte) (int, error) {
	if d.decoded == nil {
		// Nothing is the coding of nothing.
		var first [1]byte
		if _, err := io.ReadFull(d.from, first[:]); err != nil {
			return 0, err
		}
		decoded, err := d.open(io.MultiReader(strings.NewReader(string(first[:])), d.from))
		if err != nil {
			return 0, unexpected(err)
		}
		d.decoded = decoded
	}
	n, err := d.decoded.Read(p)
	if err == io.EOF {
		// The coding may end before the framing does.
		if _, copyErr := io.Copy(io.Discard, d.from); copyErr != nil {
			err = copyErr
		}
	}
	return n, err
}

// unexpected is the error of a body that ends too soon.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

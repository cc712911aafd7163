package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"aiperf/internal/measure/record"
)

// How the end of a body is known.
const (
	framedNone = iota
	framedByLength
	framedByChunks
	framedByClose
)

var errChunkedCoded = errors.New("malformed chunked encoding")

// tooLarge is the error of a response beyond n bytes.
func tooLarge(n int64) error {
	return fmt.Errorf("response exceeds %d bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES)", n)
}

// The parts of a chunked body; all but the data are lines.
const (
	chunkHead = iota
	chunkData
	chunkEnd
	chunkTrailer
	chunksOver
)

// body reads a reply's body off its connection. A read returns the bytes of one network read: it never
// waits for more while it has something to give, not even for the rest of a chunk.
type body struct {
	in      *inbox
	framing int
	part    int   // of a chunked body, the part that comes next
	left    int64 // bytes left of the body or of the chunk
	trailer int   // bytes of the trailer so far
	closes  bool  // the connection ends with this reply
}

func newBody(in *inbox, resp *http.Response, h *hop) body {
	b := body{in: in, closes: resp.Close || h.closes}
	switch {
	case h.method == http.MethodHead, resp.StatusCode == http.StatusNoContent,
		resp.StatusCode == http.StatusNotModified:
	case resp.StatusCode == http.StatusSwitchingProtocols:
		b.closes = true
	case len(resp.TransferEncoding) > 0:
		b.framing = framedByChunks
	case resp.ContentLength > 0:
		b.framing, b.left = framedByLength, resp.ContentLength
	case resp.ContentLength < 0:
		b.framing, b.closes = framedByClose, true
	}
	return b
}

// read returns io.EOF, possibly with the last bytes, once the whole body was read.
func (b *body) read(p []byte) (int, error) {
	switch b.framing {
	case framedByLength:
		return b.readLength(p)
	case framedByChunks:
		return b.readChunks(p)
	case framedByClose:
		return b.in.Read(p)
	}
	return 0, io.EOF
}

func (b *body) readLength(p []byte) (int, error) {
	n, err := b.readLeft(p)
	if err == nil && b.left == 0 {
		err = io.EOF
	}
	return n, err
}

// readLeft reads what is left of the body or chunk; the end of the connection is unexpected in it.
func (b *body) readLeft(p []byte) (int, error) {
	if b.left == 0 {
		return 0, nil
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.in.Read(p)
	b.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readChunks reads the data of chunks without their heads. It returns what has come rather than wait for more: each
// read is an arrival, whose time would else be that of the last byte.
func (b *body) readChunks(p []byte) (n int, err error) {
	for b.part != chunksOver && n < len(p) && err == nil {
		if n > 0 && !b.ready() {
			return n, nil
		}
		if b.part != chunkData {
			err = b.step()
			continue
		}
		var m int
		m, err = b.readLeft(p[n:])
		n += m
		if b.left == 0 {
			b.part = chunkEnd
		}
	}
	if err == nil && b.part == chunksOver {
		err = io.EOF
	}
	return n, err
}

// ready reports whether the next part can be read without waiting for the network.
func (b *body) ready() bool {
	buffered := b.in.Buffered()
	if b.part == chunkData || buffered == 0 {
		return buffered > 0
	}
	peek, _ := b.in.Peek(buffered)
	return bytes.IndexByte(peek, '\n') >= 0
}

// step reads a line between the data of two chunks.
func (b *body) step() error {
	if b.part == chunkTrailer {
		return b.skipTrailer()
	}
	line, err := b.line()
	if err != nil {
		return err
	}
	switch b.part {
	case chunkHead:
		if b.left, err = chunkSize(line); err != nil {
			return err
		}
		b.part = chunkData
		if b.left == 0 {
			b.part = chunkTrailer
		}
	case chunkEnd:
		if len(line) != 0 {
			return errChunkedCoded
		}
		b.part = chunkHead
	}
	return nil
}

// skipTrailer reads a line behind the last chunk, which is dropped; an empty one ends the body.
func (b *body) skipTrailer() error {
	for whole := true; ; whole = false {
		line, err := b.in.ReadSlice('\n')
		b.trailer += len(line)
		switch {
		case err == bufio.ErrBufferFull && b.trailer <= maxHead:
			continue
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err == bufio.ErrBufferFull || b.trailer > maxHead:
			return errChunkedCoded
		case err != nil:
			return err
		}
		if whole && len(bytes.TrimRight(line, "\r\n")) == 0 {
			b.part = chunksOver
		}
		return nil
	}
}

// maxLine bounds a line between the data of two chunks.
const maxLine = 4096

// line is the next line without its end. Of one that is longer than the buffer, only an extension may be cut.
func (b *body) line() ([]byte, error) {
	line, err := b.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		size, _, extended := bytes.Cut(line, []byte(";"))
		size = bytes.Clone(size)
		for n := len(line); err == bufio.ErrBufferFull; n += len(line) {
			if !extended || n > maxLine {
				return nil, errChunkedCoded
			}
			line, err = b.in.ReadSlice('\n')
		}
		line = append(size, '\n')
	}
	switch {
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	line = line[:len(line)-1]
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// chunkSize reads a chunk's size line; extensions are ignored.
func chunkSize(line []byte) (int64, error) {
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	if line = bytes.TrimRight(line, " \t"); len(line) == 0 {
		return 0, errChunkedCoded
	}
	if digits := bytes.TrimLeft(line, "0"); len(digits) > 15 {
		return 0, errChunkedCoded
	}
	var size int64
	for _, c := range line {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, errChunkedCoded
		}
		size = size<<4 | int64(c)
	}
	return size, nil
}

// readBody reads the body, without its coding.
func (x *exchange) readBody(p []byte) (int, error) {
	if x.decoder != nil {
		return x.decoder.Read(p)
	}
	return x.readCoded(p)
}

// readCoded reads the body and keeps account of its chunks: what came with one network read is one.
func (x *exchange) readCoded(p []byte) (int, error) {
	n, err := x.body.read(p)
	if n == 0 {
		return n, err
	}
	w := x.conn.wire
	t := &x.t
	fresh := t.ChunksReceived == 0 || w.reads != x.seenRead
	if fresh {
		if t.ChunksReceived == 0 {
			t.ReceiveStart = w.readNS
		}
		t.ChunksReceived++
		t.ReceiveEnd = w.readNS
		x.seenRead = w.reads
		x.out.Arrival.read(w)
	}
	t.BodyReceived += int64(n)
	if x.req.KeepTrace {
		if fresh {
			x.responseChunks = append(x.responseChunks, record.Chunk{AtNS: x.clock.WallNS(w.readNS)})
		}
		x.responseChunks[len(x.responseChunks)-1].Bytes += int64(n)
	}
	return n, err
}

// readUntil reads the body behind buf, to its end or until enough says after a read that this is enough. Its error is
// io.EOF where the body ended with what was read.
func (x *exchange) readUntil(buf []byte, enough func([]byte) bool) ([]byte, error) {
	limit := x.opts.MaxBody
	if x.body.framing == framedByLength {
		if x.body.left > limit {
			return buf, tooLarge(limit)
		}
		buf = slices.Grow(buf, int(min(x.body.left, maxPooled)))
	}
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, readBuffer)
		}
		n, err := x.readBody(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return buf, tooLarge(limit)
		case err != nil && err != io.EOF:
			return buf, err
		case n > 0 && enough(buf) || err == io.EOF:
			return buf, err
		}
	}
}

// Of the body of a refusal maxRefusal bytes are kept; maxSkipped more are read to keep its connection.
const (
	maxRefusal = 64 << 10
	maxSkipped = 1 << 20
)

// readRefusal reads the body of a refusal; more reports that text is not all of it. With an error it
// was not read to its end.
func (x *exchange) readRefusal() (text []byte, more bool, err error) {
	var scrap [4096]byte
	for skipped := 0; skipped <= maxSkipped; {
		into := scrap[:]
		if len(text) < maxRefusal {
			text = slices.Grow(text, min(readBuffer, maxRefusal-len(text)))
			into = text[len(text):min(cap(text), maxRefusal)]
		}
		n, err := x.readBody(into)
		if len(text) < maxRefusal {
			text = text[:len(text)+n]
		} else {
			skipped += n
		}
		switch {
		case err == io.EOF:
			return text, skipped > 0, nil
		case err != nil:
			return text, skipped > 0, err
		}
	}
	return text, true, tooLarge(maxRefusal + maxSkipped)
}

// maxDrain bounds what is read of a redirect's body to keep its connection.
const maxDrain = 64 << 10

// drain reads a redirect's body; false if it is too long or broken.
func (x *exchange) drain() bool {
	var scrap [1024]byte
	for total := 0; total <= maxDrain; {
		n, err := x.body.read(scrap[:])
		total += n
		if err != nil {
			return err == io.EOF && !x.body.closes
		}
	}
	return false
}

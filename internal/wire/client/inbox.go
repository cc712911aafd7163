package client

import (
	"bufio"
	"bytes"
	"io"
	"sync"
)

// inbox is the read buffer of a connection, with those methods of bufio.Reader that the package needs. Between a read
// that found nothing and the next bytes it has no memory, where the kernel stamps a connection without TLS: thousands of
// streams wait at a time, and few of them read.
type inbox struct {
	conn *connection
	mem  *[readBuffer]byte // nil = none, and nothing is buffered
	r, w int               // mem[r:w] was read from the network and not from the inbox
	err  error             // of the network, for the read that finds the inbox empty
	// waiting is told when the inbox gives its memory away; nil = nobody is.
	waiting interface{ waits() }
}

var inboxes = sync.Pool{New: func() any { return new([readBuffer]byte) }}

// Take implements stamp.Memory.
func (b *inbox) Take() []byte {
	if b.mem == nil {
		b.mem = inboxes.Get().(*[readBuffer]byte)
	}
	return b.mem[:]
}

// Give implements stamp.Memory.
func (b *inbox) Give() {
	inboxes.Put(b.mem)
	b.mem = nil
	if b.waiting != nil {
		b.waiting.waits()
	}
}

// maxEmptyReads is how many reads may bring neither bytes nor an error.
const maxEmptyReads = 100

// fill reads from the network once, behind what is buffered. An error stays for the reads to come.
func (b *inbox) fill() {
	for range maxEmptyReads {
		n, err := b.receive()
		b.w += n
		b.err = err
		if n > 0 || err != nil {
			return
		}
	}
	b.err = io.ErrNoProgress
}

func (b *inbox) receive() (int, error) {
	if b.r == b.w {
		b.r, b.w = 0, 0
		if b.conn.givesMemory() {
			return b.conn.readInto(b)
		}
	}
	b.Take()
	if b.r > 0 {
		copy(b.mem[:], b.mem[b.r:b.w])
		b.r, b.w = 0, b.w-b.r
	}
	return b.conn.Read(b.mem[b.w:])
}

// taken is the error of the network, once.
func (b *inbox) taken() error {
	err := b.err
	b.err = nil
	return err
}

// Buffered is the number of bytes that can be read without the network.
func (b *inbox) Buffered() int { return b.w - b.r }

// await returns when there is something to read, or an error to be returned.
func (b *inbox) await() {
	if b.r == b.w && b.err == nil {
		b.fill()
	}
}

// Peek returns the next n bytes without consuming them; they are valid until the next read.
func (b *inbox) Peek(n int) ([]byte, error) {
	for b.w-b.r < n && b.w-b.r < readBuffer && b.err == nil {
		b.fill()
	}
	switch have := b.w - b.r; {
	case n > readBuffer:
		return b.buffered(), bufio.ErrBufferFull
	case have < n:
		return b.buffered(), b.taken()
	}
	return b.buffered()[:n], nil
}

// buffered is what can be read without the network; reading or waiting ends its life.
func (b *inbox) buffered() []byte {
	if b.mem == nil {
		return nil
	}
	return b.mem[b.r:b.w]
}

// Discard drops n bytes, which are buffered.
func (b *inbox) Discard(n int) { b.r += n }

// Read reads from what is buffered, else from the network once.
func (b *inbox) Read(p []byte) (int, error) {
	if b.r == b.w {
		if b.err != nil || len(p) == 0 {
			return 0, b.taken()
		}
		if len(p) >= readBuffer {
			return b.conn.Read(p)
		}
		if b.fill(); b.r == b.w {
			return 0, b.taken()
		}
	}
	n := copy(p, b.mem[b.r:b.w])
	b.r += n
	return n, nil
}

// ReadSlice reads up to a delimiter, which is part of what it returns; that is valid until the next read. With an error
// it is what came before it; bufio.ErrBufferFull is that of a line that does not fit.
func (b *inbox) ReadSlice(delim byte) ([]byte, error) {
	for searched := 0; ; {
		line := b.buffered()
		if i := bytes.IndexByte(line[searched:], delim); i >= 0 {
			b.r += i + searched + 1
			return line[:i+searched+1], nil
		}
		switch {
		case b.err != nil:
			b.r = b.w
			return line, b.taken()
		case len(line) == readBuffer:
			b.r = b.w
			return line, bufio.ErrBufferFull
		}
		searched = len(line)
		b.fill()
	}
}

// Unread gives back the last n bytes of what the last Read returned into memory shorter than the inbox's own.
func (b *inbox) Unread(n int) { b.r -= min(n, b.r) }

package prom

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
)

// decode undoes the content encodings of an answer, the last one first. release gives back what it
// borrowed and must be called when the body was read.
func (f *Fetcher) decode(body io.Reader, headers []string) (decoded io.Reader, release func(), err error) {
	release = func() {}
	encodings := strings.Split(strings.Join(headers, ","), ",")
	for i := len(encodings) - 1; i >= 0; i-- {
		switch name := strings.ToLower(strings.TrimSpace(encodings[i])); name {
		case "", "identity":
		case "gzip", "x-gzip":
			var z *gzip.Reader
			if z, err = f.gunzip(body); err != nil {
				return nil, release, fmt.Errorf("gzip body: %w", err)
			}
			inner := release
			release = func() { f.inflate.Put(z); inner() }
			body = z
		case "deflate":
			if body, err = inflate(body); err != nil {
				return nil, release, fmt.Errorf("deflate body: %w", err)
			}
		default:
			return nil, release, fmt.Errorf("content encoding %q was not asked for", name)
		}
	}
	return body, release, nil
}

func (f *Fetcher) gunzip(body io.Reader) (*gzip.Reader, error) {
	z, ok := f.inflate.Get().(*gzip.Reader)
	if !ok {
		return gzip.NewReader(body)
	}
	if err := z.Reset(body); err != nil {
		f.inflate.Put(z)
		return nil, err
	}
	return z, nil
}

// inflate reads both things that servers call deflate: with the zlib header, as the standard has it,
// and without.
func inflate(body io.Reader) (io.Reader, error) {
	b := bufio.NewReader(body)
	head, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(head) == 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

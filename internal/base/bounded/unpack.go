package bounded

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/xi2/xz"
)

// packings are the compressions of files, by what they begin with. Names of files say nothing: what a log or a download
// is called and what it holds are often two things.
func packings() []packing {
	return []packing{
		{"gzip", []byte{0x1f, 0x8b, 8}, func(in io.Reader) (io.Reader, error) { return gzip.NewReader(in) }},
		{"bzip2", []byte("BZh"), func(in io.Reader) (io.Reader, error) { return bzip2.NewReader(in), nil }},
		{"xz", []byte("\xfd7zXZ\x00"), func(in io.Reader) (io.Reader, error) {
			return xz.NewReader(in, maxWindow)
		}},
		{"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd}, func(in io.Reader) (io.Reader, error) {
			decoder, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return nil, err
			}
			return decoder.IOReadCloser(), nil
		}},
	}
}

type packing struct {
	name  string
	begin []byte
	open  func(io.Reader) (io.Reader, error)
}

// Unpack returns the text of in, whose name is that of a file for errors: what it unpacks to if it begins like gzip,
// bzip2, xz or Zstandard data, else what it is. It holds memory until it is
// closed; in stays open.
func Unpack(in io.Reader, name string) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	for _, p := range packings() {
		if begin, _ := buffered.Peek(len(p.begin)); bytes.Equal(begin, p.begin) {
			text, err := p.open(buffered)
			if err != nil {
				return nil, fmt.Errorf("%s begins like %s data and cannot be unpacked: %w", name, p.name, err)
			}
			if packed, ok := text.(io.ReadCloser); ok {
				return packed, nil
			}
			return io.NopCloser(text), nil
		}
	}
	return io.NopCloser(buffered), nil
}

// IsPacked reports whether a file is compressed.
func IsPacked(path string) bool {
	file, err := Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var begin [6]byte
	n, _ := io.ReadFull(file, begin[:])
	for _, p := range packings() {
		if bytes.HasPrefix(begin[:n], p.begin) {
			return true
		}
	}
	return false
}

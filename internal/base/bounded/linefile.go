package bounded

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// CompressedSuffix is what the name of a compressed file ends with.
const CompressedSuffix = ".zst"

// maxWindow bounds the memory that a frame may ask for.
const maxWindow = 128 << 20

// ResolveCompressed returns the path of the file that is there: the plain one or the compressed one; path if neither is.
func ResolveCompressed(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(path + CompressedSuffix); err == nil {
			return path + CompressedSuffix
		}
	}
	return path
}

// StatCompressed returns what is known of the file that [Resolve] finds.
func StatCompressed(path string) (os.FileInfo, error) { return os.Stat(ResolveCompressed(path)) }

// CompressedFile is an open file. It is read from its start by Read, or from any place by ReadAt.
type CompressedFile struct {
	file   *os.File
	text   *zstd.Decoder // nil for a plain file
	frames []frame       // made by the first ReadAt
}

// frame is where a frame is in the file, and its text in that of the whole.
type frame struct{ file, text int64 }

// OpenCompressed opens the plain file, or the compressed one where that is missing.
func OpenCompressed(path string) (*CompressedFile, error) {
	path = ResolveCompressed(path)
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	f := &CompressedFile{file: file}
	if !strings.HasSuffix(path, CompressedSuffix) {
		return f, nil
	}
	f.text, err = zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// Compressed reports whether the file is.
func (f *CompressedFile) Compressed() bool { return f.text != nil }

// Stat returns the size and time of the file as it is on the disk.
func (f *CompressedFile) Stat() (os.FileInfo, error) { return f.file.Stat() }

// Close implements io.Closer.
func (f *CompressedFile) Close() error {
	if f.text != nil {
		f.text.Close()
	}
	return f.file.Close()
}

// Read implements io.Reader.
func (f *CompressedFile) Read(p []byte) (int, error) {
	if f.text == nil {
		return f.file.Read(p)
	}
	n, err := f.text.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// ReadAt implements io.ReaderAt, by one goroutine at a time. In a compressed file it moves the place of Read.
func (f *CompressedFile) ReadAt(p []byte, at int64) (int, error) {
	if f.text == nil {
		return f.file.ReadAt(p, at)
	}
	if f.frames == nil {
		if err := f.index(); err != nil {
			return 0, err
		}
	}
	i, found := slices.BinarySearchFunc(f.frames, at, func(f frame, at int64) int { return cmp.Compare(f.text, at) })
	if !found {
		i--
	}
	from := f.frames[i]
	if err := f.text.Reset(io.NewSectionReader(f.file, from.file, 1<<62-from.file)); err != nil {
		return 0, err
	}
	if _, err := io.CopyN(io.Discard, f.text, at-from.text); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(f.text, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// index finds the frames. One that does not say its size is the last to be found: what is behind it is read through it.
func (f *CompressedFile) index() error {
	f.frames = []frame{{}}
	var next frame
	head := make([]byte, zstd.HeaderMaxSize)
	for {
		n, err := f.file.ReadAt(head, next.file)
		if err != nil && err != io.EOF {
			return err
		}
		var h zstd.Header
		if n == 0 || h.Decode(head[:n]) != nil {
			return nil // the end, or the rest of a file that was cut off
		}
		switch {
		case h.Skippable:
			next.file += int64(h.HeaderSize) + int64(h.SkippableSize)
		case !h.HasFCS:
			return nil
		default:
			end, err := f.blocks(next.file + int64(h.HeaderSize))
			if err != nil {
				return err
			}
			if h.HasCheckSum {
				end += 4
			}
			next = frame{end, next.text + int64(h.FrameContentSize)}
		}
		f.frames = append(f.frames, next)
	}
}

// blocks passes over the blocks of a frame.
func (f *CompressedFile) blocks(at int64) (int64, error) {
	var head [3]byte
	for {
		if n, err := f.file.ReadAt(head[:], at); n < len(head) {
			if err == io.EOF {
				return at, nil
			}
			return at, err
		}
		size := int64(head[0]>>3) | int64(head[1])<<5 | int64(head[2])<<13
		if kind := head[0] >> 1 & 3; kind == 1 {
			size = 1 // one byte that is repeated
		}
		at += int64(len(head)) + size
		if head[0]&1 == 1 {
			return at, nil
		}
	}
}

// Compressor compresses what is written, each Write to a frame of its own. After an error the file ends with a whole
// frame.
type Compressor struct {
	file    *os.File
	encoder *zstd.Encoder
	frame   []byte
	size    int64 // of the whole frames in the file
}

// NewCompressor returns one that appends to an empty file and closes it.
func NewCompressor(file *os.File) (*Compressor, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &Compressor{file: file, encoder: encoder}, nil
}

// Write implements io.Writer: all of p or nothing.
func (c *Compressor) Write(p []byte) (int, error) {
	c.frame = c.encoder.EncodeAll(p, c.frame[:0])
	if _, err := c.file.Write(c.frame); err != nil {
		if cut := c.file.Truncate(c.size); cut != nil {
			err = fmt.Errorf("%w, and what was written of it cannot be removed: %w", err, cut)
		}
		return 0, err
	}
	c.size += int64(len(c.frame))
	return len(p), nil
}

// Truncate does nothing: what is in the file is whole.
func (c *Compressor) Truncate(int64) error { return nil }

// Close closes the file.
func (c *Compressor) Close() error {
	return errors.Join(c.encoder.Close(), c.file.Close())
}

package chart

import (
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"
)

// encode writes an opaque picture as a PNG. The encoder of the standard library tries five filters on each row and
// takes several times as long; in drawings a row mostly repeats the one above.
func encode(w io.Writer, p *image.RGBA) error {
	size := p.Bounds().Size()
	if _, err := io.WriteString(w, "\x89PNG\r\n\x1a\n"); err != nil {
		return err
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	header = binary.BigEndian.AppendUint32(header, uint32(size.Y))
	header = append(header, 8, 2, 0, 0, 0) // bits, true colour
	if err := writeChunk(w, "IHDR", header); err != nil {
		return err
	}
	pieces := &pieces{to: w, buffer: make([]byte, 0, 1<<15)}
	z, err := zlib.NewWriterLevel(pieces, zlib.BestSpeed)
	if err != nil {
		return err
	}
	row, above := make([]byte, 1+3*size.X), []byte(nil)
	for y := range size.Y {
		line := p.Pix[y*p.Stride : y*p.Stride+4*size.X]
		row[0] = 2 // the difference from the row above
		if y == 0 {
			row[0] = 0
			for x, n := 0, 1; x < len(line); x, n = x+4, n+3 {
				row[n], row[n+1], row[n+2] = line[x], line[x+1], line[x+2]
			}
		} else {
			for x, n := 0, 1; x < len(line); x, n = x+4, n+3 {
				row[n], row[n+1], row[n+2] = line[x]-above[x], line[x+1]-above[x+1], line[x+2]-above[x+2]
			}
		}
		above = line
		if _, err := z.Write(row); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := pieces.flush(); err != nil {
		return err
	}
	return writeChunk(w, "IEND", nil)
}

// pieces writes compressed pixels as chunks.
type pieces struct {
	to     io.Writer
	buffer []byte
}

// Write implements io.Writer.
func (p *pieces) Write(data []byte) (int, error) {
	if len(p.buffer)+len(data) > cap(p.buffer) {
		if err := p.flush(); err != nil {
			return 0, err
		}
	}
	p.buffer = append(p.buffer, data...)
	return len(data), nil
}

func (p *pieces) flush() error {
	if len(p.buffer) == 0 {
		return nil
	}
	err := writeChunk(p.to, "IDAT", p.buffer)
	p.buffer = p.buffer[:0]
	return err
}

func writeChunk(w io.Writer, name string, data []byte) error {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, name...), data...)
	sum := crc32.NewIEEE()
	_, _ = sum.Write(out[4:])
	_, err := w.Write(binary.BigEndian.AppendUint32(out, sum.Sum32()))
	return err
}

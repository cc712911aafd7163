package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"

	"aiperf/internal/base/random"
)

// The formats of pictures.
const (
	PNG  = "png"
	JPEG = "jpeg"
)

// MaxSide is the longest side of a picture: what a JPEG can say.
const MaxSide = 1<<16 - 1

// EncodePicture returns a picture as requests carry it.
func EncodePicture(img *image.RGBA, format string) (string, error) {
	if format == JPEG {
		return DataURL("image/jpeg", appendJPEG(nil, img)), nil
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return "", err
	}
	return DataURL("image/png", b.Bytes()), nil
}

// NoisePicture has a random colour at each pixel: nothing can compress it.
func NoisePicture(r *random.Rand, w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	i := 0
	for ; i+8 <= len(img.Pix); i += 8 {
		binary.LittleEndian.PutUint64(img.Pix[i:], r.Uint64()|0xff000000_ff000000)
	}
	if i < len(img.Pix) {
		binary.LittleEndian.PutUint32(img.Pix[i:], uint32(r.Uint64())|0xff000000)
	}
	return img
}

// Scenes is the number of the pictures that Scene makes.
const Scenes = 8

// Scene paints one of a fixed set of pictures that look like photographs to a codec: smooth light,
// texture at all scales, some grain. It is painted at the size asked for, so larger ones hold more.
func Scene(number, w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	seed := uint32(number+1) * 0x9e3779b1
	top := [3]int32{int32(seed >> 24), int32(seed >> 16 & 0xff), int32(seed >> 8 & 0xff)}
	for y := range h {
		fy := uint32(y) << 16 / uint32(h) // in parts of 2^16 of the height
		for x := range w {
			fx := uint32(x) << 16 / uint32(w)
			cloud := texture(seed, fx, fy)
			grain := int32(scramble(seed^uint32(x)*0x85ebca6b^uint32(y)*0xc2b2ae35)>>28) - 8
			at := y*img.Stride + x*4
			for c := range 3 {
				light := top[c]*int32(0xffff-fy)>>16 + (255-top[(c+1)%3])*int32(fy)>>16
				img.Pix[at+c] = byte(min(255, max(0, light+(cloud-128)*int32(2+c)/3+grain)))
			}
			img.Pix[at+3] = 0xff
		}
	}
	return img
}

// texture returns the sum of five octaves of smooth random values, 0 to 255.
func texture(seed, x, y uint32) int32 {
	sum := int32(0)
	for octave := range uint32(5) {
		cells := uint32(4) << octave
		cx, cy := x*cells, y*cells // whole cells above bit 16
		ix, iy := cx>>16, cy>>16
		fx, fy := smooth(int32(cx&0xffff)), smooth(int32(cy&0xffff))
		corner := func(dx, dy uint32) int32 {
			return int32(scramble(seed+octave<<26^(ix+dx)*0x27d4eb2f^(iy+dy)*0x165667b1) >> 24)
		}
		upper := corner(0, 0)*(256-fx) + corner(1, 0)*fx
		lower := corner(0, 1)*(256-fx) + corner(1, 1)*fx
		sum += (upper>>8*(256-fy) + lower>>8*fy) >> 8 >> (octave + 1)
	}
	return min(255, sum)
}

// smooth eases a position between two corners, 16 bits in and 8 out.
func smooth(t int32) int32 {
	s := t >> 8
	return s * s * (3*256 - 2*s) >> 16
}

// scramble mixes the bits of a number.
func scramble(n uint32) uint32 {
	n = (n ^ n>>16) * 0x7feb352d
	n = (n ^ n>>15) * 0x846ca68b
	return n ^ n>>16
}

// Resize scales a picture to exactly w by h pixels, whatever its shape: each pixel is the mean of the
// area it covers, or lies between the nearest four where the picture grows.
func Resize(src *image.RGBA, w, h int) *image.RGBA {
	if src.Rect.Dx() == w && src.Rect.Dy() == h {
		return src
	}
	xs, ys := spans(src.Rect.Dx(), w), spans(src.Rect.Dy(), h)
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	for y, rows := range ys {
		for x, columns := range xs {
			var sum [4]uint64
			for i, wy := range rows.weights {
				line := src.Pix[(rows.from+i)*src.Stride:]
				for j, wx := range columns.weights {
					pixel := line[(columns.from+j)*4:]
					weight := uint64(wy) * uint64(wx)
					for c := range sum {
						sum[c] += weight * uint64(pixel[c])
					}
				}
			}
			total := rows.total * columns.total
			for c := range sum {
				dst.Pix[y*dst.Stride+x*4+c] = byte((sum[c] + total/2) / total)
			}
		}
	}
	return dst
}

// span is what of one side goes into a pixel: from a place on, with weights.
type span struct {
	from    int
	weights []uint32
	total   uint64
}

// spans returns those of all pixels of a side that goes from one length to another.
func spans(from, to int) []span {
	all := make([]span, to)
	for i := range all {
		if to >= from {
			// The centre of the pixel, in units of 1/(2·to) source pixels from the first centre.
			at := max(0, (2*i+1)*from-to)
			first := min(at/(2*to), from-1)
			part := uint32(at - first*2*to)
			all[i] = span{from: first, weights: []uint32{uint32(2*to) - part, part}}
			if first == from-1 {
				all[i].weights = all[i].weights[:1]
				all[i].weights[0] = 1
			}
		} else {
			start, end := i*from, (i+1)*from // in units of 1/to source pixels
			s := span{from: start / to}
			for p := s.from; p*to < end; p++ {
				s.weights = append(s.weights, uint32(min(end, (p+1)*to)-max(start, p*to)))
			}
			all[i] = s
		}
		for _, weight := range all[i].weights {
			all[i].total += uint64(weight)
		}
	}
	return all
}

package media

import (
	"encoding/hex"
	"image"
	"math"
	"sync"
)

// The JPEG encoder exists because the standard library's halves the resolution of colours: these
// pictures are sent with all of it (4:4:4), as baseline JPEG with the tables of ITU-T T.81 annex K.

const jpegQuality = 85

// jpegQuant are the quantisation steps of luminance and chrominance at quality 50, row by row.
var jpegQuant = [2][64]int32{
	{
		16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29,
		51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92,
		95, 98, 112, 100, 103, 99,
	},
	{
		17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99,
		99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99,
	},
}

// jpegCode is a Huffman table: how many codes there are of each length, and their values in order.
type jpegCode struct{ counts, values string }

// jpegCodes are DC and AC of luminance, then of chrominance, in hexadecimal.
var jpegCodes = [4]jpegCode{
	{"00010501010101010100000000000000", "000102030405060708090a0b"},
	{"0002010303020403050504040000017d",
		"01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"},
	{"00030101010101010101010000000000", "000102030405060708090a0b"},
	{"00020102040403040705040400010277",
		"000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa"},
}

type huffmanWord struct {
	bits  uint64
	width uint
}

// jpegTables are the tables at our quality, made once.
type jpegTables struct {
	quant   [2][64]int32 // row by row
	zigzag  [64]int      // the order in which coefficients are written
	words   [4][256]huffmanWord
	segment []byte // the header from the start of the file to the frame header
	cosines [8][8]int32
}

var jpegReady = sync.OnceValue(func() *jpegTables {
	t := &jpegTables{}
	for i, row := 0, 0; row < 15; row++ { // along the anti-diagonals, in alternating directions
		for k := range row + 1 {
			x, y := k, row-k
			if row%2 == 1 {
				x, y = y, x
			}
			if x < 8 && y < 8 {
				t.zigzag[i] = y*8 + x
				i++
			}
		}
	}
	const scale = 200 - 2*jpegQuality
	t.segment = []byte{0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0}
	for c := range t.quant {
		t.segment = append(t.segment, 0xff, 0xdb, 0, 67, byte(c))
		for i := range t.quant[c] {
			t.quant[c][i] = min(255, max(1, (jpegQuant[c][i]*scale+50)/100))
		}
		for _, at := range t.zigzag {
			t.segment = append(t.segment, byte(t.quant[c][at]))
		}
	}
	for i, code := range jpegCodes {
		counts, values := unhex(code.counts), unhex(code.values)
		t.segment = append(t.segment, 0xff, 0xc4, byte((19+len(values))>>8), byte(19+len(values)), byte(i%2<<4|i/2))
		t.segment = append(append(t.segment, counts...), values...)
		word := uint64(0)
		for length, n := range counts {
			for range n {
				t.words[i][values[0]] = huffmanWord{word, uint(length + 1)}
				values = values[1:]
				word++
			}
			word <<= 1
		}
	}
	for u := range t.cosines {
		for x := range t.cosines[u] {
			c := math.Cos(float64((2*x+1)*u)*math.Pi/16) / 2
			if u == 0 {
				c /= math.Sqrt2
			}
			t.cosines[u][x] = int32(math.Round(c * (1 << cosineBits)))
		}
	}
	return t
})

// unhex decodes one of the tables above.
func unhex(s string) []byte {
	b, _ := hex.DecodeString(s) // a test reads what comes of them
	return b
}

const cosineBits = 12

// appendJPEG encodes a picture.
func appendJPEG(dst []byte, img *image.RGBA) []byte {
	t := jpegReady()
	w, h := img.Rect.Dx(), img.Rect.Dy()
	dst = append(dst, t.segment...)
	dst = append(dst, 0xff, 0xc0, 0, 17, 8, byte(h>>8), byte(h), byte(w>>8), byte(w), 3, 1, 0x11, 0, 2, 0x11, 1, 3,
		0x11, 1)
	dst = append(dst, 0xff, 0xda, 0, 12, 3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0)
	e := jpegEncoder{t: t, buf: dst}
	var blocks [3][64]int32
	for y := 0; y < h; y += 8 {
		for x := 0; x < w; x += 8 {
			planes(&blocks, img, x, y)
			for c := range blocks {
				e.block(&blocks[c], c)
			}
		}
	}
	if e.n > 0 {
		e.put(1<<(8-e.n)-1, 8-e.n)
	}
	return append(e.buf, 0xff, 0xd9)
}

// planes is a block of 8 by 8 pixels in luminance and chrominance, centred on 0; beyond the edge of
// the picture its last pixels are repeated.
func planes(blocks *[3][64]int32, img *image.RGBA, x0, y0 int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for i := range 64 {
		at := min(y0+i/8, h-1)*img.Stride + min(x0+i%8, w-1)*4
		r, g, b := int32(img.Pix[at]), int32(img.Pix[at+1]), int32(img.Pix[at+2])
		blocks[0][i] = (19595*r+38470*g+7471*b+1<<15)>>16 - 128
		blocks[1][i] = (-11059*r - 21709*g + 32768*b + 1<<15) >> 16
		blocks[2][i] = (32768*r - 27439*g - 5329*b + 1<<15) >> 16
	}
}

// jpegEncoder writes the entropy-coded data.
type jpegEncoder struct {
	t       *jpegTables
	buf     []byte
	pending uint64
	n       uint
	last    [3]int32 // DC of the block before
}

// put appends bits; a byte of ones is followed by a zero byte, for it would look like a marker.
func (e *jpegEncoder) put(value uint64, bits uint) {
	e.pending = e.pending<<bits | value
	for e.n += bits; e.n >= 8; e.n -= 8 {
		b := byte(e.pending >> (e.n - 8))
		e.buf = append(e.buf, b)
		if b == 0xff {
			e.buf = append(e.buf, 0)
		}
	}
}

// block transforms, quantises and writes one block of component c.
func (e *jpegEncoder) block(samples *[64]int32, c int) {
	t, kind := e.t, min(c, 1)
	dct(samples, &t.cosines)
	for i := range samples {
		samples[i] = divide(samples[i], t.quant[kind][i])
	}
	dc := samples[0] - e.last[c]
	e.last[c] = samples[0]
	e.coefficient(&t.words[2*kind], 0, dc)
	zeros := 0
	for _, at := range t.zigzag[1:] {
		v := samples[at]
		if v == 0 {
			zeros++
			continue
		}
		for ; zeros > 15; zeros -= 16 {
			e.word(&t.words[2*kind+1], 0xf0)
		}
		e.coefficient(&t.words[2*kind+1], zeros, v)
		zeros = 0
	}
	if zeros > 0 {
		e.word(&t.words[2*kind+1], 0)
	}
}

func (e *jpegEncoder) word(words *[256]huffmanWord, symbol int) {
	e.put(words[symbol].bits, words[symbol].width)
}

// coefficient writes a value after a number of zeros: its width in the code word, then its bits.
func (e *jpegEncoder) coefficient(words *[256]huffmanWord, zeros int, v int32) {
	magnitude, width := v, uint(0)
	if v < 0 {
		magnitude, v = -v, v-1
	}
	for ; magnitude > 0; magnitude >>= 1 {
		width++
	}
	e.word(words, zeros<<4|int(width))
	e.put(uint64(v)&(1<<width-1), width)
}

// divide rounds to the nearest, halves away from 0.
func divide(a, b int32) int32 {
	if a < 0 {
		return -((-a + b/2) / b)
	}
	return (a + b/2) / b
}

// dct is the two-dimensional cosine transform in place: rows, then columns.
func dct(s *[64]int32, cosines *[8][8]int32) {
	const keep = 2 // bits after the point between the two steps
	var rows [64]int32
	for y := 0; y < 64; y += 8 {
		line(rows[y:y+8], s[y:y+8], 1, cosines, cosineBits-keep)
	}
	for x := range 8 {
		line(s[x:], rows[x:], 8, cosines, cosineBits+keep)
	}
}

// line is the transform of eight values that stand step apart. Even and odd coefficients come of the
// sums and the differences of the values that mirror each other.
func line(dst, src []int32, step int, cosines *[8][8]int32, shift uint) {
	var sum, difference [4]int32
	for i := range 4 {
		a, b := src[i*step], src[(7-i)*step]
		sum[i], difference[i] = a+b, a-b
	}
	for u := range 8 {
		half := &sum
		if u%2 == 1 {
			half = &difference
		}
		c := &cosines[u]
		v := half[0]*c[0] + half[1]*c[1] + half[2]*c[2] + half[3]*c[3]
		dst[u*step] = (v + 1<<(shift-1)) >> shift
	}
}

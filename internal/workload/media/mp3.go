package media

import (
	"slices"

	"aiperf/internal/base/random"
)

// MP3 of noise is made from the far end: the spectrum of white noise is white and stays so through the
// transforms of the format (they are orthogonal), so random signs of quantised spectral lines, written as
// MPEG audio layer III, are noise to every decoder. Nothing is analysed and nothing is rounded.

// mp3Rates are the sample rates of MPEG-1, MPEG-2 and MPEG-2.5; a place in a row is the index in the
// frame header.
var mp3Rates = [3][3]int{{44100, 48000, 32000}, {22050, 24000, 16000}, {11025, 12000, 8000}}

// mp3Bitrates are the bit rates in kbit/s of MPEG-1 and of the other two, from index 1 on.
var mp3Bitrates = [2][14]int{
	{32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

// The spectrum: each line of the 576 of a granule is ±1 quantisation step, or 0 so often that the
// decoded standard deviation is that of the WAV noise.
const (
	lines      = 576
	globalGain = 187
	zeroOf256  = 21 // of 256 lines so many are 0
	pairBits   = 5  // the longest code of two lines, signs included
)

// layer3 is the shape of the frames of a clip.
type layer3 struct {
	version    int // row of mp3Rates
	rateIndex  int
	rate       int
	channels   int
	granules   int
	bitrate    int // kbit/s
	bitIndex   int
	sideBytes  int
	sampleStep int // samples of a frame
}

// newLayer3 returns the frame of a rate: its version, and the lowest bit rate whose frames have room for the side
// information and all lines at their largest.
func newLayer3(rate, channels int) layer3 {
	l := layer3{rate: rate, channels: channels, granules: 1}
	for version, row := range mp3Rates {
		if i := slices.Index(row[:], rate); i >= 0 {
			l.version, l.rateIndex = version, i
		}
	}
	l.sideBytes = []int{9, 17}[channels-1]
	if l.version == 0 {
		l.granules = 2
		l.sideBytes = []int{17, 32}[channels-1]
	}
	l.sampleStep = l.granules * lines
	need := 4 + l.sideBytes + (l.granules*channels*lines/2*pairBits+7)/8
	for i, kbits := range mp3Bitrates[min(l.version, 1)] {
		l.bitIndex, l.bitrate = i+1, kbits
		if l.sampleStep*kbits*1000/8/rate >= need {
			break
		}
	}
	return l
}

func (c Clip) mp3(r *random.Rand) []byte {
	l := newLayer3(c.RateHz, c.Channels)
	frames := max(1, (c.samples()+l.sampleStep-1)/l.sampleStep)
	whole, rest := l.sampleStep*l.bitrate*1000/8/l.rate, l.sampleStep*l.bitrate*1000/8%l.rate
	var out []byte
	owed := 0 // what the frames so far lack of the exact bit rate, in parts of a byte
	for range frames {
		size := whole
		if owed += rest; owed >= l.rate {
			owed -= l.rate
			size++
		}
		start := len(out)
		out = l.frame(out, r, size > whole)
		out = append(out, make([]byte, start+size-len(out))...) // ancillary data
	}
	return out
}

// frame appends a frame without its ancillary data.
func (l layer3) frame(out []byte, r *random.Rand, padded bool) []byte {
	versionBits, mode := []uint64{3, 2, 0}[l.version], uint64(3)
	if l.channels == 2 {
		mode = 0
	}
	var spectrum bitWriter
	sizes := make([]int, 0, 4)
	for range l.granules * l.channels {
		before := spectrum.len()
		writeSpectrum(&spectrum, r)
		sizes = append(sizes, spectrum.len()-before)
	}
	w := bitWriter{buf: out}
	w.put(0x7ff, 11)
	w.put(versionBits, 2)
	w.put(1, 2) // layer III
	w.put(1, 1) // no checksum
	w.put(uint64(l.bitIndex), 4)
	w.put(uint64(l.rateIndex), 2)
	w.flag(padded)
	w.put(0, 1)
	w.put(mode, 2)
	w.put(0, 6) // no joint stereo, no copyright, a copy, no emphasis
	l.sideInfo(&w, sizes)
	return append(w.bytes(), spectrum.bytes()...)
}

// sideInfo describes the granules: long blocks, one code table, no scale factors.
func (l layer3) sideInfo(w *bitWriter, sizes []int) {
	scaleBits := uint(9)
	if l.version == 0 {
		w.put(0, 9) // the data begins in this frame
		w.put(0, []uint{5, 3}[l.channels-1]+4*uint(l.channels))
		scaleBits = 4
	} else {
		w.put(0, 8)
		w.put(0, uint(l.channels))
	}
	for _, bits := range sizes {
		w.put(uint64(bits), 12)
		w.put(lines/2, 9)
		w.put(globalGain, 8)
		w.put(0, scaleBits)
		w.put(0, 1)                    // ordinary window
		w.put(0b00001_00001_00001, 15) // the three regions have code table 1
		w.put(0, 4+3)                  // and the shortest extents
		if l.version == 0 {
			w.put(0, 1)
		}
		w.put(0, 2)
	}
}

// writeSpectrum writes one granule of one channel: pairs of lines in code table 1, each line that is
// not 0 with its sign.
func writeSpectrum(w *bitWriter, r *random.Rand) {
	for range lines / 2 {
		draw := r.Uint64()
		x, y := draw&0xff >= zeroOf256, draw>>8&0xff >= zeroOf256
		switch {
		case x && y:
			w.put(0b000, 3)
		case x:
			w.put(0b01, 2)
		case y:
			w.put(0b001, 3)
		default:
			w.put(0b1, 1)
		}
		if x {
			w.put(draw>>16&1, 1)
		}
		if y {
			w.put(draw>>17&1, 1)
		}
	}
}

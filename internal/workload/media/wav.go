package media

import (
	"encoding/binary"

	"aiperf/internal/base/random"
)

// Clip says how sound is made.
type Clip struct {
	Format   string // "wav" or "mp3"
	Seconds  float64
	RateHz   int
	Depth    int // bits of a sample, 8, 16, 24 or 32; mp3 has none
	Channels int // 1 or 2
}

// Samples returns the number of samples of each channel.
func (c Clip) Samples() int { return int(c.Seconds * float64(c.RateHz)) }

// Noise returns a clip of noise as requests carry it.
func (c Clip) Noise(r *random.Rand) string {
	if c.Format == "mp3" {
		return audioText("mp3", c.mp3(r))
	}
	return audioText("wav", c.wav(r))
}

const wavHeader = 44

// wav returns PCM in a RIFF container; samples of 8 bits are unsigned, all others signed.
func (c Clip) wav(r *random.Rand) []byte {
	frame := c.Channels * c.Depth / 8
	size := c.Samples() * frame
	b := make([]byte, 0, wavHeader+size+1)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(wavHeader-8+size+size%2))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, uint16(c.Channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.RateHz))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.RateHz*frame))
	b = binary.LittleEndian.AppendUint16(b, uint16(frame))
	b = binary.LittleEndian.AppendUint16(b, uint16(c.Depth))
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	n := newNoise(r)
	for range c.Samples() * c.Channels {
		v := n.next()
		switch c.Depth {
		case 8:
			b = append(b, byte(v>>24+128))
		case 16:
			b = binary.LittleEndian.AppendUint16(b, uint16(v>>16))
		case 24:
			b = append(b, byte(v>>8), byte(v>>16), byte(v>>24))
		default:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	if size%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// wavSeconds returns the length of a WAV file as its header tells it; false if this is none.
func wavSeconds(b []byte) (float64, bool) {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return 0, false
	}
	bytesPerSecond := uint32(0)
	for b = b[12:]; len(b) >= 8; {
		size := binary.LittleEndian.Uint32(b[4:])
		name, body := string(b[:4]), b[8:]
		switch {
		case name == "fmt " && len(body) >= 12:
			bytesPerSecond = binary.LittleEndian.Uint32(body[8:])
		case name == "data" && bytesPerSecond > 0:
			// The size of a file that was streamed is unknown; what is there counts.
			return float64(min(uint64(size), uint64(len(body)))) / float64(bytesPerSecond), true
		}
		skip := uint64(size) + uint64(size%2)
		if skip > uint64(len(body)) {
			break
		}
		b = body[skip:]
	}
	return 0, false
}

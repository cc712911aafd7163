package media

import (
	"encoding/binary"
	"slices"

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

// samples returns the number of samples of each channel.
func (c Clip) samples() int { return int(c.Seconds * float64(c.RateHz)) }

// Noise returns a clip of noise as requests carry it.
func (c Clip) Noise(r *random.Rand) string {
	if c.Format == "mp3" {
		return AudioText("mp3", c.mp3(r))
	}
	return AudioText("wav", c.wav(r))
}

const wavHeader = 44

// AppendWAV appends PCM of so many bytes in a RIFF container; add appends them. Samples of 8 bits are unsigned, all
// others signed.
func AppendWAV(b []byte, size, rateHz, depth, channels int, add func([]byte) []byte) []byte {
	frame := channels * depth / 8
	b = slices.Grow(b, wavHeader+size+1)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(wavHeader-8+size+size%2))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rateHz))
	b = binary.LittleEndian.AppendUint32(b, uint32(rateHz*frame))
	b = binary.LittleEndian.AppendUint16(b, uint16(frame))
	b = binary.LittleEndian.AppendUint16(b, uint16(depth))
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	if b = add(b); size%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func (c Clip) wav(r *random.Rand) []byte {
	size := c.samples() * c.Channels * c.Depth / 8
	return AppendWAV(nil, size, c.RateHz, c.Depth, c.Channels, func(b []byte) []byte {
		n := newNoise(r)
		for range c.samples() * c.Channels {
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
		return b
	})
}

// WAVSeconds returns the length of a WAV file by its header; false if it is not one.
func WAVSeconds(b []byte) (float64, bool) {
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

package client

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
)

// frame builds a frame of string headers, as a service does.
func frame(payload string, headers ...string) []byte {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		h = append(h, byte(len(headers[i])))
		h = append(h, headers[i]...)
		h = append(h, typeString)
		h = binary.BigEndian.AppendUint16(h, uint16(len(headers[i+1])))
		h = append(h, headers[i+1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(prelude+len(h)+len(payload)+trailer))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, h...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func TestFramesSplitAnywhere(t *testing.T) {
	stream := slices.Concat(
		frame("data: a\n", ":message-type", "event", ":event-type", "PayloadPart"),
		frame("", ":message-type", "event"),
		frame(`{"message":"no model"}`, ":message-type", "exception", ":exception-type", "ModelStreamError"),
		frame("", ":message-type", "error", ":error-code", "500", ":error-message", "broken"),
	)
	for size := 1; size <= len(stream); size++ {
		var d Decoder
		var got []string
		for part := range slices.Chunk(stream, size) {
			d.Feed(part)
			for {
				m, err := d.Next()
				if err != nil {
					t.Fatal(err)
				}
				if m == nil {
					break
				}
				got = append(got, m.Kind+" "+m.Name+" "+m.Text())
			}
		}
		want := []string{"event PayloadPart data: a\n", "event  ", "exception ModelStreamError no model",
			"error 500 broken"}
		if !slices.Equal(got, want) || d.Pending() != 0 {
			t.Fatalf("in pieces of %d: %q", size, got)
		}
	}
}

// The shortest frame, whose checksums are published: no headers and no payload.
func TestEmptyFrameByItsPublishedBytes(t *testing.T) {
	b, _ := hex.DecodeString("000000100000000005c248eb7d98c8ff")
	if !bytes.Equal(b, frame("")) {
		t.Fatalf("%x", frame(""))
	}
	var d Decoder
	d.Feed(b)
	if m, err := d.Next(); err != nil || m == nil || len(m.Payload) != 0 {
		t.Fatal(m, err)
	}
}

func TestFramesThatAreNone(t *testing.T) {
	good := frame("x", "a", "b")
	for _, c := range []struct {
		name string
		edit func([]byte)
		want error
	}{
		{"prelude", func(b []byte) { b[3]++ }, errChecksum},
		{"payload", func(b []byte) { b[len(b)-5]++ }, errChecksum},
		{"too short", func(b []byte) {
			binary.BigEndian.PutUint32(b, 15)
			binary.BigEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b[:8]))
		}, errFrame},
		{"too long", func(b []byte) {
			binary.BigEndian.PutUint32(b, maxFrame+1)
			binary.BigEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b[:8]))
		}, errFrame},
		{"a header beyond its frame", func(b []byte) {
			b[prelude] = 200
			binary.BigEndian.PutUint32(b[len(b)-4:], crc32.ChecksumIEEE(b[:len(b)-4]))
		}, errFrame},
	} {
		b := bytes.Clone(good)
		c.edit(b)
		var d Decoder
		d.Feed(b)
		if _, err := d.Next(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add(frame("data", ":message-type", "event"), uint8(3))
	f.Add([]byte(strings.Repeat("\x00", 40)), uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		read := func(size int) (payloads []string, failed bool) {
			var d Decoder
			for part := range slices.Chunk(stream, size) {
				d.Feed(part)
				for {
					m, err := d.Next()
					if err != nil {
						return payloads, true
					}
					if m == nil {
						break
					}
					payloads = append(payloads, string(m.Payload))
				}
			}
			return payloads, false
		}
		a, aFailed := read(int(size) + 1)
		b, bFailed := read(len(stream) + 1)
		if aFailed != bFailed || !slices.Equal(a, b) {
			t.Fatalf("split %d: %q %v, whole: %q %v", size, a, aFailed, b, bFailed)
		}
	})
}

package run

import (
	"encoding/binary"
	"hash/crc32"
)

// payloadPart is a frame of an AWS event stream that carries text.
func payloadPart(text string) string {
	var h []byte
	for _, pair := range [][2]string{{":message-type", "event"}, {":event-type", "PayloadPart"}} {
		h = append(append(h, byte(len(pair[0]))), pair[0]...)
		h = binary.BigEndian.AppendUint16(append(h, 7), uint16(len(pair[1])))
		h = append(h, pair[1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(h)+len(text)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, h...), text...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

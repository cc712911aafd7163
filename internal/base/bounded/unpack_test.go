package bounded_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"aiperf/internal/base/bounded"
)

// A file may ask for a window of 4 GiB: it gets none.
func TestWindowsAreBounded(t *testing.T) {
	file, err := base64.StdEncoding.DecodeString("/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4ADdAEBdAD2IiobUFfjk4OgbmsopT2S+UUC7QpkIo563cq4u" +
		"Kv2uFtaEJeO7vdEBR6kxRWt3e7T2whtuvcEELAsq7zmUmAAAsGY0QMU24CgAAVzeAQAAAAy6YDaxxGf7AgAAAAAEWVo=")
	if err != nil {
		t.Fatal(err)
	}
	read := func() (string, error) {
		in, err := bounded.Unpack(bytes.NewReader(file), "x")
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(in)
		return string(text), err
	}
	if text, err := read(); err != nil || strings.Count(text, "\n") != 3 {
		t.Fatalf("%q, %v", text, err)
	}
	// The header of the block: its size, flags, the filter, the length of the filter's properties, the window; a checksum.
	header := file[12 : 12+4*(int(file[12])+1)]
	header[4] = 40
	sum := len(header) - 4
	binary.LittleEndian.PutUint32(header[sum:], crc32.ChecksumIEEE(header[:sum]))
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "exceeds max") {
		t.Errorf("a window of 4 GiB: %v", err)
	}
}

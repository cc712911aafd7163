package sandbox

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxTests bounds the unpacked tests of a problem.
const maxTests = 256 << 20

// Unpack returns the text of hidden tests: base64 of zlib of a pickled string. Its error says what in text is something
// else. Nothing of the pickle is run.
func Unpack(text string) (string, error) {
	packed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", err
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxTests+1))
	if err != nil {
		return "", err
	}
	if len(plain) > maxTests {
		return "", fmt.Errorf("they have more than %d bytes", maxTests)
	}
	return pickledString(plain)
}

var errPickle = errors.New("the pickle holds something else than a string")

// pickledString reads a pickle that holds one string. A pickle is a program; everything that is not needed for a string
// is refused, so that nothing of it runs.
func pickledString(p []byte) (string, error) {
	text, found := "", false
	take := func(n uint64) ([]byte, bool) {
		if n > uint64(len(p)) {
			return nil, false
		}
		v := p[:n]
		p = p[n:]
		return v, true
	}
	size := func(bytes uint64) (uint64, bool) {
		v, ok := take(bytes)
		if !ok {
			return 0, false
		}
		var whole [8]byte
		copy(whole[:], v)
		return binary.LittleEndian.Uint64(whole[:]), true
	}
	for len(p) > 0 {
		op := p[0]
		p = p[1:]
		ok, bytes := true, uint64(0)
		switch op {
		case '.': // STOP
			if !found {
				return "", errPickle
			}
			return text, nil
		case 0x80: // PROTO
			_, ok = take(1)
		case 0x95: // FRAME
			_, ok = take(8)
		case 'q': // BINPUT
			_, ok = take(1)
		case 'r': // LONG_BINPUT
			_, ok = take(4)
		case 0x94: // MEMOIZE
		case 0x8c: // SHORT_BINUNICODE
			bytes = 1
		case 'X': // BINUNICODE
			bytes = 4
		case 0x8d: // BINUNICODE8
			bytes = 8
		default:
			return "", errPickle
		}
		if bytes > 0 {
			var n uint64
			var v []byte
			if n, ok = size(bytes); ok {
				v, ok = take(n)
			}
			if found {
				return "", errPickle
			}
			text, found = string(v), true
		}
		if !ok {
			return "", errPickle
		}
	}
	return "", errPickle
}

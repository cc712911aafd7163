package servermetrics

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A row is coded against the row before it.
//
// One value:
//
//	10llltbb  the bits that differ: l+1 bytes follow, shifted left by the remaining three bits in bytes
//	11zzzzzz  both are integers: their difference, zigzag; above smallDelta the number of bytes that follow
//
// The values of a histogram, when all buckets and the count are integers: histogramIntegers, the sum as one
// value, then the growth of each bucket's own count and how much the count grew more than the last bucket, as
// uvarints: 2n for n zeros in a row, 2·zigzag+1 for one number. Else histogramFloats and each value as above.
const (
	scalarBits        = 0x80
	scalarDelta       = 0xc0
	smallDelta        = 56 // the first zigzag number that does not fit into the operation
	histogramIntegers = 0x80
	histogramFloats   = 0xc0
	exactIntegers     = 1 << 53
)

// sameBits reports whether two rows are the same to the bit.
func sameBits(a, b []float64) bool {
	for i, v := range a {
		if math.Float64bits(v) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

// appendRow codes row against before, which has the same width.
func appendRow(dst []byte, before, row []float64) []byte {
	if len(row) == scalarRow {
		return appendScalar(dst, before[0], row[0])
	}
	sum, count := len(row)-2, len(row)-1
	if !integers(row[:sum]) || !integers(before[:sum]) || !integers(row[count:]) || !integers(before[count:]) {
		dst = append(dst, histogramFloats)
		for i, v := range row {
			dst = appendScalar(dst, before[i], v)
		}
		return dst
	}
	dst = append(dst, histogramIntegers)
	dst = appendScalar(dst, before[sum], row[sum])
	lower, zeros := int64(0), uint64(0)
	for i := range row {
		if i == sum {
			continue
		}
		grown := int64(row[i]) - int64(before[i])
		own := grown - lower
		lower = grown
		if own == 0 {
			zeros++
			continue
		}
		dst = appendZeros(dst, zeros)
		zeros = 0
		dst = binary.AppendUvarint(dst, zigzag(own)<<1|1)
	}
	return appendZeros(dst, zeros)
}

func appendZeros(dst []byte, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return binary.AppendUvarint(dst, n<<1)
}

// readRow turns row, which holds the row before, into the one coded at the start of src and returns the
// length of the code.
func readRow(src []byte, row []float64) int {
	if len(row) == scalarRow {
		return readScalar(src, &row[0])
	}
	at := 1
	if src[0] == histogramFloats {
		for i := range row {
			at += readScalar(src[at:], &row[i])
		}
		return at
	}
	sum := len(row) - 2
	at += readScalar(src[at:], &row[sum])
	grown, zeros := int64(0), uint64(0)
	for i := range row {
		if i == sum {
			continue
		}
		if zeros > 0 {
			zeros--
		} else {
			token, n := binary.Uvarint(src[at:])
			at += n
			if token&1 == 0 {
				zeros = token>>1 - 1
			} else {
				grown += unzigzag(token >> 1)
			}
		}
		if grown != 0 {
			row[i] = float64(int64(row[i]) + grown)
		}
	}
	return at
}

func appendScalar(dst []byte, before, v float64) []byte {
	differ := math.Float64bits(before) ^ math.Float64bits(v)
	low := min(bits.TrailingZeros64(differ)/8, 7)
	length := max(8-low-bits.LeadingZeros64(differ)/8, 1)
	if integer(before) && integer(v) {
		z := zigzag(int64(v) - int64(before))
		if z < smallDelta {
			return append(dst, scalarDelta|byte(z))
		}
		if n := (bits.Len64(z) + 7) / 8; n <= length {
			return appendBytes(append(dst, scalarDelta|byte(smallDelta+n-1)), z, n)
		}
	}
	return appendBytes(append(dst, scalarBits|byte(length-1)<<3|byte(low)), differ>>(8*low), length)
}

func readScalar(src []byte, v *float64) int {
	op := src[0]
	if op&opKind == scalarDelta {
		z, n := uint64(op&opArg), 0
		if z >= smallDelta {
			n = int(z) - smallDelta + 1
			z = readBytes(src[1:], n)
		}
		*v = float64(int64(*v) + unzigzag(z))
		return 1 + n
	}
	n := int(op&opArg>>3) + 1
	differ := readBytes(src[1:], n) << (8 * (op & 7))
	*v = math.Float64frombits(math.Float64bits(*v) ^ differ)
	return 1 + n
}

func appendBytes(dst []byte, v uint64, n int) []byte {
	for range n {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

func readBytes(src []byte, n int) uint64 {
	v := uint64(0)
	for i := range n {
		v |= uint64(src[i]) << (8 * i)
	}
	return v
}

// integer reports whether v is one that int64 and back leave as it is.
func integer(v float64) bool {
	return v == math.Trunc(v) && math.Abs(v) <= exactIntegers && (v != 0 || !math.Signbit(v))
}

func integers(values []float64) bool {
	for _, v := range values {
		if !integer(v) {
			return false
		}
	}
	return true
}

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(z uint64) int64 { return int64(z>>1) ^ -int64(z&1) }

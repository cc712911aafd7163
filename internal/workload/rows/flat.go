package rows

import "encoding/binary"

// flat is a buffer of FlatBuffers: tables whose fields lie at offsets that the table itself lists. Whatever an offset
// says, reading stays in the buffer: beyond it everything is 0, and the buffer counts as broken.
type flat struct {
	bytes  []byte
	broken bool
}

// table is a table of a buffer; one at 0 is absent.
type table struct {
	in *flat
	at int
}

func (f *flat) take(at, n int) []byte {
	if at < 0 || n < 0 || at > len(f.bytes)-n {
		f.broken = true
		return make([]byte, min(max(n, 0), 8))
	}
	return f.bytes[at : at+n]
}

func (f *flat) i32(at int) int { return int(int32(binary.LittleEndian.Uint32(f.take(at, 4)))) }
func (f *flat) i64(at int) int64 {
	return int64(binary.LittleEndian.Uint64(f.take(at, 8)))
}

// follow returns what an offset at a place points to.
func (f *flat) follow(at int) int { return at + f.i32(at) }

func (f *flat) root() table { return table{f, f.follow(0)} }

// field returns the place of a field, 0 where the table does not have it.
func (t table) field(i int) int {
	if t.at == 0 {
		return 0
	}
	fields := t.at - t.in.i32(t.at)
	size := int(binary.LittleEndian.Uint16(t.in.take(fields, 2)))
	if 4+2*i+2 > size {
		return 0
	}
	offset := int(binary.LittleEndian.Uint16(t.in.take(fields+4+2*i, 2)))
	if offset == 0 {
		return 0
	}
	return t.at + offset
}

// byte returns the value of a field, 0 if it is absent.
func (t table) byte(i int) int {
	if at := t.field(i); at > 0 {
		return int(t.in.take(at, 1)[0])
	}
	return 0
}

func (t table) i16Or(i, absent int) int {
	if at := t.field(i); at > 0 {
		return int(int16(binary.LittleEndian.Uint16(t.in.take(at, 2))))
	}
	return absent
}

func (t table) i32Or(i, absent int) int {
	if at := t.field(i); at > 0 {
		return t.in.i32(at)
	}
	return absent
}

func (t table) i64(i int) int64 {
	if at := t.field(i); at > 0 {
		return t.in.i64(at)
	}
	return 0
}

// table returns a field that is a table itself, at 0 where it is absent.
func (t table) table(i int) table {
	if at := t.field(i); at > 0 {
		return table{t.in, t.in.follow(at)}
	}
	return table{t.in, 0}
}

// vector returns where the items of a list lie and how many there are, each of a size.
func (t table) vector(i, size int) (at, n int) {
	if at = t.field(i); at == 0 {
		return 0, 0
	}
	at = t.in.follow(at)
	n = t.in.i32(at)
	if n < 0 || n > len(t.in.bytes)/size {
		t.in.broken = true
		return 0, 0
	}
	t.in.take(at+4, n*size)
	return at + 4, n
}

func (t table) text(i int) string {
	at, n := t.vector(i, 1)
	if n > maxName {
		t.in.broken = true
		return ""
	}
	return string(t.in.take(at, n))
}

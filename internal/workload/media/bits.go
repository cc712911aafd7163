package media

// bitWriter appends bits, the most significant one first.
type bitWriter struct {
	buf     []byte
	pending uint64
	n       uint // pending bits, fewer than 8 between calls
}

func (w *bitWriter) put(value uint64, bits uint) {
	w.pending = w.pending<<bits | value
	for w.n += bits; w.n >= 8; w.n -= 8 {
		w.buf = append(w.buf, byte(w.pending>>(w.n-8)))
	}
}

func (w *bitWriter) flag(set bool) {
	if set {
		w.put(1, 1)
		return
	}
	w.put(0, 1)
}

// len returns the number of bits written to a buffer that was empty.
func (w *bitWriter) len() int { return len(w.buf)*8 + int(w.n) }

// bytes fills the last byte up with zeros.
func (w *bitWriter) bytes() []byte {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
	return w.buf
}

package artifact

import (
	"io"
	"strings"
	"sync"
)

// Writer returns a writer to w that hides known values, also one that comes in pieces: what may be the
// beginning of one waits for the rest, or for Flush.
func (r *Redactor) Writer(w io.Writer) *RedactingWriter { return &RedactingWriter{r: r, to: w} }

// RedactingWriter is made by Redactor.Writer. It is safe for concurrent use.
type RedactingWriter struct {
	r  *Redactor
	to io.Writer

	mu   sync.Mutex
	held string
}

// Write implements io.Writer.
func (w *RedactingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.held + string(p)
	keep := w.r.open(text)
	w.held = text[len(text)-keep:]
	if _, err := io.WriteString(w.to, w.r.Values(text[:len(text)-keep])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what waits.
func (w *RedactingWriter) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.held
	w.held = ""
	_, err := io.WriteString(w.to, w.r.Values(text))
	return err
}

// open returns the length of the end of text that cannot be judged yet: a known value may begin there and reach
// into what follows.
func (r *Redactor) open(text string) int {
	values := r.knowledge().values
	start := len(text)
	for _, v := range values {
		for n := min(len(v)-1, len(text)); n > len(text)-start; n-- {
			if strings.HasPrefix(v, text[len(text)-n:]) {
				start = len(text) - n
			}
		}
	}
	for moved := true; moved; { // a whole value is not cut either
		moved = false
		for _, v := range values {
			from := max(0, start-len(v)+1)
			if i := strings.Index(text[from:min(len(text), start+len(v)-1)], v); i >= 0 && from+i < start {
				start, moved = from+i, true
			}
		}
	}
	return len(text) - start
}

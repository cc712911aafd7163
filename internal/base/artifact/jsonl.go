package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"aiperf/internal/base/bounded"
)

// defaultFlushInterval bounds how much of the last lines a killed process loses.
const defaultFlushInterval = time.Second

// linesBuffer is the size at which buffered lines go to the file.
const linesBuffer = 64 << 10

// compressedBuffer is the same of a compressed file: longer texts are compressed better.
const compressedBuffer = 1 << 20

// LinesOptions shape a Lines file. The zero value is usable.
type LinesOptions struct {
	// FlushInterval is how long a line may wait in memory; 0 means defaultFlushInterval.
	FlushInterval time.Duration
	// OnError is called with the first write error, once, on the goroutine that met it. It must return soon
	// and must not close the file.
	OnError func(error)
	// MaxBytes is the size that the file does not pass: a line that would is left out and counted, and OnFull is
	// called at the first one. 0 = no limit.
	MaxBytes int64
	OnFull   func()
	// Compress makes the file one of zstd; the path then ends with [bounded.CompressedSuffix].
	Compress bool
}

// Lines is a file of lines, one JSON document each, written as they come and safe for concurrent use.
// After the first error nothing more is written: what is in the file ends with a whole line.
type Lines struct {
	path     string
	onError  func(error)
	maxBytes int64
	onFull   func()

	mu      sync.Mutex
	file    LinesFile
	buf     []byte
	enough  int   // bytes in buf that go to the file
	good    int64 // bytes of whole lines in the file
	lines   int64 // lines accepted
	pending int64 // lines in buf
	dropped int64
	omitted int64 // lines beyond the limit
	err     error
	closed  bool

	stop    chan struct{}
	stopped chan struct{}
}

// LinesFile is what a Lines needs of a file. Truncate is called only after a Write that failed.
type LinesFile interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
	Close() error
}

// CreateLines makes or empties the file at path at once, so that a directory that cannot be written
// shows before the first request, and starts the periodic flush.
func CreateLines(path string, o LinesOptions) (*Lines, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, reason(err))
	}
	if !o.Compress {
		return NewLines(path, file, o), nil
	}
	compressor, err := bounded.NewCompressor(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return NewLines(path, compressor, o), nil
}

// NewLines returns the Lines of an open file, which it closes at the end, and starts the periodic flush. path is what
// errors call the file, and what is removed at the end if there are no lines.
func NewLines(path string, file LinesFile, o LinesOptions) *Lines {
	enough := linesBuffer
	if o.Compress {
		enough = compressedBuffer
	}
	l := &Lines{
		path: path, onError: o.OnError, maxBytes: o.MaxBytes, onFull: o.OnFull, file: file,
		buf: make([]byte, 0, enough+enough/4), enough: enough,
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	interval := o.FlushInterval
	if interval <= 0 {
		interval = defaultFlushInterval
	}
	go l.flushPeriodically(interval)
	return l
}

func (l *Lines) flushPeriodically(interval time.Duration) {
	defer close(l.stopped)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = l.Flush()
		case <-l.stop:
			return
		}
	}
}

// Add appends one line; the newline is added here. After an error the line is counted as dropped.
func (l *Lines) Add(line []byte) error {
	l.mu.Lock()
	if l.beyond(len(line) + 1) {
		l.omitted++
		first := l.omitted == 1
		l.mu.Unlock()
		if first && l.onFull != nil {
			l.onFull()
		}
		return nil
	}
	defer l.unlockReporting(l.err == nil)
	if l.closed && l.err == nil {
		l.err = fmt.Errorf("cannot write %s: the file is closed", l.path)
	}
	if l.err != nil {
		l.dropped++
		return l.err
	}
	l.buf = append(append(l.buf, line...), '\n')
	l.lines++
	l.pending++
	if len(l.buf) >= l.enough {
		l.flush()
	}
	return l.err
}

// beyond reports whether n more bytes would pass the limit, or earlier ones have.
func (l *Lines) beyond(n int) bool {
	if l.maxBytes <= 0 || l.err != nil || l.closed {
		return false
	}
	return l.omitted > 0 || l.good+int64(len(l.buf)+n) > l.maxBytes
}

// Omitted returns the number of lines that the limit left out.
func (l *Lines) Omitted() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.omitted
}

// Flush writes what is buffered to the file.
func (l *Lines) Flush() error {
	l.mu.Lock()
	defer l.unlockReporting(l.err == nil)
	l.flush()
	return l.err
}

// unlockReporting releases the lock and reports an error that appeared while it was held.
func (l *Lines) unlockReporting(wasGood bool) {
	err := l.err
	l.mu.Unlock()
	if wasGood && err != nil && l.onError != nil {
		l.onError(err)
	}
}

func (l *Lines) flush() {
	if len(l.buf) == 0 || l.err != nil {
		return
	}
	n, err := l.file.Write(l.buf)
	if err != nil {
		l.fail(n, err)
		return
	}
	l.good += int64(n)
	l.buf = l.buf[:0]
	l.pending = 0
	if cap(l.buf) > 8*l.enough {
		l.buf = make([]byte, 0, l.enough+l.enough/4)
	}
}

// fail keeps the whole lines among the n bytes that were written and cuts off the rest.
func (l *Lines) fail(n int, err error) {
	l.err = fmt.Errorf("cannot write %s: %w", l.path, reason(err))
	whole := bytes.LastIndexByte(l.buf[:n], '\n') + 1
	kept := int64(bytes.Count(l.buf[:whole], []byte{'\n'}))
	l.dropped += l.pending - kept
	l.lines -= l.pending - kept
	l.good += int64(whole)
	l.pending = 0
	l.buf = nil
	if n > whole {
		// A file system that cannot even truncate leaves a broken last line; readers skip it.
		_ = l.file.Truncate(l.good)
	}
}

// Err returns the first error, nil so far.
func (l *Lines) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Count returns the number of lines written or about to be, and of those lost to an error.
func (l *Lines) Count() (lines, dropped int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines, l.dropped
}

// Close writes what is buffered and closes the file. A file without lines is removed. It returns the
// first error of the file's whole life; a second call returns the same.
func (l *Lines) Close() error {
	l.mu.Lock()
	if l.closed {
		defer l.mu.Unlock()
		return l.err
	}
	wasGood := l.err == nil
	l.closed = true
	l.flush()
	if err := l.file.Close(); err != nil && l.err == nil {
		l.err = fmt.Errorf("cannot write %s: %w", l.path, reason(err))
	}
	if l.lines == 0 {
		if err := RemoveStale(l.path); err != nil {
			l.err = errors.Join(l.err, err)
		}
	}
	close(l.stop)
	err := l.err
	l.unlockReporting(wasGood)
	<-l.stopped
	return err
}

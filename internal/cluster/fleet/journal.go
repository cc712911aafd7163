package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// batch is a number of records on their way: rows of them, packed.
type batch struct {
	number uint64
	rows   int
	data   []byte
}

// frame is the head of a batch in a journal: length, checksum, number and rows.
const frame = 4 + 4 + 8 + 4

// A journal begins with a page of words, in the order of bytes of the machine: what it is, whether it is whole, and the
// requests that were sent in each phase.
const (
	headBytes = 4096
	headWords = headBytes / 8
	wordKind  = 0
	wordTorn  = 1
	wordSent  = 2
	// journalKind is the first word of a journal.
	journalKind = 0x314c4e524a504941
)

// journal is the file of a share with the number of requests that it has sent, and all batches, written before they are
// sent. What is written is in the file even if the process is killed: it is what remains of an agent, and what is
// compared with the coordinator's count. A file that cannot be written any more is given up: the run goes on, and what
// is not yet acknowledged is kept in memory in any case.
type journal struct {
	path string
	mu   sync.Mutex
	file *os.File
	// broken is why the file was given up.
	broken error

	// headMu guards the head apart from the file: a request does not wait for a disk.
	headMu sync.Mutex
	head   *journalHead
}

// journalPath is the journal of a share of a run below the folder of its agent.
func journalPath(dir, run string, share int) string {
	return filepath.Join(shareDir(dir, run, share), "records.journal")
}

// shareDir is the folder of a share of a run below that of its agent.
func shareDir(dir, run string, share int) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%d", run, share))
}

// openJournal makes the file and maps its head. It always returns a journal: a run does not fail for want of one.
func openJournal(path string) *journal {
	j := &journal{path: path}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		j.broken = err
		return j
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		j.broken = err
		return j
	}
	// The page is written before it is mapped, so that a disk without room for it is noticed here.
	head := binary.NativeEndian.AppendUint64(nil, journalKind)
	if _, err := file.Write(append(head, make([]byte, headBytes-len(head))...)); err != nil {
		j.broken = err
		file.Close()
		return j
	}
	j.file, j.head = file, openHead(file)
	if j.head == nil { // records without a count of what was sent
		_, _ = file.WriteAt(binary.NativeEndian.AppendUint64(nil, 1), 8*wordTorn)
	}
	return j
}

// sent counts a request of a phase.
func (j *journal) sent(phase int) { j.count(wordSent + min(phase, headWords-wordSent-1)) }

// count adds one to a word of the head.
func (j *journal) count(word int) {
	j.headMu.Lock()
	defer j.headMu.Unlock()
	if j.head != nil {
		j.head.count(word)
	}
}

// add writes a batch. The error is returned once, when the file is given up.
func (j *journal) add(b *batch) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(b.data)))
	head = binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(b.data))
	head = binary.LittleEndian.AppendUint64(head, b.number)
	head = binary.LittleEndian.AppendUint32(head, uint32(b.rows))
	if _, err := j.file.Write(append(head, b.data...)); err != nil {
		j.broken = err
		j.count(wordTorn)
		j.file.Close()
		j.file = nil
		return err
	}
	return nil
}

// close closes the file; remove deletes it as well. What is counted afterwards is lost.
func (j *journal) close(remove bool) {
	j.headMu.Lock()
	j.head.close()
	j.head = nil
	j.headMu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
	if remove {
		os.Remove(j.path)
	}
}

// ledger is what a journal says of a share.
type ledger struct {
	// Sent are the requests that were sent, by phase.
	Sent    []int64
	Batches uint64
	// Records are those of all batches.
	Records int64
	// Torn: the file could not be written at some time, so that records are missing at its end, or what was sent.
	Torn bool
	// Problem is why the journal says too little; empty if it does not.
	Problem string
}

// allSent are the requests of all phases.
func (l *ledger) allSent() (n int64) {
	for _, k := range l.Sent {
		n += k
	}
	return n
}

// ledger returns what the file says; an error is put into words.
func (j *journal) ledger() *ledger {
	j.mu.Lock()
	broken := j.broken
	j.mu.Unlock()
	l, err := readJournal(j.path, func(*batch) error { return nil })
	if err = cmp.Or(broken, err); err != nil {
		l.Problem = err.Error()
	}
	return &l
}

// readJournal reads a journal and calls take with each batch. A file that ends within a batch was being written when
// its process died: what is whole is read, and the error is nil.
func readJournal(path string, take func(*batch) error) (l ledger, err error) {
	file, err := os.Open(path)
	if err != nil {
		return l, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	page := make([]byte, headBytes)
	if _, err := io.ReadFull(in, page); err != nil || binary.NativeEndian.Uint64(page) != journalKind {
		return l, fmt.Errorf("%s is not a journal of an agent", path)
	}
	l.Torn = binary.NativeEndian.Uint64(page[8*wordTorn:]) != 0
	for i := wordSent; i < headWords; i++ {
		if n := int64(binary.NativeEndian.Uint64(page[8*i:])); n > 0 {
			l.Sent = append(l.Sent, make([]int64, i-wordSent+1-len(l.Sent))...)
			l.Sent[i-wordSent] = n
		}
	}
	var head [frame]byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return l, nil
		}
		b := batch{number: binary.LittleEndian.Uint64(head[8:]), rows: int(binary.LittleEndian.Uint32(head[16:]))}
		var data bytes.Buffer
		n := int64(binary.LittleEndian.Uint32(head[:]))
		if got, err := io.CopyN(&data, in, n); err != nil || got != n {
			if err == io.EOF {
				err = nil
			}
			return l, err
		}
		if b.data = data.Bytes(); crc32.ChecksumIEEE(b.data) != binary.LittleEndian.Uint32(head[4:]) {
			return l, fmt.Errorf("%s: batch %d is damaged", path, l.Batches+1)
		}
		if err := take(&b); err != nil {
			return l, errors.Join(fmt.Errorf("%s: batch %d", path, l.Batches+1), err)
		}
		l.Batches, l.Records = l.Batches+1, l.Records+int64(b.rows)
	}
}

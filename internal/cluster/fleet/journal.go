package fleet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordbatch"
)

// batch is a number of records on their way: rows of them, packed.
type batch struct {
	number uint64
	rows   int
	data   []byte
}

// frame is the head of a batch in a journal: length, checksum, number and rows.
const frame = 4 + 4 + 8 + 4

// journal is the file with all batches of a share, written before they are sent. It is what remains of an agent that is
// killed, and what is compared with the coordinator's count. A file that cannot be written any more is given up: the
// run goes on, and what is not yet confirmed is kept in memory in any case.
type journal struct {
	path string
	mu   sync.Mutex
	file *os.File
	// broken is why the file was given up.
	broken error
}

func openJournal(path string) *journal {
	j := &journal{path: path}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		j.broken = err
		return j
	}
	j.file, j.broken = os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	return j
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
		j.file.Close()
		j.file = nil
		return err
	}
	return nil
}

// close closes the file; remove deletes it as well.
func (j *journal) close(remove bool) {
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

// ReadJournal calls add with each record of a journal, which an agent leaves behind that could not hand everything
// over. A file that ends within a batch was being written when its process died: what is whole is read, and the error
// is nil.
func ReadJournal(path string, add func(*record.Record)) (batches int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	var head [frame]byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return batches, nil
		}
		var data bytes.Buffer
		n := int64(binary.LittleEndian.Uint32(head[:]))
		if got, err := io.CopyN(&data, in, n); err != nil || got != n {
			if err == io.EOF {
				err = nil
			}
			return batches, err
		}
		if crc32.ChecksumIEEE(data.Bytes()) != binary.LittleEndian.Uint32(head[4:]) {
			return batches, fmt.Errorf("%s: batch %d is damaged", path, batches+1)
		}
		if err := recordbatch.Read(data.Bytes(), add); err != nil {
			return batches, errors.Join(fmt.Errorf("%s: batch %d", path, batches+1), err)
		}
		batches++
	}
}

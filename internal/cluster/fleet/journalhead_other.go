//go:build !darwin && !freebsd && !linux

package fleet

import (
	"encoding/binary"
	"os"
)

// journalHead is the head of a journal, each word of which is written to the file when it changes.
type journalHead struct {
	file  *os.File
	words [headWords]uint64
}

// openHead returns the head of a file that has one already; nil where it cannot be written.
func openHead(file *os.File) *journalHead {
	own, err := os.OpenFile(file.Name(), os.O_WRONLY, 0o600)
	if err != nil {
		return nil
	}
	return &journalHead{file: own}
}

func (h *journalHead) count(word int) {
	h.words[word]++
	_, _ = h.file.WriteAt(binary.NativeEndian.AppendUint64(nil, h.words[word]), int64(8*word))
}

func (h *journalHead) close() {
	if h != nil {
		h.file.Close()
	}
}

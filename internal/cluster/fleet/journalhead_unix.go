//go:build darwin || freebsd || linux

package fleet

import (
	"os"
	"syscall"
	"unsafe"
)

// journalHead is the head of a journal in memory that the operating system keeps in the file, whatever becomes of the
// process.
type journalHead struct {
	page  []byte
	words *[headWords]uint64
}

// openHead returns the head of a file that has one already; nil where it cannot be mapped.
func openHead(file *os.File) *journalHead {
	page, err := syscall.Mmap(int(file.Fd()), 0, headBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return &journalHead{page, (*[headWords]uint64)(unsafe.Pointer(&page[0]))}
}

func (h *journalHead) count(word int) { h.words[word]++ }

func (h *journalHead) close() {
	if h != nil {
		_ = syscall.Munmap(h.page)
	}
}

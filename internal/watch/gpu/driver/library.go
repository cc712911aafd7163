package driver

import (
	"fmt"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is a shared library and what was found in it.
type library struct {
	name    string
	handle  uintptr
	symbols map[string]uintptr
}

// openLibrary opens the first of several libraries that is there.
func openLibrary(names []string) (*library, error) {
	var reasons []string
	for _, name := range names {
		handle, err := load(name)
		if err == nil {
			return &library{name: name, handle: handle, symbols: map[string]uintptr{}}, nil
		}
		// Of a library that is there but lacks another one, the loader names the other.
		if reason := err.Error(); !strings.HasPrefix(reason, name+":") ||
			!strings.HasSuffix(reason, "No such file or directory") {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		return nil, fmt.Errorf("the library %s is not installed", names[0])
	}
	return nil, fmt.Errorf("the library %s cannot be loaded (%s)", names[0], strings.Join(reasons, "; "))
}

// lastAddress makes what address is asked for outlive the stack of its goroutine.
var lastAddress unsafe.Pointer

// address returns where a library may write to. It forces the value onto the heap: the stack, where it could be
// otherwise, may move when it grows, and the library would then write where it was. The caller reads the value after
// the call, which keeps it alive, or says so with runtime.KeepAlive.
func address[T any](v *T) uintptr {
	atomic.StorePointer(&lastAddress, unsafe.Pointer(v))
	return uintptr(unsafe.Pointer(v))
}

// notFound is the status of a function that the library lacks.
const notFound = 0xffff

// call calls the first of several functions, newest first, that the library has, and returns its status. All take
// and return words only.
func (l *library) call(names string, args ...uintptr) uint32 {
	for name := range strings.FieldsSeq(names) {
		address, known := l.symbols[name]
		if !known {
			address, _ = find(l.handle, name)
			l.symbols[name] = address
		}
		if address != 0 {
			status, _, _ := purego.SyscallN(address, args...)
			return uint32(status)
		}
	}
	return notFound
}

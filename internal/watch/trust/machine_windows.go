package trust

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32       = windows.NewLazySystemDLL("kernel32.dll")
	getSystemTimes = kernel32.NewProc("GetSystemTimes")
	getMemory      = kernel32.NewProc("GlobalMemoryStatusEx")
)

// memoryStatus is the system's MEMORYSTATUSEX.
type memoryStatus struct {
	length, load               uint32
	total, available           uint64
	totalPage, availablePage   uint64
	totalVirtual, availVirtual uint64
	availableExtended          uint64
}

// readMachine reads processor time and memory; the rest is not known here.
func readMachine(r *reading) {
	var idle, kernel, user windows.Filetime
	if ok, _, _ := getSystemTimes.Call(uintptr(unsafe.Pointer(&idle)), uintptr(unsafe.Pointer(&kernel)),
		uintptr(unsafe.Pointer(&user))); ok != 0 {
		r.jiffies, r.host.idle = span(kernel)+span(user), span(idle) // the kernel's time holds the idle one
		r.host.processors = runtime.NumCPU()
	}
	status := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := getMemory.Call(uintptr(unsafe.Pointer(&status))); ok != 0 {
		r.host.memory, r.host.available = int64(status.total), int64(status.available)
		r.memoryLimit = r.host.memory
	}
}

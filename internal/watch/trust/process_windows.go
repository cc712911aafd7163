package trust

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	getProcessMemory  = kernel32.NewProc("K32GetProcessMemoryInfo")
	getProcessHandles = kernel32.NewProc("GetProcessHandleCount")
)

// processMemory is the system's PROCESS_MEMORY_COUNTERS.
type processMemory struct {
	length, faults                   uint32
	peakWorkingSet, workingSet       uintptr
	peakPagedPool, pagedPool         uintptr
	peakNonPagedPool, nonPagedPool   uintptr
	pageFileUsage, peakPageFileUsage uintptr
}

// readProcess reads processor time, the working set as resident memory, and handles as descriptors: files, sockets, but
// also threads and events.
func readProcess(r *reading) {
	self := windows.CurrentProcess()
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(self, &created, &exited, &kernel, &user) == nil {
		r.cpuNS = span(kernel) + span(user)
	}
	memory := processMemory{length: uint32(unsafe.Sizeof(processMemory{}))}
	if ok, _, _ := getProcessMemory.Call(uintptr(self), uintptr(unsafe.Pointer(&memory)), uintptr(memory.length)); ok != 0 {
		r.rss = int64(memory.workingSet)
	}
	var handles uint32
	if ok, _, _ := getProcessHandles.Call(uintptr(self), uintptr(unsafe.Pointer(&handles))); ok != 0 {
		r.descriptors = int64(handles)
	}
}

// span returns a length of time in nanoseconds, which Windows counts in tenths of a microsecond.
func span(t windows.Filetime) int64 {
	return (int64(t.HighDateTime)<<32 | int64(t.LowDateTime)) * 100
}

// descriptorLimits returns nothing here.
func descriptorLimits() (soft, hard int64) { return 0, 0 }

package clock

import (
	"math/bits"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32         = windows.NewLazySystemDLL("kernel32.dll")
	queryCounter     = kernel32.NewProc("QueryPerformanceCounter")
	queryFrequency   = kernel32.NewProc("QueryPerformanceFrequency")
	queryPreciseTime = kernel32.NewProc("GetSystemTimePreciseAsFileTime")
)

// counter is the system's performance counter. The runtime's clock moves only with the system's timer, every 0.5 to 15.6
// milliseconds, which is longer than the time between two tokens.
type counter struct {
	base      int64
	frequency uint64 // ticks a second; 0 = the runtime's clock is to be used
}

// newCounter starts a counter. There is none where the runtime's clock is not the system's: in a test's bubble, where time
// is virtual.
func newCounter() counter {
	var frequency int64
	call(queryFrequency, &frequency)
	if ahead := time.Now().UnixNano() - systemWallNS(); frequency <= 0 || max(ahead, -ahead) > int64(time.Minute) {
		return counter{}
	}
	return counter{base: ticks(), frequency: uint64(frequency)}
}

// counts reports whether there is one.
func (c counter) counts() bool { return c.frequency > 0 }

// elapsedNS is the time since the counter was made.
func (c counter) elapsedNS() int64 {
	high, low := bits.Mul64(uint64(max(0, ticks()-c.base)), uint64(time.Second))
	ns, _ := bits.Div64(high, low, c.frequency)
	return int64(ns)
}

func ticks() (n int64) {
	call(queryCounter, &n)
	return n
}

// preciseWallNS is the wall clock, finer than the system's timer where the system has it (since Windows 8).
func preciseWallNS() int64 {
	if queryPreciseTime.Find() != nil {
		return systemWallNS()
	}
	var now windows.Filetime
	windows.GetSystemTimePreciseAsFileTime(&now)
	return now.Nanoseconds()
}

func systemWallNS() int64 {
	var now windows.Filetime
	windows.GetSystemTimeAsFileTime(&now)
	return now.Nanoseconds()
}

// call has the system write a number. Nothing is allocated.
func call(f *windows.LazyProc, to *int64) { syscall.SyscallN(f.Addr(), uintptr(unsafe.Pointer(to))) }

package trust

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// tree is the root of a Linux file system with /proc and /sys. On other systems its files are absent,
// which reads as nothing known.
type tree string

// noTree has no files.
const noTree tree = ""

// thisTree is that of this machine. On Windows "/" is the root of some drive.
func thisTree() tree {
	if runtime.GOOS == "windows" {
		return noTree
	}
	return "/"
}

// readUse reads what changes all the time.
func (t tree) readUse(r *reading) {
	t.readSockets(r)
	if words := strings.Fields(t.file("proc/self/statm")); len(words) > 1 {
		r.rss = number(words[1]) * int64(os.Getpagesize())
	}
	if n := t.openDescriptors(); n > 0 {
		r.descriptors = n
	}
	t.readLinks(&r.host)
	if n := t.availableMemory(); n > 0 {
		r.host.available = n
	}
}

// readRest reads the limits, and what counts only from end to end.
func (t tree) readRest(r *reading) {
	t.readStat(r)
	t.readPressure(r)
	t.readMachine(&r.host)
	t.readMemoryLimit(r)
	if first, last := t.portRange(); last >= first && last > 0 {
		r.portRange = last - first + 1
	}
	if quota := t.cpuQuota(); quota > 0 {
		r.quota = math.Min(r.quota, quota)
	}
}

func (t tree) file(name string) string {
	if t == noTree {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(string(t), name))
	if err != nil {
		return ""
	}
	return string(data)
}

// fieldsAfter returns the words behind the first one of the line that begins with it.
func fieldsAfter(text, first string) []string {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == first {
			return words[1:]
		}
	}
	return nil
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// readStat reads the machine's times: user nice system idle iowait irq softirq steal. Guest times, which
// follow, are part of the first two.
func (t tree) readStat(r *reading) {
	const idle, waiting, steal = 3, 4, 7
	for i, word := range fieldsAfter(t.file("proc/stat"), "cpu") {
		if i > steal {
			break
		}
		n := number(word)
		r.jiffies += n
		switch i {
		case idle:
			r.host.idle = n
		case waiting:
			r.host.waiting = n
		case steal:
			r.steal, r.hasSteal = n, true
		}
	}
}

// readPressure reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", the total in microseconds.
func (t tree) readPressure(r *reading) {
	if total := stalled(t.file("proc/pressure/cpu"), "some"); total >= 0 {
		r.pressureUS, r.hasPressure = total, true
	}
	for _, p := range []struct {
		file       string
		some, full *int64
	}{{"memory", &r.host.memorySome, &r.host.memoryFull}, {"io", &r.host.ioSome, &r.host.ioFull}} {
		text := t.file("proc/pressure/" + p.file)
		*p.some, *p.full = stalled(text, "some"), stalled(text, "full")
	}
}

// stalled returns the total of a line of pressure in microseconds, -1 if there is none.
func stalled(text, line string) int64 {
	for _, word := range fieldsAfter(text, line) {
		if total, ok := strings.CutPrefix(word, "total="); ok {
			return number(total)
		}
	}
	return -1
}

// readSockets reads "TCP: inuse 5 orphan 0 tw 2 alloc 9 mem 1" and the like of IPv6.
func (t tree) readSockets(r *reading) {
	for _, f := range []struct{ name, line string }{{"proc/net/sockstat", "TCP:"}, {"proc/net/sockstat6", "TCP6:"}} {
		words := fieldsAfter(t.file(f.name), f.line)
		for i := 0; i+1 < len(words); i += 2 {
			if words[i] == "inuse" || words[i] == "tw" {
				r.sockets += number(words[i+1])
			}
		}
	}
}

// portRange returns that of outgoing connections; 0 = not known.
func (t tree) portRange() (first, last int64) {
	words := strings.Fields(t.file("proc/sys/net/ipv4/ip_local_port_range"))
	if len(words) != 2 {
		return 0, 0
	}
	return number(words[0]), number(words[1])
}

// openDescriptors counts the open files. The size of the directory is their number; older kernels have
// it at 0, and the entries are counted instead.
func (t tree) openDescriptors() int64 {
	if t == noTree {
		return 0
	}
	dir := filepath.Join(string(t), "proc/self/fd")
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	if t == "/" && info.Size() > 0 {
		return info.Size()
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	return int64(len(entries))
}

func (t tree) readMemoryLimit(r *reading) {
	if words := fieldsAfter(t.file("proc/meminfo"), "MemTotal:"); len(words) > 0 {
		r.memoryLimit = number(words[0]) << 10
	}
	for _, dir := range t.groups("memory") {
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
			if n := number(strings.TrimSpace(t.file(path.Join(dir, name)))); n > 0 &&
				(r.memoryLimit == 0 || n < r.memoryLimit) {
				r.memoryLimit = n
			}
		}
	}
}

// MachineMemory returns how many bytes this process may use: those of the machine, or of its control group; 0 where
// that is not known.
func MachineMemory() int64 {
	var r reading
	thisTree().readMemoryLimit(&r)
	return r.memoryLimit
}

// availableMemory returns what may still be used without swapping, in bytes.
func (t tree) availableMemory() int64 {
	if words := fieldsAfter(t.file("proc/meminfo"), "MemAvailable:"); len(words) > 0 {
		return number(words[0]) << 10
	}
	return 0
}

// cpuQuota returns the least quota of the control groups that the process is in, in cores; 0 = none.
func (t tree) cpuQuota() float64 {
	least := 0.0
	take := func(quota, period int64) {
		if quota > 0 && period > 0 {
			if cores := float64(quota) / float64(period); least == 0 || cores < least {
				least = cores
			}
		}
	}
	for _, dir := range t.groups("cpu") {
		if words := strings.Fields(t.file(path.Join(dir, "cpu.max"))); len(words) == 2 {
			take(number(words[0]), number(words[1])) // "max" is not a number
		}
		take(number(strings.TrimSpace(t.file(path.Join(dir, "cpu.cfs_quota_us")))),
			number(strings.TrimSpace(t.file(path.Join(dir, "cpu.cfs_period_us")))))
	}
	return least
}

// groups returns the directories of the control groups that govern the process for a controller, of either
// version, each with those above it.
func (t tree) groups(controller string) []string {
	var dirs []string
	climb := func(base, group string) {
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			dirs = append(dirs, path.Join(base, group))
			if group == "/" {
				return
			}
		}
	}
	for line := range strings.Lines(t.file("proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[1] == "" {
			climb("sys/fs/cgroup", parts[2])
			continue
		}
		for name := range strings.SplitSeq(parts[1], ",") {
			if name == controller {
				climb("sys/fs/cgroup/"+controller, parts[2])
			}
		}
	}
	return dirs
}

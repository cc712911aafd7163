package trust

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// readMachine reads what counts only from end to end.
func (t tree) readMachine(m *hostReading) {
	for line := range strings.Lines(t.file("proc/stat")) {
		if name, _, _ := strings.Cut(line, " "); len(name) > 3 && strings.HasPrefix(name, "cpu") {
			m.processors++
		}
	}
	if words := fieldsAfter(t.file("proc/meminfo"), "MemTotal:"); len(words) > 0 {
		m.memory = number(words[0]) << 10
	}
	vm := t.file("proc/vmstat")
	for _, f := range []struct {
		name string
		of   *int64
	}{{"pswpin", &m.swapIn}, {"pswpout", &m.swapOut}} {
		if words := fieldsAfter(vm, f.name); len(words) > 0 {
			*f.of = number(words[0]) * int64(os.Getpagesize())
		}
	}
	t.readSegments(m)
	m.speed = t.linkSpeed
}

// readSegments reads the two lines "Tcp:" of names and numbers.
func (t tree) readSegments(m *hostReading) {
	var names []string
	for line := range strings.Lines(t.file("proc/net/snmp")) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] != "Tcp:":
		case names == nil:
			names = words
		default:
			for _, f := range []struct {
				name string
				of   *int64
			}{{"OutSegs", &m.segments}, {"RetransSegs", &m.repeated}} {
				if i := slices.Index(names, f.name); i >= 0 && i < len(words) {
					*f.of = number(words[i])
				}
			}
		}
	}
}

// readLinks reads the lines of interfaces: eight numbers received (bytes packets errs drop …), then eight sent.
func (t tree) readLinks(m *hostReading) {
	for line := range strings.Lines(t.file("proc/net/dev")) {
		name, rest, found := strings.Cut(line, ":")
		words := strings.Fields(rest)
		if !found || len(words) < 12 {
			continue
		}
		n := func(i int) int64 { return number(words[i]) }
		m.links = append(m.links, counters{
			name: strings.TrimSpace(name), received: n(0), sent: n(8), packets: n(1) + n(9),
			lost: n(2) + n(3) + n(10) + n(11),
		})
	}
}

// linkSpeed returns that of an interface in bytes per second, from megabits; 0 = not known. Those without a device,
// such as tunnels and the ends of containers' links, tell a number that no hardware stands behind.
func (t tree) linkSpeed(name string) float64 {
	dir := path.Join("sys/class/net", name)
	if _, err := os.Stat(filepath.Join(string(t), dir, "device")); err != nil {
		return 0
	}
	return max(0, float64(number(strings.TrimSpace(t.file(path.Join(dir, "speed")))))) * 1e6 / 8
}

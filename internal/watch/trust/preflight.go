package trust

import (
	"fmt"
	"runtime"
	"strings"
)

// Advice is something to do before a run that asks for more than the machine has.
type Advice struct {
	// Code names the limit: "descriptors", "ports" or "memory".
	Code string
	// Message says what is asked for and what there is.
	Message string
	// Command raises the limit, as it is to be typed; "" where no command does.
	Command string
}

// limits are those of this machine that a number of connections can exceed; 0 = not known.
type limits struct {
	system                     string
	soft, hard                 int64
	most                       int64 // to which the system lets the hard limit be raised
	portFirst, portLast, inUse int64
	memory                     int64
}

const (
	// ownDescriptors are those that a run needs besides its connections: files, scrapes, timers.
	ownDescriptors = 64
	// streamBytes is the memory that an open stream takes.
	streamBytes = 32 << 10
	// firstFreePort is the first port that any process may use.
	firstFreePort, lastPort = 1024, 65535
)

// Asked is what a run asks of the machine.
type Asked struct {
	// Requests and Connections are those at a time; connections of 0 are as many as requests.
	Requests, Connections int
	// Sources is the number of addresses that connections start from, Servers that of those they go to;
	// 0 is one.
	Sources, Servers int
}

// Preflight compares what a run asks for with the limits of this machine. It returns nothing where they
// suffice.
func Preflight(a Asked) []Advice {
	t := thisTree()
	l := limits{system: runtime.GOOS, memory: t.availableMemory()}
	l.soft, l.hard = descriptorLimits()
	l.most = number(strings.TrimSpace(t.file("proc/sys/fs/nr_open")))
	l.portFirst, l.portLast = t.portRange()
	var use reading
	t.readSockets(&use)
	l.inUse = use.sockets
	var rest reading
	t.readMemoryLimit(&rest)
	if l.memory == 0 {
		other := reading{host: unknownHost()}
		readMachine(&other)
		l.memory = max(0, other.host.available)
	}
	if rest.memoryLimit > 0 && (l.memory == 0 || rest.memoryLimit < l.memory) {
		l.memory = rest.memoryLimit
	}
	return l.advise(a)
}

// advise returns what this machine lacks for a load, each with its limit. Requests bound the connections where nothing
// else does. A limit of 0 is not known, and nothing is said of it.
func (l *limits) advise(a Asked) []Advice {
	requests, connections := int64(a.Requests), int64(a.Connections)
	if connections <= 0 {
		connections = requests
	}
	var out []Advice
	if need := connections + ownDescriptors; l.soft > 0 && need > l.soft {
		out = append(out, Advice{Code: "descriptors", Command: l.raiseDescriptors(need),
			Message: fmt.Sprintf("%d connections need %d file descriptors, the limit is %d", connections, need,
				l.soft)})
	}
	if advice, ok := l.ports(connections, int64(max(1, a.Sources)), int64(max(1, a.Servers))); ok {
		out = append(out, advice)
	}
	if need := requests * streamBytes; l.memory > 0 && need > l.memory {
		out = append(out, Advice{Code: "memory",
			Message: fmt.Sprintf("%d open streams take about %d MiB of memory, %d MiB are free: lower the "+
				"concurrency or share the load among several machines",
				requests, need>>20, l.memory>>20)})
	}
	return out
}

// raiseDescriptors returns the command for the shell that starts the run.
func (l *limits) raiseDescriptors(need int64) string {
	switch {
	case need <= l.hard || l.hard == 0:
		return fmt.Sprintf("ulimit -n %d", need)
	case l.system == "linux" && l.most > 0 && need > l.most:
		return fmt.Sprintf("sudo sysctl -w fs.nr_open=%d && sudo prlimit --pid $$ --nofile=%d:%d", need, need, need)
	case l.system == "linux":
		return fmt.Sprintf("sudo prlimit --pid $$ --nofile=%d:%d", need, need)
	}
	return fmt.Sprintf("sudo launchctl limit maxfiles %d %d && ulimit -n %d", need, need, need)
}

// ports counts a port for each connection between the same two addresses; a connection to another server
// or from another address may have the same port.
func (l *limits) ports(connections, sources, servers int64) (Advice, bool) {
	all, ways := l.portLast-l.portFirst+1, sources*servers
	if l.portLast == 0 || connections+l.inUse <= all*ways {
		return Advice{}, false
	}
	what := fmt.Sprintf("%d connections to one address", connections)
	if ways > 1 {
		what = fmt.Sprintf("%d connections (source addresses: %d, servers: %d)", connections, sources, servers)
	}
	a := Advice{Code: "ports", Message: fmt.Sprintf("%s need a port each, of %d there are %d in use", what, all*ways,
		l.inUse)}
	if free := int64(lastPort - firstFreePort + 1); connections+l.inUse <= free*ways && all < free {
		a.Command = fmt.Sprintf(`sudo sysctl -w net.ipv4.ip_local_port_range="%d %d"`, firstFreePort, lastPort)
		a.Message += "; send from several addresses with --source-address, or widen the range"
	} else {
		a.Message += fmt.Sprintf(": send from at least %d addresses with --source-address, or to several servers",
			(connections+l.inUse+all*servers-1)/(all*servers))
	}
	return a, true
}

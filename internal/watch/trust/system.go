package trust

// reading is the state of the process and the machine at an instant. What the system does not tell is 0.
type reading struct {
	atNS  int64
	cpuNS int64 // used by the process so far
	procs int
	quota float64 // cores

	// jiffies is the machine's processor time so far, steal the part that others got.
	jiffies, steal int64
	hasSteal       bool
	hasPressure    bool
	pressureUS     int64

	descriptors, descriptorLimit int64
	sockets, portRange           int64
	rss, memoryLimit             int64

	runnable, pauses classes
	cycles           int64
	assistSeconds    float64
	heap, live       int64

	host hostReading
}

// system reads the machine: the process's own figures from the runtime and the operating system, the
// rest from the files of a Linux tree, which are absent elsewhere.
type system struct {
	root string
	// own reads what the operating system reports this process.
	own func(r *reading)
}

func thisSystem() system {
	return system{root: string(thisTree()), own: func(r *reading) {
		readProcess(r)
		readMachine(r)
	}}
}

// use reads what changes all the time.
func (s system) use(atNS int64) reading {
	r := reading{atNS: atNS, host: unknownHost()}
	readRuntime(&r)
	s.own(&r)
	tree(s.root).readUse(&r)
	return r
}

// all reads everything.
func (s system) all(atNS int64) reading {
	r := s.use(atNS)
	r.quota = float64(r.procs)
	tree(s.root).readRest(&r)
	return r
}

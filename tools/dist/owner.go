package main

// What the owner of a release says about it in packages; docs/releasing.md lists all that an owner must fill in. What is
// empty is left out, except the maintainer, whom a .deb must name.
const (
	maintainer = "the aiperf authors"
	homepage   = ""
)

const (
	summary     = "Benchmark of LLM inference servers"
	description = summary + `
 One program that sends load to an inference server and reports what it takes:
 latencies, throughput, capacity, and what limited it.`
)

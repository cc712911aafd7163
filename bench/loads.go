//go:build unix

package main

import "strconv"

// A load is what this program and the bare loop both send to the mock server.
type load struct {
	// key is its name in -only, title what a unit of it is called.
	key, title string
	server     []string
	// args are those of aiperf profile, bare those of the bare loop.
	args, bare []string
	unit       unit
	// byCPU: the server sets the rate, and processor time is what differs.
	byCPU bool
	// wrk can send it too.
	wrk bool
}

// unit is what a load is counted in: the metrics of its number and of its rate.
type unit struct{ count, rate string }

var (
	requests = unit{"request_count", "request_throughput"}
	tokens   = unit{"total_osl", "output_token_throughput"}
)

// loads are what is compared with the bare loop, with another build (-only versus), and compiled for (-only pgo).
func (b *bench) loads() []load {
	perStream, seconds := strconv.Itoa(50*b.seconds), strconv.Itoa(b.seconds)
	return []load{
		{key: "unary", title: "unary request", server: []string{"--fast"}, unit: requests, wrk: true,
			args: []string{"--concurrency", "32", "--isl", "32", "--osl", "1", "--benchmark-duration", seconds},
			bare: []string{"-concurrency", "32", "-tokens", "1"}},
		{key: "flood", title: "flooded event", server: []string{"--fast"}, unit: tokens,
			args: []string{"--streaming", "--concurrency", "8", "--isl", "32", "--osl", "2000", "--extra-inputs",
				"ignore_eos:true", "--benchmark-duration", seconds},
			bare: []string{"-concurrency", "8", "-tokens", "2000", "-stream"}},
		{key: "paced", title: "paced event, 1,000 × 50/s", server: []string{"--ttft", "20", "--itl", "20"}, unit: tokens,
			byCPU: true,
			args: []string{"--streaming", "--concurrency", "1000", "--isl", "32", "--osl", perStream, "--extra-inputs",
				"ignore_eos:true", "--request-count", "1000"},
			bare: []string{"-concurrency", "1000", "-tokens", perStream, "-stream", "-requests", "1000"}},
	}
}

// cpu is the processor time in µs of a unit.
func (l load) cpu(p *profiled) float64 { return p.cpu.Seconds() * 1e6 / p.value(l.unit.count) }

// measure prints a row of a load for one core and for two.
func (b *bench) measure(l load) error {
	server, err := b.server(l.server...)
	if err != nil {
		return err
	}
	defer server.stop()
	for _, procs := range []int{1, 2} {
		ours, err := b.profile(procs, server.url, l.args...)
		if err != nil {
			return err
		}
		bare, err := b.bare(procs, append([]string{"-url", server.url}, l.bare...)...)
		if err != nil {
			return err
		}
		if l.byCPU {
			row(l.title+": CPU µs", procs, l.cpu(ours), bare.cpuOfEach(), 0, "%.1f")
			continue
		}
		var wrk float64
		if l.wrk {
			wrk = b.wrk(server.url, procs)
		}
		row(l.title+"s/s", procs, ours.value(l.unit.rate), bare.count()/bare.Seconds, wrk, "%.0f")
	}
	return nil
}

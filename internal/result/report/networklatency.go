package report

import (
	"sync"

	"aiperf/internal/base/artifact"
)

// NetworkProbe is one measurement of the network's round trip.
type NetworkProbe struct {
	// URL is the server's, without secrets; Host and Port are what was to be reached.
	URL, Host string
	Port      int64
	// Remote is the address and port that was reached.
	Remote string
	// StartNS is when the probe began, wall epoch ns.
	StartNS int64
	RTTNS   int64
	// Source is "kernel" or "client".
	Source string
	// Error is why there is no round trip; "" if there is one.
	Error string
}

// NetworkLatency writes profile_export_network_latency.jsonl: every probe, in the order of their ends.
type NetworkLatency struct {
	lines *artifact.Lines
	mu    sync.Mutex
	line  []byte
}

// OpenNetworkLatency creates the file. One without lines is removed when it is closed.
func OpenNetworkLatency(path string, o artifact.LinesOptions) (*NetworkLatency, error) {
	lines, err := artifact.CreateLines(path, o)
	if err != nil {
		return nil, err
	}
	return &NetworkLatency{lines: lines}, nil
}

// Add writes one probe.
func (n *NetworkLatency) Add(p *NetworkProbe) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := artifact.Members{Dst: n.line[:0]}
	m.Open()
	m.Int("timestamp_ns", p.StartNS)
	m.String("target_url", p.URL)
	m.String("target_host", p.Host)
	m.Int("target_port", p.Port)
	m.String("probe_type", "tcp_connect")
	if p.Error == "" {
		m.Int("rtt_ns", p.RTTNS)
	}
	m.Bool("success", p.Error == "")
	if p.Error == "" {
		m.String("remote_address", p.Remote)
		m.String("source", p.Source)
	} else {
		m.String("error", p.Error)
	}
	m.Close()
	n.line = m.Dst
	_ = n.lines.Add(n.line) // kept by the file, see Close
}

// Close writes what is buffered; its error is the first of the file's life.
func (n *NetworkLatency) Close() error { return n.lines.Close() }

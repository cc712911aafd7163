//go:build unix

package main

import (
	"errors"
	"fmt"
	"strconv"
)

// A load is what one core is measured with.
type load struct {
	name   string
	server []string
	args   []string // of aiperf profile
	bare   []string
	unit   string // the metric that counts what processor time is divided by
}

// loads are those of -only versus and -only pgo.
func (b *bench) loads() []load {
	tokens, seconds := strconv.Itoa(50*b.seconds), strconv.Itoa(b.seconds)
	return []load{
		{"unary request", []string{"--fast"},
			[]string{"--concurrency", "32", "--isl", "32", "--osl", "1", "--benchmark-duration", seconds},
			[]string{"-concurrency", "32", "-tokens", "1"}, "request_count"},
		{"flooded event", []string{"--fast"},
			[]string{"--streaming", "--concurrency", "8", "--isl", "32", "--osl", "2000", "--extra-inputs",
				"ignore_eos:true", "--benchmark-duration", seconds},
			[]string{"-concurrency", "8", "-tokens", "2000", "-stream"}, "total_osl"},
		{"paced event, 1,000 × 50/s", []string{"--ttft", "20", "--itl", "20"},
			[]string{"--streaming", "--concurrency", "1000", "--isl", "32", "--osl", tokens, "--extra-inputs",
				"ignore_eos:true", "--request-count", "1000"},
			[]string{"-concurrency", "1000", "-tokens", tokens, "-stream", "-requests", "1000"}, "total_osl"},
	}
}

// versusRounds is how often each program runs; it is odd.
const versusRounds = 5

// versus compares the processor time of this program with that of another one and of the bare loop, by runs in turn: the
// speed of a shared machine changes within minutes.
func (b *bench) versus() error {
	if b.other == "" {
		return errors.New("name the other program by -versus")
	}
	fmt.Printf("%-36s %10s %10s %10s %18s %12s %12s\n", "CPU µs, one core", "this", "other", "bare loop",
		"this/other, pairs", "units/s", "of the bare")
	for _, l := range b.loads() {
		if err := b.versusOf(l); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

func (b *bench) versusOf(l load) error {
	server, err := b.server(l.server...)
	if err != nil {
		return err
	}
	defer server.stop()
	var this, other, bare, pairs, rate, bareRate []float64
	cost := func(program string) (cpu, units float64, err error) {
		args := append([]string{"--no-server-metrics"}, l.args...)
		p, err := b.watchedOf(program, 1, server.url, args...)
		if err != nil {
			return 0, 0, err
		}
		perSecond := p.value("request_throughput")
		if l.unit != "request_count" {
			perSecond = p.value("output_token_throughput")
		}
		return p.cpu.Seconds() * 1e6 / p.value(l.unit), perSecond, nil
	}
	for range versusRounds {
		ours, units, err := cost(b.aiperf)
		if err != nil {
			return err
		}
		theirs, _, err := cost(b.other)
		if err != nil {
			return err
		}
		plain, err := b.bare(1, append([]string{"-url", server.url}, l.bare...)...)
		if err != nil {
			return err
		}
		count := max(plain.Requests, plain.Events)
		this, other, pairs = append(this, ours), append(other, theirs), append(pairs, ours/theirs)
		rate, bareRate = append(rate, units), append(bareRate, count/plain.Seconds)
		bare = append(bare, plain.cpu.Seconds()*1e6/count)
	}
	fmt.Printf("%-36s %10.3f %10.3f %10.3f %18.3f %12.0f %12.0f\n", l.name, middle(this), middle(other), middle(bare),
		middle(pairs), middle(rate), middle(bareRate))
	return nil
}

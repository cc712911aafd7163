//go:build unix

package main

import (
	"errors"
	"fmt"
)

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
			return fmt.Errorf("%s: %w", l.title, err)
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
		return l.cpu(p), p.value(l.unit.rate), nil
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
		this, other, pairs = append(this, ours), append(other, theirs), append(pairs, ours/theirs)
		rate, bareRate = append(rate, units), append(bareRate, plain.count()/plain.Seconds)
		bare = append(bare, plain.cpuOfEach())
	}
	fmt.Printf("%-36s %10.3f %10.3f %10.3f %18.3f %12.0f %12.0f\n", l.title, middle(this), middle(other), middle(bare),
		middle(pairs), middle(rate), middle(bareRate))
	return nil
}

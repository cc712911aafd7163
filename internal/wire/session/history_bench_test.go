package session

import (
	"strings"
	"testing"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/tokenizer"
)

// BenchmarkLongSession prepares and counts the last requests of a session of 200 turns with 2,000 bytes each, and as
// much in each reply. ns/op is what one request costs.
func BenchmarkLongSession(b *testing.B) {
	const turns = 200
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, line by line. ", 34)
	d := &dataset.Dataset{Conversations: dataset.Memory{{SessionID: "s"}},
		DefaultContextMode: dataset.DeltasWithoutResponses}
	for range turns {
		d.At(0).Turns = append(d.At(0).Turns,
			dataset.Turn{Texts: []dataset.Media{{Contents: []string{text}}}})
	}
	e, err := endpoint.New("chat", endpoint.Options{Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		counter endpoint.Counter
	}{{"remembered", tokenizer.NewMemo(tokenizer.Builtin())}, {"anew", tokenizer.Builtin()}} {
		b.Run(c.name, func(b *testing.B) {
			s := NewStore(Options{Dataset: d, Endpoint: e, URLs: []string{"http://h"}}).Session(0, 0)
			reply := &endpoint.Reply{Output: []byte(text)}
			for turn := range turns - 1 {
				s.Capture(turn, reply)
			}
			one := func() {
				p := s.Prepare(turns - 1)
				if n, ok := p.Body.InputTokens(c.counter); !ok || n < 1000 {
					b.Fatal(n)
				}
			}
			one() // the past is encoded and counted while it is the present
			for b.Loop() {
				one()
			}
		})
	}
}

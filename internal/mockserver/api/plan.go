package api

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Plan is what a request gets: how many tokens, and which.
type Plan struct {
	PromptTokens int
	Cached       int // of those, tokens that the prefix cache has
	Reasoning    int
	Content      int
	Finish       string // "stop" or "length"
	// draw addresses the words of the reply in the server's random streams.
	draw uint64
}

// Tokens returns the length of the reply.
func (p Plan) Tokens() int { return p.Reasoning + p.Content }

// newPlan applies the length rules. A budget B is the requested limit, else the server's default
// length, else max(2P, 16) of P prompt tokens. Models that reason spend their effort first; with
// the rest, content gets a number between the least (min_tokens, else 80 % of P) and the most
// (B if a limit was given, else 120 % of P) that is drawn from the prompt.
func newPlan(a API, r *Request, promptTokens, defaultLength int, draw uint64) Plan {
	p := Plan{PromptTokens: promptTokens, Finish: "stop", draw: draw}
	switch apis[a].output {
	case noTokens:
		return p
	case transcript:
		p.Content = transcriptTokens(r.seconds)
		return p
	case spoken:
		p.Content = max(1, promptTokens)
		return p
	}
	if promptTokens == 0 && !r.media {
		return p
	}
	limited := r.Limit() > 0 || r.MinTokens > 0
	budget := r.Limit()
	exact := r.IgnoreEOS
	switch {
	case budget > 0:
	case defaultLength > 0:
		budget = defaultLength
		exact = exact || !limited
	default:
		budget = max(2*promptTokens, 16)
	}
	if apis[a].thinks && reasons(r.Model) {
		p.Reasoning = min(effortTokens(r.Effort), budget)
		budget -= p.Reasoning
	}
	p.Content = budget
	if !exact && budget > 0 {
		least := r.MinTokens
		if least == 0 {
			least = max(1, promptTokens*8/10)
		}
		least = min(least, budget)
		most := budget
		if !limited {
			most = max(min(promptTokens*12/10, budget), least)
		}
		p.Content = least + int(draw%uint64(most-least+1))
	}
	if p.Content == budget {
		p.Finish = "length"
	}
	return p
}

// reasons reports whether a model, given as a JSON string, thinks before it answers.
func reasons(model []byte) bool {
	// Few models do; look for the two letters that their names share before folding the case.
	if bytes.IndexByte(model, 'q') < 0 && bytes.IndexByte(model, 'Q') < 0 &&
		bytes.IndexByte(model, 'g') < 0 && bytes.IndexByte(model, 'G') < 0 {
		return false
	}
	name := strings.ToLower(string(model))
	return strings.Contains(name, "gpt-oss") || strings.Contains(name, "qwen")
}

// effortTokens returns the reasoning budget of an effort, given as a JSON string.
func effortTokens(effort []byte) int {
	switch string(effort) {
	case `"low"`:
		return 100
	case `"high"`:
		return 500
	}
	return 250
}

// hashBytes returns a 64-bit hash of data that is the same in every process and on every machine (a
// multiply-and-fold hash in the manner of wyhash).
func hashBytes(seed uint64, data []byte) uint64 {
	const k0, k1, k2 = 0x2d358dccaa6c78a5, 0x8bb84b93962eacc9, 0x4b33a62ed433d4a3
	h := seed ^ k0
	n := uint64(len(data))
	for len(data) >= 16 {
		h = fold(binary.LittleEndian.Uint64(data)^k1, binary.LittleEndian.Uint64(data[8:])^h)
		data = data[16:]
	}
	var tail [16]byte
	copy(tail[:], data)
	h = fold(binary.LittleEndian.Uint64(tail[:])^k1, binary.LittleEndian.Uint64(tail[8:])^h)
	return fold(h^k2, n^k1)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

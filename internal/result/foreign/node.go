package foreign

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/metrics"
)

// node is a raw JSON value; nil is one that is not there.
type node []byte

// at follows keys.
func (n node) at(keys ...string) node {
	for _, key := range keys {
		if n = jsonscan.Find(n, key); n == nil {
			return nil
		}
	}
	return n
}

// has reports whether a member is there and not null.
func (n node) has(key string) bool { return !jsonscan.IsNull(n.at(key)) }

// number returns a finite number, or one that is written as text.
func (n node) number() (float64, bool) {
	text := string(n)
	if len(n) > 0 && n[0] == '"' {
		text = jsonscan.Text(n)
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && artifact.Finite(v)
}

// positive returns a number above zero; else 0.
func (n node) positive() float64 {
	if v, ok := n.number(); ok && v > 0 {
		return v
	}
	return 0
}

func (n node) text() string { return jsonscan.Text(n) }

func (n node) bool() bool { return string(n) == "true" }

// items returns the elements of a list.
func (n node) items() (list []node) {
	for item := range jsonscan.Elements(n) {
		list = append(list, node(item))
	}
	return list
}

// numbers returns the numbers of a list; those that are none are left out.
func (n node) numbers() (list []float64) {
	for item := range jsonscan.Elements(n) {
		if v, ok := node(item).number(); ok {
			list = append(list, v)
		}
	}
	return list
}

// lines returns the documents of a file: those of its lines, or all of it.
func (f *file) lines() (list []node) {
	if jsonscan.Valid(f.data) {
		return []node{node(bytes.TrimSpace(f.data))}
	}
	for line := range bytes.Lines(f.data) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			list = append(list, node(line))
		}
	}
	return list
}

// endpointType returns our name of an API by the name or the path that another tool has for it; "" for another one.
func endpointType(name string) string {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "chat"):
		return "chat"
	case strings.Contains(name, "responses"):
		return "responses"
	case strings.Contains(name, "embedding"):
		return "embeddings"
	case strings.Contains(name, "completion"), name == "openai", name == "vllm", name == "sglang-oai", name == "lmdeploy":
		return "completions"
	}
	return ""
}

type member struct {
	key   string
	value node
}

// members walks over the members of an object.
func (n node) members() iter.Seq[member] {
	return func(yield func(member) bool) {
		for m := range jsonscan.Members(n) {
			if !yield(member{string(m.Key), m.Value}) {
				return
			}
		}
	}
}

// rankKey returns our name of a percentile that is written as p99, P99.9, p99_9 or p0.1.
func rankKey(name string) (string, bool) {
	digits, ok := strings.CutPrefix(strings.ToLower(name), "p")
	if !ok {
		return "", false
	}
	rank, err := strconv.ParseFloat(strings.ReplaceAll(digits, "_", "."), 64)
	return metrics.RankKey(rank), err == nil && rank > 0 && rank < 100
}

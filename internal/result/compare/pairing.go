package compare

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
)

// largestInputs bounds the file of payloads that is read to find the requests that ask the same.
const largestInputs = 256 << 20

// pair gives the conversations of two runs common names where their ids differ: without a seed, ids are random. What a
// conversation asks, apart from the model, is its name then, from the files of payloads. It reports whether both runs
// have the same conversations but for their ids.
func pair(base, next *Run) (same bool) {
	if base.requests == nil || next.requests == nil || shared(base.requests, next.requests) {
		return base.asked != nil && maps.Equal(base.asked, next.asked)
	}
	a, b := base.payloads(), next.payloads()
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	base.requests.rename(a)
	next.requests.rename(b)
	base.asked, next.asked = tally(a), tally(b)
	return maps.Equal(base.asked, next.asked)
}

// tally counts the conversations that ask the same.
func tally(names map[string]string) map[string]int {
	counts := make(map[string]int, len(names))
	for _, name := range names {
		counts[name]++
	}
	return counts
}

// shared reports whether the ids of conversations name the same in both runs, or are those of one of them only.
func shared(a, b *requestValues) bool {
	ids := make(map[string]bool, len(a.keys))
	for i := range a.keys {
		ids[a.keys[i].conversation] = true
	}
	n := 0
	for i := range b.keys {
		if ids[b.keys[i].conversation] {
			n++
		}
	}
	return n > 0 || len(a.keys) == 0 || len(b.keys) == 0
}

// rename gives the requests the names of their conversations.
func (v *requestValues) rename(names map[string]string) {
	times := map[requestKey]int{}
	for i := range v.keys {
		k := &v.keys[i]
		if name, ok := names[k.conversation]; ok {
			k.conversation = name
		}
		k.time = 0
		times[*k]++
		k.time = times[*k] - 1
	}
}

// payloads returns a name for what each conversation of a run asks, by its id; nil where that is not known.
func (r *Run) payloads() map[string]string {
	path := filepath.Join(filepath.Dir(r.Summary), config.Artifacts{}.Name(config.InputsJSON))
	if info, err := os.Stat(path); err != nil || info.Size() > largestInputs {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	names := map[string]string{}
	if readInputs(json.NewDecoder(bufio.NewReaderSize(file, 1<<16)), names) != nil {
		return nil // the file is of somebody else, or damaged: the requests are not paired
	}
	return names
}

var errInputs = errors.New("not a file of payloads")

// readInputs reads {"data": [{"session_id": …, "payloads": […]}, …]} one conversation at a time.
func readInputs(d *json.Decoder, names map[string]string) error {
	for _, want := range []json.Token{json.Delim('{'), "data", json.Delim('[')} {
		if token, err := d.Token(); err != nil || token != want {
			return errInputs
		}
	}
	for d.More() {
		var c struct {
			ID       string            `json:"session_id"`
			Payloads []json.RawMessage `json:"payloads"`
		}
		if err := d.Decode(&c); err != nil {
			return err
		}
		h := sha256.New()
		for _, payload := range c.Payloads {
			o, err := artifact.ParseObject(payload)
			if err != nil {
				return err
			}
			var asked artifact.Object
			for _, m := range o {
				if m.Key != "model" {
					asked = append(asked, m)
				}
			}
			text, err := artifact.AppendJSON(nil, asked.Sorted())
			if err != nil {
				return err
			}
			h.Write(append(text, '\n'))
		}
		names[c.ID] = "asks " + string(h.Sum(nil))
	}
	return nil
}

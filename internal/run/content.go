package run

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"

	"aiperf/internal/accuracy/task"
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// content is what requests say: the conversations, and what counts their tokens.
type content struct {
	*target
	tokenizer  tokenizer.Tokenizer         // of the primary model
	tokenizers []tokenizer.Tokenizer       // of all models
	counters   map[string]endpoint.Counter // by model, where there are several
	// bundles are the files of the tokenizers that are not built in, by name.
	bundles map[string]*load.Bundle
	data    *dataset.Dataset
	// gold are the problems of a benchmark by the ids of their conversations; nil where nothing is graded.
	gold map[string]*task.Problem
	// indexFrom is the size from which a file of conversations stays on disk; 0: the reader's own.
	indexFrom int64
	// repeatsAnnounced: it was said before the load that prompts are sent several times.
	repeatsAnnounced bool
	// inputsError is why inputs.json could not be written.
	inputsError error
	unencoded   sync.Once
}

// encode makes token ids for endpoints whose requests carry them; the tokenizer is loaded by the time it is called.
func (c *content) encode(dst []int, text string) []int { return c.tokenizer.Encode(dst, text) }

// cacheBust says to the sessions how their requests are marked, nil if they are not.
func (c *content) cacheBust() *session.CacheBust {
	target := c.cfg.Dataset.CacheBust
	if target == "" {
		return nil
	}
	return &session.CacheBust{Target: target, RunID: c.id, NoSystem: func() {
		c.log.Warn(fmt.Sprintf("--cache-bust %s: there is no system message to mark, so the first message of the "+
			"user is marked", target))
	}}
}

// repeatsMatter reports whether a prompt that is sent again can be cheaper than the first time without anybody having
// asked for it: in conversations of several turns it is meant to be, and marks against caches prevent it.
func (c *content) repeatsMatter(data *dataset.Dataset) bool {
	return c.descriptor.ProducesTokens && c.cfg.Dataset.CacheBust == "" && data.Turns() == data.Len()
}

// uniquePrompts says how each of some requests gets a prompt of its own.
func (c *content) uniquePrompts(requests int64) string {
	remedy := "use more data"
	if c.cfg.Dataset.Path == "" {
		remedy = fmt.Sprintf("--num-dataset-entries %d", requests)
	}
	if c.canBust() {
		remedy += " or --cache-bust first_turn_prefix"
	}
	return remedy
}

// canBust reports whether requests of the endpoint can be marked against caches.
func (c *content) canBust() bool {
	return c.descriptor.Name == "chat" || c.descriptor.Name == "responses"
}

// freshCache says how a run does without what a server's prefix cache knows of earlier runs.
func (c *content) freshCache() string {
	remedies := "--reset-kv-cache empties the cache before the run"
	if c.cfg.Dataset.Path == "" {
		remedies += "; another --random-seed makes other prompts"
	}
	if c.canBust() {
		remedies += "; --cache-bust first_turn_prefix marks them"
	}
	return remedies
}

// datasetHash is the hash of inputs.json, which holds every payload; of a dataset file where that is
// left out.
func (c *content) datasetHash() (string, bool) {
	for _, path := range []string{c.cfg.Artifacts.Path(config.InputsJSON), c.cfg.Dataset.Path} {
		if path == "" {
			continue
		}
		if hash, err := fileHash(path); err == nil {
			return hash, true
		}
	}
	return "", false
}

func fileHash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// probe is text on which tokenizers differ: scripts, digits, blanks, code, emoji.
const probe = "The quick brown fox, 1234567890 times; don't — naïve café\n\n\tfor (i = 0; i < 10; i++) {}\r\n" +
	"東京で 한국어 Ελληνικά русский العربية हिन्दी ไทย 👩‍💻🇩🇪   <|endoftext|> \u00a0\u2028 a̐éö̲"

// fingerprint tells tokenizers apart by what they do: the hash of the ids of a fixed text and of the
// size of the vocabulary.
func fingerprint(t tokenizer.Tokenizer) string {
	var data []byte
	for _, id := range append(t.Encode(nil, probe), t.VocabSize()) {
		data = binary.LittleEndian.AppendUint64(data, uint64(id))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

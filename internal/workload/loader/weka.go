package loader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/workload/dataset"
)

const wekaTrace = "weka_trace"

// The closed sets of keys of weka_trace.
var (
	wekaKeys = []string{"type", "id", "models", "block_size", "hash_id_scope", "tool_tokens", "system_tokens",
		"totals", "requests"}
	wekaRequestKeys = []string{
		"t", "type", "model", "in", "out", "hash_ids", "input_types", "output_types", "stop", "api_time", "think_time",
		"ttft",
	}
	wekaAgentKeys = []string{
		"t", "type", "agent_id", "subagent_type", "duration_ms", "total_tokens", "tool_use_count", "status", "requests",
		"models", "tool_tokens", "system_tokens",
	}
)

// recordedRequest is a request of a recording; times are seconds.
type recordedRequest struct {
	at, end float64
	think   float64
	model   string
	in, out int
	ids     []int64
	row     uint64
	prefix  *dataset.Prefix
}

// recordedAgent is an agent that a recording names: its requests, and when it was called.
type recordedAgent struct {
	id       string
	at       float64
	requests []recordedRequest
}

// readWeka reads the documents of all files, each of which may hold several in a row. A file is read whole: documents
// have no lines, and their errors are reported by their places. A document that is not JSON ends its file, as nobody
// knows where the next one begins.
func readWeka(l *load) error {
	if l.options.Reshape != nil {
		return fmt.Errorf("%s: --synthesis-… ratios and multipliers cannot be used with %s: its sessions are "+
			"replayed as they are", l.path, wekaTrace)
	}
	files, err := wekaFiles(l.path)
	if err != nil {
		return err
	}
	traces := 0
	own := 0 // block size of the files
	for _, file := range files {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		text, err := readWhole(file)
		if err != nil {
			return err
		}
		w := &wekaFile{load: l, path: file, text: text, blockSize: &own}
		for at := 0; len(bytes.TrimSpace(text[at:])) > 0; {
			if l.options.Entries > 0 && traces == l.options.Entries {
				return nil
			}
			dec := json.NewDecoder(bytes.NewReader(text[at:]))
			var document json.RawMessage
			if err := dec.Decode(&document); err != nil {
				w.errorAt(len(text), jsonError(err))
				break
			}
			w.trace(document)
			at += int(dec.InputOffset())
			traces++
		}
	}
	return nil
}

// wekaFiles returns the recordings of a folder, sorted, or the file itself.
func wekaFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && isData(name, dataNames...) &&
			!strings.HasPrefix(entry.Name(), ".") {
			files = append(files, name)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s holds no .json or .jsonl files", path)
	}
	slices.Sort(files)
	return files, err
}

// maxRecording bounds a file of recordings, which is in memory as a whole.
const maxRecording = 4 << 30

// readWhole reads a file of up to maxRecording bytes, unpacked, without a byte order mark.
func readWhole(path string) ([]byte, error) {
	in, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxRecording+1))
	if err == nil && len(text) > maxRecording {
		err = fmt.Errorf("more than %d bytes", maxRecording)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// wekaFile is one file of recordings; its errors name the line of the entry.
type wekaFile struct {
	*load
	path string
	text []byte
	// seen is how far entries were looked for.
	seen int
	// newlines are those before the offset counted.
	counted, newlines int
	blockSize         *int
	scope             int64
	rows              uint64
}

func (w *wekaFile) errorAt(offset int, err error) {
	path := w.load.path
	w.load.path, w.line = w.path, w.lineAt(offset)
	w.errorf("%v", err)
	w.load.path = path
}

func (w *wekaFile) lineAt(offset int) int {
	offset = min(offset, len(w.text))
	if offset < w.counted {
		w.counted, w.newlines = 0, 0
	}
	w.newlines += bytes.Count(w.text[w.counted:offset], []byte("\n"))
	w.counted = offset
	return 1 + w.newlines
}

// find returns where a raw part of the file stands; parts are looked for in their order.
func (w *wekaFile) find(part []byte) int {
	if at := bytes.Index(w.text[w.seen:], part); at >= 0 {
		w.seen += at
	}
	return w.seen
}

// trace reads one recording.
func (w *wekaFile) trace(document []byte) {
	start := w.find(document)
	w.line = w.lineAt(start)
	o, err := parseObject(document)
	if err == nil {
		err = onlyKeys(o, wekaKeys)
	}
	if err != nil {
		w.errorAt(start, err)
		return
	}
	id, err := w.header(o)
	if err != nil {
		w.errorAt(start, err)
		return
	}
	items, err := o.list("requests", "a list of at least one request")
	if err != nil {
		w.errorAt(start, err)
		return
	}
	before := w.mistaken
	requests, agents := w.entries(items)
	if w.mistaken > before {
		return
	}
	if n := w.options.MaxContext; n > 0 && longest(requests, agents) > n {
		w.dropped.contexts++
		return
	}
	countPrefixes(requests, agents)
	newTree(w.load).root(id, requests, agents)
}

// header reads what is said of the whole recording.
func (w *wekaFile) header(o *object) (id string, err error) {
	if id, err = o.text("id"); err != nil {
		return "", err
	}
	if id == "" {
		return "", errors.New(`field "id" is missing: every recording needs one`)
	}
	if _, twice := w.sessions[id]; twice {
		return "", fmt.Errorf(`field "id": %q occurs in an earlier recording already`, shorten(id))
	}
	if scope, err := o.text("hash_id_scope"); err != nil || scope != "local" {
		return "", o.wrong("hash_id_scope", `"local"`)
	}
	size, err := o.positive("block_size")
	switch {
	case err != nil:
		return "", err
	case size == nil:
		return "", errors.New(`field "block_size" is missing: want the number of tokens of a hash id`)
	case w.options.BlockSize > 0 && *size != w.options.BlockSize:
		return "", fmt.Errorf(`field "block_size": the recording has blocks of %d tokens, --isl-block-size says %d`,
			*size, w.options.BlockSize)
	case *w.blockSize > 0 && *size != *w.blockSize:
		return "", fmt.Errorf(`field "block_size": blocks of %d tokens do not go with the %d of the recordings before`,
			*size, *w.blockSize)
	}
	*w.blockSize, w.load.blockSize = *size, *size
	sum := fnv.New64a()
	sum.Write([]byte(id))
	w.scope = int64(sum.Sum64())
	w.rows = 0
	return id, nil
}

// entries reads the list of requests and agents.
func (w *wekaFile) entries(items []json.RawMessage) (requests []recordedRequest, agents []recordedAgent) {
	for i, item := range items {
		at := w.find(item)
		o, err := parseObject(item)
		if err != nil {
			w.errorAt(at, fmt.Errorf("requests[%d]: %w", i, err))
			continue
		}
		kind, err := o.text("type")
		switch {
		case err != nil:
		case kind == "n" || kind == "s":
			var r recordedRequest
			if r, err = w.request(o); err == nil && w.keeps(&r) {
				requests = append(requests, r)
			}
		case kind == "subagent":
			var a recordedAgent
			if a, err = w.agent(o); err == nil {
				agents = append(agents, a)
			}
		default:
			err = o.wrong("type", `"n", "s" or "subagent"`)
		}
		if err != nil {
			w.errorAt(at, fmt.Errorf("requests[%d]: %w", i, err))
		}
	}
	byTime(requests)
	slices.SortStableFunc(agents, func(a, b recordedAgent) int { return cmp.Compare(a.at, b.at) })
	return requests, agents
}

func byTime(requests []recordedRequest) {
	slices.SortStableFunc(requests, func(a, b recordedRequest) int { return cmp.Compare(a.at, b.at) })
}

// keeps applies the filters of lengths to a request.
func (w *wekaFile) keeps(r *recordedRequest) bool {
	if w.options.MaxISL > 0 && r.in > w.options.MaxISL {
		w.dropped.long++
		return false
	}
	if w.options.MaxOSL > 0 && r.out > w.options.MaxOSL {
		r.out = w.options.MaxOSL
		w.dropped.capped++
	}
	return true
}

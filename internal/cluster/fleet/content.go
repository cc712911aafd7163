package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"aiperf/internal/run"
	"aiperf/internal/workload/dataset"
)

const (
	// blockBytes is the length from which a block of conversations ends: what is fetched, checked and kept as one.
	blockBytes = 4 << 20
	// minCachedBytes is the length from which a block is worth a file.
	minCachedBytes = 256 << 10
	// maxMemoryBytes is the length of all conversations of a share up to which they are kept in memory.
	maxMemoryBytes = 64 << 20
)

// manifest says what the requests of a run say: its conversations, cut in blocks, and the files of tokenizers.
type manifest struct {
	Len       int
	Roots     []int
	Sampling  dataset.Sampling
	Mode      dataset.ContextMode
	NoInputs  bool
	Branching bool
	Turns     int
	Contents  dataset.Contents
	// TurnsOf are the numbers of turns of all conversations.
	TurnsOf []int
	// Classes are the blocks of the conversations by their number modulo the number of classes.
	Classes    [][]block
	Tokenizers []vocabulary
}

// block is a number of conversations, or a part of a file, under the hash of its bytes.
type block struct {
	Hash  string
	Bytes int
}

// vocabulary is a packed tokenizer, in blocks.
type vocabulary struct {
	Name   string
	Blocks []block
}

// wireConversation is a conversation as it travels. What cannot travel is put into words: why it is broken.
type wireConversation struct {
	Number       int
	Conversation dataset.Conversation
	Broken       string
	NotPlayed    bool
}

// store takes and returns the blocks of a run.
type store interface {
	put(ctx context.Context, name string, data []byte) error
	get(ctx context.Context, name string) ([]byte, error)
}

// hashOf returns the name of a block: what is fetched is checked by it, and a cache of earlier runs can be trusted.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum[:])
}

// publish puts the content of a run into a store, parted for a number of shares, and returns the name of its manifest.
func publish(ctx context.Context, s store, c *run.Content, shares int) (name string, err error) {
	d := c.Data
	m := manifest{
		Len: d.Len(), Roots: d.Roots, Sampling: d.Sampling, Mode: d.DefaultContextMode, NoInputs: d.NoInputs,
		Branching: d.Branches(), Turns: d.Turns(), Contents: d.Contents(),
	}
	classes := shares
	if m.Branching || d.Roots != nil {
		classes = 1 // children stand anywhere
	}
	writers := make([]blockWriter, classes)
	for i := range writers {
		writers[i].put = func(data []byte) (block, error) { return putBlock(ctx, s, data) }
	}
	for i, conversation := range d.All() {
		m.TurnsOf = append(m.TurnsOf, d.TurnsOf(i))
		if err := writers[i%classes].add(i, conversation); err != nil {
			return "", err
		}
	}
	for i := range writers {
		if err := writers[i].cut(); err != nil {
			return "", err
		}
		m.Classes = append(m.Classes, writers[i].blocks)
	}
	for _, p := range c.Tokenizers {
		v := vocabulary{Name: p.Name}
		for rest := p.Data; len(rest) > 0; {
			n := min(len(rest), blockBytes)
			b, err := putBlock(ctx, s, rest[:n])
			if err != nil {
				return "", err
			}
			v.Blocks, rest = append(v.Blocks, b), rest[n:]
		}
		m.Tokenizers = append(m.Tokenizers, v)
	}
	data, err := codec.Append(nil, &m)
	if err != nil {
		return "", err
	}
	b, err := putBlock(ctx, s, data)
	return b.Hash, err
}

// putBlock stores a block under its hash.
func putBlock(ctx context.Context, s store, data []byte) (block, error) {
	b := block{hashOf(data), len(data)}
	return b, s.put(ctx, b.Hash, data)
}

// blockWriter packs conversations into blocks.
type blockWriter struct {
	put    func([]byte) (block, error)
	data   []byte
	blocks []block
}

// add packs a conversation, with its number before it. A prompt that is made when it is needed is made now: the agents
// have neither the generator nor its seed. The turns are copied before they are changed, as the run keeps its own.
func (w *blockWriter) add(number int, c *dataset.Conversation) error {
	x := wireConversation{Number: number, Conversation: *c}
	if c.Broken != nil {
		x.Broken, x.NotPlayed = c.Broken.Error(), errors.Is(c.Broken, dataset.ErrNotPlayed)
	}
	for i := range c.Turns {
		if c.Turns[i].Prompt != nil {
			x.Conversation.Turns = append([]dataset.Turn(nil), x.Conversation.Turns...)
			break
		}
	}
	for i := range x.Conversation.Turns {
		if t := &x.Conversation.Turns[i]; t.Prompt != nil {
			*t = *t.Whole() // what makes texts does not travel
			t.Prompt = nil
		}
	}
	text, err := codec.Append(nil, &x)
	if err != nil {
		return fmt.Errorf("conversation %d: %w", number, err)
	}
	w.data = append(binary.AppendUvarint(w.data, uint64(len(text))), text...)
	if len(w.data) >= blockBytes {
		return w.cut()
	}
	return nil
}

// cut ends a block and stores it.
func (w *blockWriter) cut() error {
	if len(w.data) == 0 {
		return nil
	}
	b, err := w.put(w.data)
	w.blocks, w.data = append(w.blocks, b), nil
	return err
}

// fetcher brings blocks to this machine: from the cache, or from the store. A fetch that broke off goes on with the
// first block that is missing.
type fetcher struct {
	store store
	// dir is the folder of the cache; empty for none.
	dir string
	// memory is the length of all conversations up to which they are kept in memory, patience how long a block is asked
	// for again that does not come whole.
	memory   int
	deadline time.Duration
	// note takes what went wrong with the cache, which does not matter otherwise.
	note func(string)
}

// block returns a block that is worth a file from a length on, and the path of that file; empty where there is none.
func (f *fetcher) block(ctx context.Context, b block, from int) (data []byte, path string, err error) {
	if f.dir != "" && b.Bytes >= from {
		path = filepath.Join(f.dir, b.Hash)
		if data, err := os.ReadFile(path); err == nil && hashOf(data) == b.Hash {
			return data, path, nil
		}
	}
	if data, err = f.fetch(ctx, b); err != nil || path == "" {
		return data, "", err
	}
	if err := f.cache(path, data); err != nil {
		f.note(fmt.Sprintf("the data set cannot be cached: %v", err))
		f.dir = ""
		return data, "", nil
	}
	return data, path, nil
}

const (
	// A block is fetched within fetchTimeout, or again after fetchAgain, for fetchPatience.
	fetchTimeout       = 20 * time.Second
	fetchRetryInterval = 200 * time.Millisecond
	fetchDeadline      = time.Minute
)

// fetch gets a block from the store, again and again until it comes whole: the connection may be down for a while.
func (f *fetcher) fetch(ctx context.Context, b block) ([]byte, error) {
	for until := time.Now().Add(f.deadline); ; {
		try, cancel := context.WithTimeout(ctx, fetchTimeout)
		data, err := f.store.get(try, b.Hash)
		cancel()
		switch {
		case err != nil:
			err = fmt.Errorf("a part of the data set could not be fetched: %w", err)
		case hashOf(data) != b.Hash:
			err = fmt.Errorf("a part of the data set is damaged: its hash is not %s", b.Hash)
		default:
			return data, nil
		}
		if time.Now().After(until) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(fetchRetryInterval):
		}
	}
}

// cache writes a block into the cache. The file gets its name when it is whole, so that agents of one machine that
// fetch the same block at a time find either none or all of it.
func (f *fetcher) cache(path string, data []byte) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(f.dir, "part-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		os.Remove(temporary.Name())
	}
	return err
}

// content fetches what a share needs to make its requests.
func (f *fetcher) content(ctx context.Context, w *work) (*run.Content, error) {
	data, _, err := f.block(ctx, block{Hash: w.Content}, minCachedBytes)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := codec.Decode(data, &m); err != nil {
		return nil, fmt.Errorf("the description of the data set is damaged: %w", err)
	}
	c := &run.Content{Data: &dataset.Dataset{Roots: m.Roots, Sampling: m.Sampling, DefaultContextMode: m.Mode,
		NoInputs: m.NoInputs}}
	if c.Data.Conversations, err = f.conversations(ctx, &m, w); err != nil {
		return nil, err
	}
	for _, v := range m.Tokenizers {
		var file bytes.Buffer
		for _, b := range v.Blocks {
			data, _, err := f.block(ctx, b, minCachedBytes)
			if err != nil {
				return nil, err
			}
			file.Write(data)
		}
		c.Tokenizers = append(c.Tokenizers, run.PackedTokenizer{Name: v.Name, Data: file.Bytes()})
	}
	return c, nil
}

// classes are those that a share needs: its own where its sessions keep to their residues and take conversations in
// order, coming around to the same ones, else all.
func (m *manifest) classes(w *work) []int {
	if w.Residues && len(m.Classes) == w.Share.Of && m.Sampling == dataset.Sequential && m.Len%w.Share.Of == 0 {
		return []int{w.Share.Index}
	}
	list := make([]int, len(m.Classes))
	for i := range list {
		list[i] = i
	}
	return list
}

// conversations fetches the blocks of a share. If all of them are too much for memory, each is a file, of which single
// conversations are read when they are sent; else only blocks worth a file are cached.
func (f *fetcher) conversations(ctx context.Context, m *manifest, w *work) (dataset.Conversations, error) {
	p := &part{manifest: m, places: make([]extent, m.Len), memory: make([]*dataset.Conversation, m.Len)}
	total := 0
	classes := m.classes(w)
	for _, class := range classes {
		for _, b := range m.Classes[class] {
			total += b.Bytes
		}
	}
	onDisk, from := total > f.memory, minCachedBytes
	if onDisk {
		from = 0
	}
	for _, class := range classes {
		for _, b := range m.Classes[class] {
			data, path, err := f.block(ctx, b, from)
			if err != nil {
				return nil, err
			}
			if !onDisk {
				path = ""
			}
			if err := p.take(data, path); err != nil {
				return nil, fmt.Errorf("a part of the data set is damaged: %w", err)
			}
		}
	}
	return p, nil
}

// errElsewhere is what is wrong with a conversation that belongs to another share.
var errElsewhere = errors.New("the conversation belongs to another share of the run")

// part implements [dataset.Conversations] with those of a share: in memory, or in the files of the cache. Of the others
// it knows the numbers.
type part struct {
	*manifest
	// memory has the conversations that are not in files.
	memory []*dataset.Conversation
	files  []string
	places []extent
}

// extent is where a conversation stands in a file; a length of 0 is nowhere.
type extent struct{ file, at, length int }

// take takes the conversations of a block, which is a file, or is kept in memory if the path is empty.
func (p *part) take(data []byte, path string) error {
	file, at := len(p.files), 0
	p.files = append(p.files, path)
	for at < len(data) {
		n, used := binary.Uvarint(data[at:])
		if used <= 0 || n > uint64(len(data)-at-used) {
			return errors.New("a block ends within a conversation")
		}
		at += used
		number, c, err := readConversation(data[at : at+int(n)])
		if err != nil {
			return err
		}
		if number < 0 || number >= p.Len() {
			return fmt.Errorf("there is no conversation %d", number)
		}
		p.places[number] = extent{file, at, int(n)}
		if path == "" {
			p.memory[number] = c
		}
		at += int(n)
	}
	return nil
}

// readConversation is the inverse of [blockWriter.add]. Why a conversation is broken travels in words, but for the
// reason that others compare with.
func readConversation(data []byte) (number int, c *dataset.Conversation, err error) {
	var x wireConversation
	if err := codec.Decode(data, &x); err != nil {
		return 0, nil, err
	}
	switch {
	case x.NotPlayed:
		x.Conversation.Broken = dataset.ErrNotPlayed
	case x.Broken != "":
		x.Conversation.Broken = errors.New(x.Broken)
	}
	return x.Number, &x.Conversation, nil
}

// Len implements [dataset.Conversations].
func (p *part) Len() int { return p.manifest.Len }

// At implements [dataset.Conversations].
func (p *part) At(i int) *dataset.Conversation {
	where := p.places[i]
	switch {
	case where.length == 0:
		return &dataset.Conversation{Broken: errElsewhere, Turns: make([]dataset.Turn, p.manifest.TurnsOf[i])}
	case p.memory[i] != nil:
		return p.memory[i]
	}
	c, err := p.read(where)
	if err != nil {
		return &dataset.Conversation{Broken: err, Turns: make([]dataset.Turn, p.manifest.TurnsOf[i])}
	}
	return c
}

func (p *part) read(where extent) (*dataset.Conversation, error) {
	f, err := os.Open(p.files[where.file])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, where.length)
	if _, err := f.ReadAt(data, int64(where.at)); err != nil {
		return nil, err
	}
	_, c, err := readConversation(data)
	return c, err
}

// TurnsOf implements [dataset.Conversations].
func (p *part) TurnsOf(i int) int { return p.manifest.TurnsOf[i] }

// Turns implements [dataset.Conversations].
func (p *part) Turns() int { return p.manifest.Turns }

// Time implements [dataset.Conversations].
func (p *part) Time(conversation, turn int) (atMS, delayMS *float64) {
	return p.At(conversation).Turns[turn].Time()
}

// Branches implements [dataset.Conversations].
func (p *part) Branches() bool { return p.Branching }

// Count implements [dataset.Conversations].
func (p *part) Count(dataset.ContextMode) dataset.Contents { return p.Contents }

// cacheDir is the folder of the cache: below that of the user.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "aiperf", "fleet")
}

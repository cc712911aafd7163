// Package load finds a tokenizer by its name and opens it: a built-in name, a file, a folder, the Hugging Face cache or
// the hub. It reads the files around the vocabulary, too: the configuration and the chat template.
//
// Invariants: a packed file gives the same ids as the files that it was made from; an error names the file and says
// what to do.
//
// The package must never know what the tokens are counted for.
//
// It also packs a tokenizer into one file, and counts or encodes lines of text with it, as aiperf tokenizer does.
//
// The package must never know flags and terminals: it takes options and streams.
//
// It also reads files of ranked byte strings: tekken.json of Mistral and the rank files of tiktoken.
//
// The package must never know where the file comes from.
//
// It also is the engine for SentencePiece models (tokenizer.model): [SentencePiece] gives the ids of that library for
// BPE, unigram, word and character models.
//
// Invariant: text that spells a control piece, such as <s>, is text: only the program that makes a prompt puts control
// ids in.
package load

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/hf"
)

// Bundle is the files of a tokenizer.
type Bundle struct {
	Name string // what the user asked for
	// Where says in words where the files lie.
	Where string
	// Commit is the hub's commit of the files, if they come from there.
	Commit  string
	files   fs.FS
	builtin tokenizer.Tokenizer
	packed  *tokenizer.TableFile // in place of files
	label   label
}

// The files that a tokenizer may consist of. A rank file may have any name that ends with .tiktoken.
const (
	tokenizerJSON = "tokenizer.json"
	tekkenJSON    = "tekken.json"
	modelFile     = "tokenizer.model"
	configJSON    = "tokenizer_config.json"
	specialsJSON  = "special_tokens_map.json"
	vocabJSON     = "vocab.json"
	mergesTXT     = "merges.txt"
	vocabTXT      = "vocab.txt"
	templateJinja = "chat_template.jinja"
	templateJSON  = "chat_template.json"
	addedJSON     = "added_tokens.json"
)

// wanted reports whether a file of a repository belongs to its tokenizer.
func wanted(name string) bool {
	switch name {
	case tokenizerJSON, tekkenJSON, modelFile, configJSON, specialsJSON, vocabJSON, mergesTXT, vocabTXT, templateJinja,
		templateJSON, addedJSON:
		return true
	}
	return !strings.Contains(name, "/") && strings.HasSuffix(name, ".tiktoken") || name == "tiktoken.model"
}

// errNoFiles says that a place holds no tokenizer that this program reads.
var errNoFiles = errors.New("no tokenizer.json, tekken.json, tokenizer.model, rank file, vocab.json with merges.txt " +
	"or vocab.txt is there")

// openPath returns the bundle of a file or folder on this machine.
func openPath(name string) (*Bundle, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &Bundle{Name: name, Where: "the folder " + name, files: folder{os.DirFS(name)}}, nil
	}
	if err := fits(info); err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte(tokenizer.TablesMagic[:6])) {
		return openPacked(name, data)
	}
	if bytes.HasPrefix(data, []byte("PK")) { // as earlier releases packed
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &Bundle{Name: name, Where: "the packed file " + name, files: bounded{archive}}, nil
	}
	// A single file: those next to it (tokenizer_config.json, a chat template) belong to it.
	return &Bundle{Name: name, Where: "the file " + name,
		files: single{folder{os.DirFS(filepath.Dir(name))}, data, info, kindOf(data)}}, nil
}

// folder opens regular files only: a pipe would keep its reader waiting for ever.
type folder struct{ fs.FS }

func (f folder) Open(name string) (fs.File, error) {
	info, err := fs.Stat(f.FS, name)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("is not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	return f.FS.Open(name)
}

// fits refuses a file that is no tokenizer by its size alone.
func fits(info fs.FileInfo) error {
	switch size := info.Size(); {
	case !info.Mode().IsRegular():
		return errors.New("is not a file with contents")
	case size == 0:
		return errors.New("is empty")
	case size > maxFile:
		return fmt.Errorf("has %d bytes, more than any tokenizer; the limit is %d", size, maxFile)
	}
	return nil
}

// kindOf returns the usual name of a file with that content.
func kindOf(data []byte) string {
	switch trimmed := bytes.TrimSpace(data[:min(len(data), 1<<16)]); {
	case IsRankFile(data):
		return "ranks.tiktoken"
	case bytes.HasPrefix(trimmed, []byte("{")):
		if config, model := hf.Members(data, "config", "model"); config && !model {
			return tekkenJSON
		}
		return tokenizerJSON
	}
	return modelFile
}

// single shows a file under its usual name and the files next to it, but no other tokenizer.
type single struct {
	dir  fs.FS
	data []byte
	info fs.FileInfo
	as   string
}

func (s single) Open(name string) (fs.File, error) {
	switch name {
	case s.as:
		return &read{bytes.NewReader(s.data), s.info}, nil
	case configJSON, specialsJSON, templateJinja, templateJSON:
		return s.dir.Open(name)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadFile spares a second reading.
func (s single) ReadFile(name string) ([]byte, error) {
	if name == s.as {
		return s.data, nil
	}
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// read is a file that was read already.
type read struct {
	*bytes.Reader
	info fs.FileInfo
}

func (r *read) Stat() (fs.FileInfo, error) { return r.info, nil }
func (r *read) Close() error               { return nil }

// maxPacked bounds a file of an archive, which might unpack to any size.
const maxPacked = 512 << 20

// bounded refuses archive members that are too large.
type bounded struct{ *zip.Reader }

func (b bounded) Open(name string) (fs.File, error) {
	for _, f := range b.File {
		if f.Name == name && f.UncompressedSize64 > maxPacked {
			return nil, fmt.Errorf("%s in the packed file is larger than %d MiB", name, maxPacked>>20)
		}
	}
	return b.Reader.Open(name)
}

// has reports whether a file is there.
func (b *Bundle) has(name string) bool {
	f, err := b.files.Open(name)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// names returns the files that belong to the tokenizer.
func (b *Bundle) names() []string {
	var list []string
	if s, ok := b.files.(single); ok {
		list = append(list, s.as)
		for _, name := range []string{configJSON, specialsJSON, templateJinja, templateJSON} {
			if b.has(name) {
				list = append(list, name)
			}
		}
		return list
	}
	entries, err := fs.ReadDir(b.files, ".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if wanted(e.Name()) {
			list = append(list, e.Name())
		}
	}
	return list
}

// rankFile returns the name of the rank file, if there is one.
func (b *Bundle) rankFile() string {
	for _, name := range b.names() {
		if path.Ext(name) == ".tiktoken" || name == "tiktoken.model" {
			return name
		}
	}
	return ""
}

// tokenizer makes the tokenizer out of the first of its files that is enough.
func (b *Bundle) tokenizer() (tokenizer.Tokenizer, error) {
	if b.builtin != nil {
		return b.builtin, nil
	}
	if b.packed != nil {
		return b.unpacked()
	}
	config := b.config()
	options := hf.Options{Name: b.Name, BOS: config.BOS, EOS: config.EOS, Guess: !config.Found}
	ranks := b.rankFile()
	var file string
	var make func(data []byte) (tokenizer.Tokenizer, error)
	switch {
	case b.has(tokenizerJSON):
		file, make = tokenizerJSON, func(data []byte) (tokenizer.Tokenizer,
			error) {
			return some(hf.New(data, options))
		}
	case b.has(tekkenJSON):
		file, make = tekkenJSON, func(data []byte) (tokenizer.Tokenizer,
			error) {
			return some(Tekken(b.Name, data))
		}
	case b.has(modelFile):
		file, make = modelFile, func(data []byte) (tokenizer.Tokenizer, error) {
			if IsRankFile(data) {
				return b.ranked(data, config)
			}
			return some(NewSentencePiece(b.Name, data, config.added()))
		}
	case ranks != "":
		file, make = ranks, func(data []byte) (tokenizer.Tokenizer, error) {
			return b.ranked(data, config)
		}
	case b.has(vocabJSON) && b.has(mergesTXT):
		file, make = mergesTXT, func(data []byte) (tokenizer.Tokenizer, error) { return b.slowBPE(data, options) }
	case b.has(vocabTXT):
		file, make = vocabTXT, func(data []byte) (tokenizer.Tokenizer, error) { return b.slowBERT(data, options) }
	default:
		return nil, errNoFiles
	}
	info, err := fs.Stat(b.files, file)
	if err != nil {
		return nil, err
	}
	if err := fits(info); err != nil {
		return nil, fmt.Errorf("%s %w", file, err)
	}
	data, err := fs.ReadFile(b.files, file)
	if err != nil {
		return nil, err
	}
	t, err := make(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

// ranked returns the tokenizer of a rank file.
func (b *Bundle) ranked(data []byte, c *tokenizerConfig) (tokenizer.Tokenizer, error) {
	config, err := c.rankConfig()
	if err != nil {
		return nil, err
	}
	return some(Tiktoken(b.Name, data, config))
}

// some returns a nil interface where there is an error.
func some[T tokenizer.Tokenizer](t T, err error) (tokenizer.Tokenizer, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

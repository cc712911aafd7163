package anonymize

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/traffic/files"
	"aiperf/internal/traffic/row"
	"aiperf/internal/workload/recording"
)

// Violation is the error of a file that holds what it must not: a text of the input, or a text that nobody knows.
type Violation struct {
	Path string
	Line int
	// What says which rule is broken. It does not say the text.
	What string
}

func (v *Violation) Error() string { return fmt.Sprintf("%s:%d: %s", v.Path, v.Line, v.What) }

// Checked counts what was looked at.
type Checked struct {
	Files int
	// Texts are the strings in them.
	Texts int64
}

// isHash reports whether a text is a hash that names a session.
func isHash(text string) bool {
	if len(text) != 16 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == ""
}

// isFile reports whether a recording may have a file of that name: a part of a kind, a session, or a lock.
func isFile(name string) bool {
	for _, kind := range []string{recording.TrafficName, recording.MooncakeName} {
		number, ok := strings.CutPrefix(name, strings.TrimSuffix(kind, ".jsonl"))
		if number, ended := strings.CutSuffix(number, ".jsonl"); ok && ended &&
			(number == "" || number[0] == '-' && strings.Trim(number[1:], "0123456789") == "") {
			return true
		}
	}
	session, _ := strings.CutSuffix(name, ".json")
	return name == recording.WekaName || name == artifact.LockName || isHash(session)
}

// Check reads every file in a folder, in any form, and compares each of its texts: none has five words in a row that
// words has, and each is one of those that recordings hold: a name of a member, a hash, one of the listed words, a
// time, or in its member the name of a model or the tokenizer. Numbers are no texts. The first that breaks a rule is the
// error, a [*Violation].
func Check(folder string, words *Words, models []string, tokenizer string) (c Checked, err error) {
	k := &checker{words: words, models: map[string]bool{}, tokenizer: tokenizer, keys: memberNames()}
	for _, name := range models {
		k.models[name] = true
	}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		if !isFile(entry.Name()) {
			return &Violation{path, 0, "the name of the file is none of a recording"}
		}
		if entry.IsDir() || entry.Name() == artifact.LockName {
			return nil
		}
		k.Files++
		return k.file(path)
	})
	return k.Checked, err
}

type checker struct {
	Checked
	words     *Words
	models    map[string]bool
	tokenizer string
	keys      map[string]bool
}

// memberNames are the names of the members of all lines that are written.
func memberNames() map[string]bool {
	names := map[string]bool{}
	for _, kind := range append(files.Lines(), reflect.TypeFor[recording.Row](), reflect.TypeFor[recording.Head]()) {
		for i := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			names[name] = true
		}
	}
	return names
}

func (k *checker) file(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReaderSize(bounded.NewLines(file, bounded.MaxLine, ""), 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if what := k.line(bytes.TrimSpace(line)); what != "" {
			return &Violation{path, number, what}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line compares the texts of a line, whatever its form: it goes from one quotation mark to the next. What stands
// outside of them is numbers, punctuation and the three words of JSON.
func (k *checker) line(line []byte) (what string) {
	key := "" // that stands before the value
	for i := 0; i < len(line); {
		if line[i] != '"' {
			if end := outside(line, i); end > i {
				i = end
				continue
			}
			return "there is something that is no number"
		}
		end, _ := jsonscan.String(line, i)
		if end < 0 {
			return "there is no JSON"
		}
		text := jsonscan.Text(line[i:end])
		i = end
		k.Texts++
		if k.words.Has([]byte(text)) {
			return "five words of the input in a row"
		}
		if i < len(line) && line[i] == ':' {
			if key = text; !k.keys[key] && !row.Enumerated(key) {
				return "a member that no recording has"
			}
			continue
		}
		if !k.known(key, text) {
			return fmt.Sprintf("a text that no recording has, in the member %q", key)
		}
	}
	return ""
}

// outside returns the end of what may stand outside of texts from a place on.
func outside(line []byte, i int) int {
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(line[i:], []byte(word)) {
			return i + len(word)
		}
	}
	for i < len(line) && strings.IndexByte("{}[]:, 0123456789.-+eE", line[i]) >= 0 {
		i++
	}
	return i
}

// known reports whether a recording may hold a text as the value of a member, or in a list that is one.
func (k *checker) known(key, text string) bool {
	switch key {
	case "model", "models":
		return k.models[text]
	case "tokenizer":
		return text == k.tokenizer
	case "session_id", "id":
		return isHash(text)
	case "started_at":
		_, err := time.Parse(time.RFC3339Nano, text)
		return err == nil
	case "incomplete":
		return !slices.ContainsFunc(strings.Split(text, ", "), func(one string) bool {
			return !slices.Contains(lacks, one)
		})
	}
	return row.Enumerated(text) || slices.Contains(files.Texts(), text)
}

// lacks is what is said of requests that could not be read.
var lacks = []string{row.Incomplete, noText, recording.NoReply, "request too long",
	"request is no JSON object", "reply too long", "reply of another form"}

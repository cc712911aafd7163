package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/bounded"
)

// partOf returns the number of the part of the traffic that a name is of, which may be compressed.
func partOf(name string) (part int, ok bool) {
	for _, end := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, end)
	}
	if name == TrafficName {
		return 0, true
	}
	stem, ok := strings.CutSuffix(name, ".jsonl")
	if !ok {
		return 0, false
	}
	number, ok := strings.CutPrefix(stem, strings.TrimSuffix(TrafficName, ".jsonl")+"-")
	if !ok {
		return 0, false
	}
	part, err := strconv.Atoi(number)
	return part, err == nil && part > 0
}

// Parts are the files of the recording at path, in their order: the file itself, or the parts of the traffic in a
// folder; none if the folder holds no recording.
func Parts(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	byNumber := map[int]string{}
	for _, e := range entries {
		part, ok := partOf(e.Name())
		if !ok {
			continue
		}
		if other, twice := byNumber[part]; twice {
			return nil, fmt.Errorf("%s holds %s and %s, which are the same part of a recording: move one of them away",
				path, other, e.Name())
		}
		byNumber[part] = e.Name()
	}
	var parts []string
	for _, part := range slices.Sorted(maps.Keys(byNumber)) {
		parts = append(parts, filepath.Join(path, byNumber[part]))
	}
	return parts, nil
}

// ReadHead reads the first line of a part; false for the line of another file.
func ReadHead(line []byte) (h Head, ok bool) {
	return h, bytes.Contains(line, []byte(`"aiperf_recording"`)) && json.Unmarshal(line, &h) == nil && h.Recording > 0
}

// ReplyKnown reports whether the length of the reply is known.
func (r *Row) ReplyKnown() bool { return !strings.Contains(r.Incomplete, NoReply) }

// ReplyTokens is the length of the reply: as the server counted it, where it did, else that of its texts.
func (r *Row) ReplyTokens() int {
	if r.UsageCompletion != nil && *r.UsageCompletion > 0 {
		return int(*r.UsageCompletion)
	}
	return r.OutputLength + r.ReasoningLength
}

// OK reports whether the request was answered.
func (r *Row) OK() bool { return r.Outcome == "ok" }

// About is what the first rows of a recording have in common.
type About struct {
	Head
	// Endpoints and Models are counts of answered requests, Streams how many of them asked for a stream.
	Endpoints, Models map[string]int
	Rows, Streams     int
}

// lookedAt is how many rows are looked at before a run.
const lookedAt = 10_000

// Look looks at the first rows of the recording at path; false if there is none.
func Look(path string) (about About, ok bool) {
	parts, err := Parts(path)
	if err != nil || len(parts) == 0 {
		return about, false
	}
	about.Endpoints, about.Models = map[string]int{}, map[string]int{}
	for i, part := range parts {
		err := eachLine(part, func(line []byte, _ bool) bool {
			if head, is := ReadHead(line); is {
				if i == 0 {
					about.Head, ok = head, true
				}
				return true
			}
			if !ok {
				return false
			}
			var row Row
			if json.Unmarshal(line, &row) == nil && row.OK() {
				about.take(&row)
			}
			return about.Rows < lookedAt
		})
		if err != nil || !ok || about.Rows >= lookedAt {
			break // the reader says what is wrong
		}
	}
	return about, ok
}

func (a *About) take(row *Row) {
	a.Rows++
	a.Endpoints[row.Endpoint]++
	if row.Model != "" {
		a.Models[row.Model]++
	}
	if row.Stream {
		a.Streams++
	}
}

// Most are the keys of counts, the most frequent first.
func Most(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
}

// EachRow reads the rows of a part with its head. A last line that is cut off is left out: its writer was killed.
func EachRow(path string, f func(*Head, *Row) error) error {
	var head *Head
	var failed error
	number := 0
	err := eachLine(path, func(line []byte, whole bool) bool {
		number++
		switch {
		case !whole:
		case head == nil:
			h, ok := ReadHead(line)
			if head = &h; !ok || h.Recording != Version {
				failed = fmt.Errorf("%s: this is no recording of this version of aiperf", path)
			}
		default:
			row := new(Row)
			if err := json.Unmarshal(line, row); err != nil {
				failed = fmt.Errorf("%s:%d: %w", path, number, err)
			} else {
				failed = f(head, row)
			}
		}
		return failed == nil
	})
	if err != nil {
		return fmt.Errorf("%s:%d: %w", path, number+1, err)
	}
	return failed
}

// eachLine calls f with the lines of a file until it returns false; whole: the line has its end.
func eachLine(path string, f func(line []byte, whole bool) bool) error {
	file, err := bounded.OpenStream(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := bounded.Unpack(file, path)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewReaderSize(bounded.NewLines(in, bounded.MaxLine, ""), 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		whole := bytes.HasSuffix(line, []byte("\n"))
		if line = bytes.TrimSpace(line); (len(line) > 0 || whole) && !f(line, whole) || err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

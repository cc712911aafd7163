package resolve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"aiperf/internal/base/bounded"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

// datafile decides what is known of the input file before it is loaded.
type datafile struct {
	*asked
	plugins *plugins
	// branching reports that sessions of the file branch, recorded that they are those of recorded agents, coders of
	// such at work on code.
	branching, recorded, coders, ofBaseten bool
}

// format is the format that the user names or the file shows.
func (f *datafile) format(file string) string {
	if loader := f.plugins.loader; loader != nil {
		return loader.Format
	}
	if format := f.p.Text("custom-dataset-type"); format != "" {
		return format
	}
	return f.catalog.DatasetFormat(file)
}

// classify finds out whether sessions of the file branch. At recorded times the sub-agents of some traces begin by
// themselves.
func (f *datafile) classify(scheduled bool) {
	format := f.format(f.p.Text("input-file"))
	f.coders, f.ofBaseten = format == option.WekaTrace || format == option.TraceLab, format == "baseten_trace"
	f.recorded = f.coders || format == option.DynamoTrace
	timed := scheduled && (format == option.TraceLab || format == option.DynamoTrace)
	f.branching = (f.recorded || format == option.DAGJSONL) && !timed
}

func (f *datafile) rows(file, format string) traceFacts {
	if written := f.p.Dataset.Records; len(written) > 0 {
		return recordFacts(written)
	}
	if format == "baseten_trace" && filepath.Ext(file) != ".jsonl" {
		return traceFacts{} // no lines to count
	}
	trace := readTrace(file)
	if format == "burst_gpt_trace" {
		trace.rows = max(0, trace.rows-1) // the header
	}
	return trace
}

// traceFacts is what the timing mode needs to know about a file.
type traceFacts struct {
	// rows is the number of lines that are not blank.
	rows int64
	// timed reports that the first row that is JSON has a timestamp.
	timed bool
}

// recordFacts are those of lines that stand in the configuration.
func recordFacts(written []recipe.Records) (facts traceFacts) {
	for _, r := range written {
		if facts.rows == 0 && len(r.Lines) > 0 {
			facts.timed, _ = hasTimestamp([]byte(r.Lines[0].Text))
		}
		facts.rows += int64(len(r.Lines))
	}
	return facts
}

// readTrace reads a file, or all .jsonl files below a folder. What cannot be read counts as
// empty: the loader reports it.
func readTrace(path string) traceFacts {
	var facts traceFacts
	info, err := os.Stat(path)
	if err != nil {
		return facts
	}
	if !info.IsDir() {
		facts.read(path)
		return facts
	}
	_ = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(name) == ".jsonl" {
			facts.read(name)
		}
		return nil
	})
	return facts
}

func (t *traceFacts) read(path string) {
	file, err := bounded.Open(path) // a pipe is left to the loader
	if err != nil {
		return
	}
	defer file.Close()
	var in io.Reader = file
	if filepath.Ext(path) == ".gz" {
		if in, err = gzip.NewReader(file); err != nil {
			return
		}
	}
	reader := bufio.NewReader(in)
	probed := t.rows > 0
	for {
		line, blank, err := readLine(reader, !probed)
		if !blank {
			t.rows++
			if !probed {
				t.timed, probed = hasTimestamp(line)
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads one line of any length; its text is kept only when wanted.
func readLine(r *bufio.Reader, wanted bool) (line []byte, blank bool, err error) {
	blank = true
	for {
		part, err := r.ReadSlice('\n')
		if len(bytes.TrimSpace(part)) > 0 {
			blank = false
		}
		if wanted {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return line, true, err
		}
		return line, blank, err
	}
}

// hasTimestamp reports whether a row has a timestamp, and whether it is JSON at all.
func hasTimestamp(line []byte) (timed, parsed bool) {
	var row map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimPrefix(line, []byte("\ufeff")), &row) != nil {
		return false, false
	}
	stamp, ok := row["timestamp"]
	return ok && string(stamp) != "null", true
}

// timedByType are the formats whose every row has a time, so that no row is looked at.
func timedByType() []string {
	return []string{"burst_gpt_trace", "sagemaker_data_capture", "baseten_trace", option.TraceLab, option.DynamoTrace}
}

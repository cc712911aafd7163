package resolve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/bounded"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

// datafile decides what is known of the input file before it is loaded.
type datafile struct {
	*asked
	plugins   *plugins
	published *published
	// branching reports that sessions of the file branch, recorded that they are those of recorded agents, coders of
	// such at work on code.
	branching, recorded, coders, ofBaseten bool
}

// source is the input file, or the published data set that is read as a file would be; empty: data of another kind.
func (f *datafile) source() string {
	if name := f.published.name(); name != "" {
		if f.published.ofWeka() {
			return name
		}
		return ""
	}
	return f.p.InputFile.Get()
}

// named is the format that the user names, openly or by columns of a table.
func (f *datafile) named() string {
	if format := f.p.CustomDatasetType.Get(); format != "" || !f.p.Map.Given() {
		return format
	}
	return option.Table
}

// columns are those of a table that the user names, whose meanings may have any of their usual names.
func (f *datafile) columns() (columns []recipe.Column) {
	for _, text := range f.p.Map.Get() {
		role, column, _ := strings.Cut(text, "=")
		c := recipe.Column{Role: strings.TrimSpace(role), Column: strings.TrimSpace(column)}
		if known, ok := f.catalog.TableRole(c.Role); ok {
			c.Role = known
		}
		columns = append(columns, c)
	}
	return columns
}

// checkColumns refuses columns of no table, and those without a known meaning.
func (f *datafile) checkColumns() {
	if !active(&f.p.Map) {
		return
	}
	flag := f.p.Map.Flag()
	switch format := f.p.CustomDatasetType.Get(); {
	case f.p.InputFile.Get() == "":
		f.fault("", "%s names columns of a file: give one with --input-file", flag)
	case len(f.p.Dataset.Records) > 0:
		f.fault("", "%s names columns of a file, and the data stands in the configuration", flag)
	case format != "" && format != option.Table:
		f.fault("", "%s can only be used with --custom-dataset-type %s, not with %s", flag, option.Table, format)
	}
	roles := f.catalog.TableRoles()
	seen := map[string]bool{}
	for i, c := range f.columns() {
		switch {
		case !strings.Contains(f.p.Map.Get()[i], "="):
			f.fault("", "%s: want MEANING=COLUMN, got %q", flag, f.p.Map.Get()[i])
		case !slices.Contains(roles, c.Role):
			f.fault("", "%s: there is no meaning %q; there are %s", flag, c.Role, orList(roles))
		case seen[c.Role]:
			f.fault("", "%s: %s is given twice", flag, c.Role)
		}
		seen[c.Role] = true
	}
}

// generated reports that conversations are made, not read.
func (f *datafile) generated() bool { return !f.p.InputFile.Given() && f.published.name() == "" }

// format is the format that the user names or the file shows, and that of a published data set which has one.
func (f *datafile) format(file string) string {
	if f.published.ofWeka() {
		return option.WekaTrace
	}
	if loader := f.plugins.loader; loader != nil {
		return loader.Format
	}
	if format := f.named(); format != "" {
		return format
	}
	return f.catalog.DatasetFormat(file)
}

// classify finds out whether sessions of the file branch. At recorded times the sub-agents of some traces begin by
// themselves.
func (f *datafile) classify(scheduled bool) {
	format := f.format(f.source())
	f.coders, f.ofBaseten = format == option.WekaTrace || format == option.TraceLab, format == "baseten_trace"
	f.recorded = f.coders || format == option.DynamoTrace
	timed := scheduled && (format == option.TraceLab || format == option.DynamoTrace)
	f.branching = (f.recorded || format == option.DAGJSONL) && !timed
}

// madeOfLengths reports that texts of requests are made: of generated data, and of recordings that hold lengths.
func (f *datafile) madeOfLengths() bool {
	file := f.source()
	if file == "" {
		return true // published rows are chosen by their lengths
	}
	format := f.format(file)
	if slices.Contains(option.Exports(), format) {
		return true // some of their requests are lengths
	}
	switch format {
	case option.WekaTrace, option.TraceLab, option.DynamoTrace, option.Recording, "bailian_trace", "burst_gpt_trace":
		return true
	case "mooncake_trace", option.Table:
		return f.rows(file, format).lengths
	}
	return false
}

func (f *datafile) rows(file, format string) traceFacts {
	if written := f.p.Dataset.Records; len(written) > 0 {
		return recordFacts(written)
	}
	if slices.Contains(option.Exports(), format) {
		return traceFacts{} // a record may hold any number of requests
	}
	if format == "baseten_trace" && filepath.Ext(file) != ".jsonl" {
		return traceFacts{} // no lines to count
	}
	if format == option.Recording {
		about := f.asked.recorded()
		return traceFacts{timed: about == nil || !about.Untimed, lengths: true} // not all of its rows are played
	}
	if format == option.Table {
		rows, timed, lengths := f.catalog.Table(file, f.columns())
		return traceFacts{rows, timed, lengths}
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
	// timed reports that the first row that is JSON has a timestamp, lengths that it has a length instead of a text.
	timed, lengths bool
}

// recordFacts are those of lines that stand in the configuration.
func recordFacts(written []recipe.Records) (facts traceFacts) {
	for _, r := range written {
		if facts.rows == 0 && len(r.Lines) > 0 {
			facts.first([]byte(r.Lines[0].Text))
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
	in, err := bounded.Unpack(file, path)
	if err != nil {
		return
	}
	defer in.Close()
	reader := bufio.NewReader(in)
	probed := t.rows > 0
	for {
		line, blank, err := readLine(reader, !probed)
		if !blank {
			t.rows++
			if !probed {
				probed = t.first(line)
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

// first notes what the first row has, and reports whether it is JSON at all.
func (t *traceFacts) first(line []byte) (parsed bool) {
	var row map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimPrefix(line, []byte("\ufeff")), &row) != nil {
		return false
	}
	has := func(key string) bool { value, ok := row[key]; return ok && string(value) != "null" }
	t.timed, t.lengths = has("timestamp"), has("input_length")
	return true
}

// timedByType are the formats whose every row has a time, so that no row is looked at.
func timedByType() []string {
	return append([]string{"burst_gpt_trace", "sagemaker_data_capture", "baseten_trace", option.TraceLab,
		option.DynamoTrace, option.Recording}, option.Exports()...)
}

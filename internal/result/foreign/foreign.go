// Package foreign reads the result files of other load generators as runs: vllm bench serve, SGLang's bench_serving,
// GuideLLM, GenAI-Perf, inference-perf, and the benchmark report of llm-d. Each format has a reader of one file here.
// A run becomes a summary document with the names and units of ours, which all that read summaries take.
//
// A file is recognized by its content, never by its name. A file may hold several runs: FILE#2 names the second.
//
// Vocabulary: the origin of a run is the tool that measured it, with its version where the file has that; a part is a
// run of a file, from 1.
//
// Invariants: a figure that the file lacks is absent, never zero and never derived from a guess; where two tools call
// different quantities by one name, the definition decides to which of our metrics a figure belongs
// (docs/other-results.md). Nothing is written.
package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
)

// format is a format of result files.
type format struct {
	// name is that of the format in errors.
	name string
	// marks are texts near the start of a file, of which each list names one way to recognize the format: all of a list
	// must be there, with ^ at the very start.
	marks [][]string
	// read reads the runs of a document. lines are those of a file with a document on each line; of other files the only
	// one is the whole file.
	read func(f *file) ([]Run, error)
	// confirm looks at the whole file where its start does not tell; nil where it does.
	confirm func(path string) bool
}

// The names of the formats.
const (
	vllmName          = "a result of vllm bench serve"
	sglangName        = "a result of SGLang's bench_serving"
	guideName         = "a report of GuideLLM"
	genaiName         = "a result of GenAI-Perf"
	perfAnalyzerName  = "an export of Perf Analyzer"
	inferencePerfName = "a report of inference-perf"
	llmdName          = "a benchmark report of llm-d"
)

// formats are in the order in which they are tried.
var formats = []format{
	{name: llmdName, read: readLLMD, marks: [][]string{{"request_performance"}, {"^metrics:", "latency:"},
		{"^version:", "scenario:"}, {"^run:", "scenario:"}, {`"metrics"`, `"latency"`, `"units"`}}},
	{name: vllmName, read: readVLLM, marks: [][]string{{`"date"`, `"model_id"`, `"num_prompts"`},
		{`"date"`, `"model_id"`, `"request_throughput"`}}},
	{name: sglangName, read: readSGLang,
		marks: [][]string{{`"backend"`, `"dataset_name"`, `"request_rate"`, `"duration"`}}},
	{name: guideName, read: readGuideLLM, marks: [][]string{{"guidellm_version"}, {"generative_benchmark"},
		{"^benchmarks:", "backend:"}}},
	{name: genaiName, read: readGenAIPerf, confirm: isGenAIPerf,
		marks: [][]string{{`"request_throughput"`, `"unit"`}, {`"request_latency"`, `"unit"`}}},
	{name: perfAnalyzerName, read: readPerfAnalyzer,
		marks: [][]string{{`"experiments"`, `"experiment"`, `"mode"`}}},
	{name: inferencePerfName, read: readInferencePerf, marks: [][]string{{`"load_summary"`, `"count"`},
		{`"start_time"`, `"end_time"`, `"request"`}}},
}

// file is a result file that was read.
type file struct {
	path string
	// data is its content as JSON, without NaN and Infinity, which JSON does not have.
	data []byte
}

// headSize is how much of a file is read to see what it is.
const headSize = 8 << 10

// formatOf returns the format whose marks a head has; nil for none.
func formatOf(head []byte) *format {
	for i := range formats {
		for _, marks := range formats[i].marks {
			if !slices.ContainsFunc(marks, func(m string) bool { return !isMarked(head, m) }) {
				return &formats[i]
			}
		}
	}
	return nil
}

// isMarked reports whether a head has a text; one with ^ is its beginning.
func isMarked(head []byte, mark string) bool {
	if begin, found := strings.CutPrefix(mark, "^"); found {
		return bytes.HasPrefix(bytes.TrimSpace(head), []byte(begin))
	}
	return bytes.Contains(head, []byte(mark))
}

// suffixes are those of files that may be results.
var suffixes = []string{".json", ".jsonl", ".yaml", ".yml"}

// sniff returns the format that the start of a file promises; nil for none. A summary of this program, or of the
// original, is none. list reports that the file is a list.
func sniff(path string) (of *format, list bool) {
	if !slices.Contains(suffixes, strings.ToLower(filepath.Ext(path))) {
		return nil, false
	}
	f, err := bounded.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil || bytes.Contains(head, []byte(`"aiperf_version"`)) {
		return nil, false
	}
	of = formatOf(head)
	if of != nil && of.confirm != nil && !of.confirm(path) {
		return nil, false
	}
	return of, bytes.HasPrefix(bytes.TrimSpace(head), []byte("["))
}

// Is reports whether a path names a result of another tool: a file, or a part of one.
func Is(path string) bool {
	name, _ := cut(path)
	of, _ := sniff(name)
	return of != nil
}

// cut separates the number of a part from the path of its file; 0 where there is none. A file that has the name as it
// is written is that file.
func cut(path string) (name string, part int) {
	name, number, found := cutLast(path)
	if !found {
		return path, 0
	}
	if _, err := os.Lstat(path); err == nil {
		return path, 0
	}
	part, err := strconv.Atoi(number)
	if err != nil || part < 1 {
		return path, 0
	}
	return name, part
}

func cutLast(path string) (name, number string, found bool) {
	at := strings.LastIndexByte(path, '#')
	if at < 0 {
		return path, "", false
	}
	return path[:at], path[at+1:], true
}

// File returns the path of the file that a path names, without the number of a part.
func File(path string) string {
	name, _ := cut(path)
	return name
}

// Part returns the path of a part of a file.
func Part(path string, part int) string { return path + "#" + strconv.Itoa(part) }

// errNot reports a file that is not a result of another tool.
var errNot = errors.New("not a result of another tool")

// Read reads the runs of a file: all of them, or the one that a path such as results.jsonl#2 names. [IsNot] tells the
// error of a file that is not a result of another tool.
func Read(path string) ([]Run, error) {
	name, part := cut(path)
	format, _ := sniff(name)
	if format == nil {
		return nil, fmt.Errorf("%s: %w", name, errNot)
	}
	f, err := open(name)
	var runs []Run
	if err == nil {
		runs, err = format.read(f)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s looks like %s, and cannot be read: %w", name, format.name, err)
	case len(runs) == 0:
		return nil, fmt.Errorf("%s looks like %s, and has no run with a figure", name, format.name)
	case part > len(runs):
		return nil, fmt.Errorf("%s has %d runs, and none with the number %d", name, len(runs), part)
	}
	for i := range runs {
		runs[i].Path = name
		if len(runs) > 1 {
			runs[i].Path = Part(name, i+1)
		}
	}
	if part > 0 {
		return runs[part-1 : part], nil
	}
	return runs, nil
}

// IsNot reports whether an error is that of a file that is not a result of another tool.
func IsNot(err error) bool { return errors.Is(err, errNot) }

// mostYAML is the largest YAML document that is read: its parser needs a hundred times that memory.
const mostYAML = 16 << 20

// open reads a file as JSON.
func open(path string) (*file, error) {
	data, err := bounded.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		if len(data) > mostYAML {
			return nil, fmt.Errorf("a YAML document of %d MB; write JSON instead", len(data)>>20)
		}
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return nil, errors.New("not a YAML document: " + firstLine(yaml.FormatError(err, false, false)))
		}
	case ".jsonl":
		return &file{path, withoutSpecials(data)}, nil
	}
	data = withoutSpecials(data)
	if !jsonscan.Valid(data) && !isLines(data) {
		return nil, errors.New("not a JSON document, perhaps truncated")
	}
	return &file{path, data}, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// isLines reports whether all lines are documents, whatever the name of the file.
func isLines(data []byte) bool {
	lines := 0
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !jsonscan.Valid(line) {
			return false
		}
		lines++
	}
	return lines > 1
}

// specials are what Python writes for floats that JSON does not have, in JSON and in YAML.
var specials = []string{"-Infinity", "Infinity", "NaN", "-.inf", ".inf", ".nan"}

// withoutSpecials replaces floats that JSON does not have by null.
func withoutSpecials(data []byte) []byte {
	if !slices.ContainsFunc(specials, func(s string) bool { return bytes.Contains(data, []byte(s)) }) {
		return data
	}
	out := make([]byte, 0, len(data))
	inText := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
		case c == '"':
			inText = !inText
		case !inText && (c == '-' || c == 'I' || c == 'N' || c == '.'):
			if at := slices.IndexFunc(specials, func(s string) bool {
				return bytes.HasPrefix(data[i:], []byte(s))
			}); at >= 0 {
				out = append(out, "null"...)
				i += len(specials[at]) - 1
				continue
			}
		}
		out = append(out, data[i])
	}
	return out
}

// In returns the paths of the runs in a folder, without those in folders below it: a path for each part of a file with
// several. A file that cannot be read is in faults. Where one file repeats what another has, only the other one counts:
// the YAML twin of a JSON file, the list of the runs of vllm bench sweep beside their files, the requests and the total
// beside the stages of inference-perf, its reports for llm-d.
func In(dir string) (paths []string, faults []error) {
	runs, faults := inFolder(dir)
	for i := range runs {
		paths = append(paths, runs[i].Path)
	}
	return paths, faults
}

// inFolder reads the runs in a folder.
func inFolder(dir string) (runs []Run, faults []error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, []error{err}
	}
	found := map[string]sniffed{}
	for _, entry := range entries {
		if entry.Type().IsRegular() || entry.Type()&fs.ModeSymlink != 0 {
			if of, list := sniff(filepath.Join(dir, entry.Name())); of != nil {
				found[entry.Name()] = sniffed{of.name, list}
			}
		}
	}
	for _, entry := range entries {
		name := entry.Name()
		if _, is := found[name]; !is || repeats(name, found) {
			continue
		}
		of, err := Read(filepath.Join(dir, name))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		runs = append(runs, of...)
	}
	return runs, faults
}

// The bounds of a search below a folder: a path such as / is a mistake.
const (
	deepest     = 6
	mostFolders = 2000
)

// Below reads the runs in a folder and in those below it, as vllm bench sweep serve lays them out.
func Below(dir string) (runs []Run, faults []error) {
	folders := 0
	var visit func(dir string, depth int)
	visit = func(dir string, depth int) {
		if folders++; folders > mostFolders || depth > deepest {
			return
		}
		of, wrong := inFolder(dir)
		runs, faults = append(runs, of...), append(faults, wrong...)
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
				visit(filepath.Join(dir, entry.Name()), depth+1)
			}
		}
	}
	visit(dir, 0)
	return runs, faults
}

// sniffed is what the start of a file promises.
type sniffed struct {
	format string
	list   bool
}

// The parts of names that tell the reports of inference-perf apart: of the stages and of all. That of the requests is a
// list.
const (
	stageMark   = "stage_"
	summaryMark = "summary_"
)

// repeats reports whether a file of a folder says what another file of it says, too.
func repeats(name string, found map[string]sniffed) bool {
	stem, ext := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
	f := found[name]
	if (ext == ".yaml" || ext == ".yml") && found[stem+".json"].format == f.format {
		return true
	}
	has := func(format, mark string) bool {
		for other, of := range found {
			if other != name && of.format == format && !of.list && strings.Contains(other, mark) {
				return true
			}
		}
		return false
	}
	switch f.format {
	case vllmName:
		return f.list && has(vllmName, "")
	case inferencePerfName:
		ofAll := strings.Contains(name, summaryMark) || f.list
		return ofAll && has(inferencePerfName, stageMark) || f.list && has(inferencePerfName, summaryMark)
	case llmdName:
		return has(inferencePerfName, stageMark) || has(inferencePerfName, summaryMark)
	case perfAnalyzerName:
		return has(genaiName, "")
	}
	return false
}

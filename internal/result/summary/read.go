package summary

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/foreign"
	"aiperf/internal/watch/servermetrics"
)

// finite returns v, or NaN if it is not finite.
func finite(v float64) float64 {
	if !artifact.Finite(v) {
		return math.NaN()
	}
	return v
}

// ParseFigures reads a summary document: ours, those of the original, of every version, and what [ReadDocument] makes of
// the results of other tools. Each object at the top, or in its older member "records", that names a unit is a metric;
// null is the same as absent.
func ParseFigures(data []byte) (Figures, error) {
	var f Figures
	members, err := objectMembers(data)
	if err != nil {
		return f, fmt.Errorf("not a summary of a run: %w", ended(err))
	}
	var bounds BoundsDocument
	var rest unjudged
	for _, m := range members {
		switch m.key {
		case "origin":
			err = json.Unmarshal(m.value, &f.Origin)
		case "benchmark_id":
			err = json.Unmarshal(m.value, &f.BenchmarkID)
		case "was_cancelled":
			err = json.Unmarshal(m.value, &f.WasCancelled)
		case "is_complete":
			complete := true
			if err = json.Unmarshal(m.value, &complete); !complete {
				f.Incomplete = cmp.Or(f.Incomplete, "its summary does not say why")
			}
		case "incomplete_reason":
			err = json.Unmarshal(m.value, &f.Incomplete)
		case "client_health":
			err = json.Unmarshal(m.value, &rest.client)
			f.Verdict = string(rest.client.Verdict)
		case "prefix_cache":
			f.Cached, err = cachedOf(m.value)
		case "time_split":
			if json.Unmarshal(m.value, &f.Times) != nil { // that of another program may have any form
				f.Times = nil
			}
		case "judgement":
			err = json.Unmarshal(m.value, &f.Judgement)
		case "provenance":
			f.addConfig(m)
			err = f.addKinds(m.value)
		case "input_config":
			f.addConfig(m)
		case "percentile_bounds":
			err = json.Unmarshal(m.value, &bounds)
		case "records":
			var inner []member
			if inner, err = objectMembers(m.value); err == nil {
				f.addBlocks(inner)
			}
		}
		if err != nil {
			return f, fmt.Errorf("not a summary of a run: member %s: %w", m.key, err)
		}
	}
	f.addBlocks(members)
	for i := range f.Blocks {
		b := &f.Blocks[i]
		of, _ := bounds.Get(b.Tag)
		for _, bound := range of {
			if b.Bounds == nil {
				b.Bounds = map[string]stats.Range{}
			}
			b.Bounds[bound.Key] = stats.Range(bound.Value)
		}
	}
	if len(f.Blocks) == 0 {
		return f, errors.New("not a summary of a run: it contains no metric")
	}
	if len(f.Judgement.Findings) == 0 {
		for _, m := range members {
			rest.take(m)
		}
		f.Judgement = rest.judge(&f)
	}
	return f, nil
}

// addConfig takes a part of the configuration. That of another program may have any form: it is left out then.
func (f *Figures) addConfig(m member) {
	if o, err := artifact.ParseObject(m.value); err == nil {
		f.Config = append(f.Config, artifact.Member{Key: m.key, Value: o})
	}
}

// addKinds takes the hashes of the provenance.
func (f *Figures) addKinds(text []byte) error {
	var p Provenance
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	f.Kinds = map[string]string{}
	for name, hash := range map[string]string{"configuration": p.ConfigHash, "dataset": p.DatasetHash} {
		if hash != "" {
			f.Kinds[name] = hash
		}
	}
	if t := p.Tokenizer; t != nil && t.Fingerprint != "" {
		f.Kinds["tokenizer"] = t.Fingerprint
	}
	return nil
}

// cachedOf reads how much of the prompts came from a prefix cache.
func cachedOf(text []byte) (*servermetrics.Cached, error) {
	var c PrefixCacheDocument
	if err := json.Unmarshal(text, &c); err != nil || c.Share == nil {
		return nil, err
	}
	out := &servermetrics.Cached{Metric: c.Metric, Share: *c.Share, Repeats: -1}
	if c.Repeats != nil {
		out.Repeats = *c.Repeats
	}
	return out, nil
}

// ended returns the error in words if the text is truncated.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is truncated")
	}
	return err
}

type member struct {
	key   string
	value json.RawMessage
}

// objectMembers returns the members of an object in their order.
func objectMembers(data []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if token, err := d.Token(); err != nil {
		return nil, err
	} else if token != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var out []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: key.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	_, err := d.Token()
	return out, err
}

// addBlocks adds the members that are metrics.
func (f *Figures) addBlocks(members []member) {
	for _, m := range members {
		var fields map[string]any
		if json.Unmarshal(m.value, &fields) != nil {
			continue
		}
		unit, ok := fields["unit"].(string)
		if !ok {
			continue
		}
		b := Block{Tag: m.key, Unit: unit, Stats: map[string]float64{}}
		for name, value := range fields {
			if v, ok := value.(float64); ok {
				b.Stats[name] = v
			}
		}
		f.Blocks = append(f.Blocks, b)
	}
}

// ReadFigures reads the summary of a finished run: the file itself, or the directory that holds it.
func ReadFigures(path string) (Figures, error) {
	file, err := FindSummary(path)
	if err != nil {
		return Figures{}, err
	}
	data, err := ReadDocument(file)
	if err != nil {
		return Figures{}, err
	}
	f, err := ParseFigures(data)
	if err != nil {
		return f, fmt.Errorf("%s: %w", file, err)
	}
	return f, nil
}

// ReadDocument reads the summary document of one run: the file itself, or made from the result of another tool, of which
// a path such as results.jsonl#2 names a part.
func ReadDocument(path string) ([]byte, error) {
	if !foreign.Is(path) {
		return bounded.ReadFile(path)
	}
	runs, err := foreign.Read(path)
	switch {
	case err != nil:
		return nil, err
	case len(runs) > 1:
		return nil, &SeveralRunsError{foreign.File(path), pathsOf(runs)}
	}
	return artifact.AppendJSON(nil, runs[0].Document())
}

func pathsOf(runs []foreign.Run) (paths []string) {
	for i := range runs {
		paths = append(paths, runs[i].Path)
	}
	return paths
}

// SeveralRunsError reports that a path names several runs of another tool where one is needed.
type SeveralRunsError struct {
	Path string
	// Runs are the paths of the runs.
	Runs []string
}

func (e *SeveralRunsError) Error() string {
	const most = 4
	more := ""
	if n := len(e.Runs) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s holds %d runs: name one of them (%s%s)", e.Path, len(e.Runs),
		strings.Join(e.Runs[:min(most, len(e.Runs))], ", "), more)
}

// summaryName is the name of the summary unless the run had a prefix.
const summaryName = "profile_export_aiperf.json"

// NoSummaryError reports that a directory holds no summary.
type NoSummaryError struct{ Dir string }

func (e *NoSummaryError) Error() string {
	return fmt.Sprintf("%s holds no summary of a run (%s); aiperf report writes that of a run that was killed", e.Dir,
		summaryName)
}

// FindSummary returns the summary file that a path names: itself, or that of the run in a directory,
// whatever its prefix.
func FindSummary(path string) (string, error) {
	info, err := os.Stat(foreign.File(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no file or folder %s", path)
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return path, nil
	}
	usual := filepath.Join(path, summaryName)
	if _, err := os.Stat(usual); !errors.Is(err, fs.ErrNotExist) {
		return usual, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", err
	}
	var found []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".json") {
			continue
		}
		if data, err := bounded.ReadFile(filepath.Join(path, name)); err == nil && isSummary(data) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return findForeign(path)
	case 1:
		return filepath.Join(path, found[0]), nil
	}
	return "", fmt.Errorf("%s holds several summaries (%s): name the file", path, strings.Join(found, ", "))
}

// findForeign returns the result of another tool in a directory that holds no summary.
func findForeign(dir string) (string, error) {
	paths, faults := foreign.In(dir)
	switch {
	case len(faults) > 0:
		return "", faults[0]
	case len(paths) == 0:
		return "", &NoSummaryError{dir}
	case len(paths) > 1:
		return "", &SeveralRunsError{dir, paths}
	}
	return paths[0], nil
}

// isSummary reports whether a JSON file of a run is its summary: only that has both a metric and the configuration.
func isSummary(data []byte) bool {
	members, err := objectMembers(data)
	if err != nil || !slices.ContainsFunc(members, func(m member) bool { return m.key == "input_config" }) {
		return false
	}
	var f Figures
	f.addBlocks(members)
	return len(f.Blocks) > 0
}

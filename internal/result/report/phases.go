package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
)

// phasesVersion is the version of the manifest's shape and of the telemetry of a phase.
const phasesVersion = 1

// The folder of the phases and the names of the files in that of each which do not follow the prefix.
const (
	PhasesDir     = "phases"
	PhaseGPUs     = "gpu_telemetry.json"
	PhaseServers  = "server_metrics.json"
	SearchEvents  = "adaptive_scale_events.jsonl"
	SearchSummary = "adaptive_scale_summary.json"
)

// PhaseFiles are the files of one phase.
type PhaseFiles struct {
	summary.Phase
	Successes, Failures int64
	// Skipped requests are neither, see summary.Counts.
	Skipped int64
	// Errors are those of the phase as SummaryJSON has them.
	Errors []any
	// JSON, CSV, GPUs and Servers write a file to a path; nil where there is none.
	JSON, CSV, GPUs, Servers func(path string) error
}

// SetResult makes the summary files of a phase those of its result. A phase without a record has none.
func (f *PhaseFiles) SetResult(ctx context.Context, r *summary.Result) {
	f.Successes, f.Failures, f.Errors = r.Counts.Successes, r.Counts.Errors, errorSummary(r.Errors)
	f.Skipped = r.Counts.Skipped
	if r.Counts.Completed() == 0 {
		return
	}
	f.JSON = func(path string) error {
		// What limited the run follows from the servers and the client too, which a phase's figures do not hold.
		return artifact.WriteObject(path, slices.DeleteFunc(SummaryObject(r, nil),
			func(m artifact.Member) bool { return m.Key == "limited_by" }))
	}
	f.CSV = func(path string) error { return SummaryCSV{Path: path}.Export(ctx, r) }
}

// SetGPUs makes the GPU telemetry of a phase a file; nil is none.
func (f *PhaseFiles) SetGPUs(t *gpu.Telemetry) {
	if t == nil || len(t.Endpoints) == 0 {
		return
	}
	p := f.Phase
	f.GPUs = func(path string) error {
		return artifact.WriteObject(path, artifact.Object{
			{Key: "data", Value: telemetryObject(t, nil)}, {Key: "phase", Value: PhaseObject(&p)},
			{Key: "schema_version", Value: phasesVersion}, {Key: "warnings", Value: []any{}},
		}.Sorted())
	}
}

// Phases writes the files of the phases of a run, each in a folder of its own, and the list of all.
type Phases struct {
	// Dir is the folder of the run, Manifest the path of the list.
	Dir, Manifest string
	// JSON and CSV are the names of the summary files.
	JSON, CSV string
	Phases    []PhaseFiles
}

// Write writes all files. One that fails is not in the list and does not stop the others; the error joins all failures.
func (p *Phases) Write() error {
	var errs []error
	list := make([]any, 0, len(p.Phases))
	for i := range p.Phases {
		f := &p.Phases[i]
		entry := f.entry()
		for _, file := range [...]struct {
			key, name string
			write     func(string) error
		}{
			{"metrics_json", p.JSON, f.JSON}, {"metrics_csv", p.CSV, f.CSV}, {"gpu_telemetry_json", PhaseGPUs, f.GPUs},
			{"server_metrics_json", PhaseServers, f.Servers},
		} {
			if file.write == nil {
				continue
			}
			if err := writeBelow(PhasePath(p.Dir, f.Name, file.name), file.write); err != nil {
				errs = append(errs, fmt.Errorf("phase %s: %w", f.Name, err))
				continue
			}
			entry = append(entry, artifact.Member{Key: file.key, Value: path.Join(PhasesDir, f.Name, file.name)})
		}
		list = append(list, entry)
	}
	manifest := artifact.Object{{Key: "phases", Value: list}, {Key: "schema_version", Value: phasesVersion}}.Sorted()
	return errors.Join(append(errs, artifact.WriteObject(p.Manifest, manifest))...)
}

func writeBelow(path string, write func(string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return write(path)
}

// PhasePath returns the path of a file of a phase.
func PhasePath(dir, phase, name string) string { return filepath.Join(dir, PhasesDir, phase, name) }

// entry is the phase in the list, without its files.
func (f *PhaseFiles) entry() artifact.Object {
	list := f.Errors
	if list == nil {
		list = []any{}
	}
	return append(PhaseObject(&f.Phase),
		artifact.Member{Key: "successful_request_count", Value: f.Successes},
		artifact.Member{Key: "error_request_count", Value: f.Failures},
		artifact.Member{Key: "total_request_count", Value: f.Successes + f.Failures + f.Skipped},
		artifact.Member{Key: "error_summary", Value: list},
	)
}

// PhaseObject says which phase it is. The profiling index of a warm-up is null.
func PhaseObject(p *summary.Phase) artifact.Object {
	var profiling any
	if p.Profiling >= 0 {
		profiling = p.Profiling
	}
	return artifact.Object{
		{Key: "phase_index", Value: p.Index}, {Key: "profiling_index", Value: profiling},
		{Key: "phase_name", Value: p.Name}, {Key: "phase_kind", Value: p.Kind},
		{Key: "start_ns", Value: p.StartNS}, {Key: "end_ns", Value: p.EndNS},
		{Key: "was_cancelled", Value: p.WasCancelled},
	}
}

// StalePhases are the files that the phases of earlier runs in a folder may have left under the names of now, and the
// folders that are empty without them, the inner ones first.
func StalePhases(dir string, names ...string) (files, folders []string) {
	root := filepath.Join(dir, PhasesDir)
	phases, _ := os.ReadDir(root) // none where it cannot be read
	for _, phase := range phases {
		if !phase.IsDir() {
			continue
		}
		for _, name := range append([]string{PhaseGPUs, PhaseServers, SearchEvents, SearchSummary}, names...) {
			files = append(files, filepath.Join(root, phase.Name(), name))
		}
		folders = append(folders, filepath.Join(root, phase.Name()))
	}
	if len(folders) > 0 {
		folders = append(folders, root)
	}
	return files, folders
}

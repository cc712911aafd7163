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
	Errors []artifact.Object
	// JSON, CSV, GPUs and Servers write a file to a path; nil where there is none.
	JSON, CSV, GPUs, Servers func(path string) error
}

// SetResult makes the summary files of a phase those of its result. A phase without a record has none.
func (f *PhaseFiles) SetResult(ctx context.Context, r *summary.Result) {
	f.Successes, f.Failures, f.Skipped = r.Counts.Successes, r.Counts.Errors, r.Counts.Skipped
	f.Errors = nil
	for _, e := range errorSummary(r.Errors) {
		f.Errors = append(f.Errors, artifact.ObjectOf(e))
	}
	if r.Counts.Completed() == 0 {
		return
	}
	f.JSON = func(path string) error {
		// What is to be thought of the run follows from the servers and the client too, which a phase's figures do not hold.
		return artifact.WriteObject(path, slices.DeleteFunc(SummaryObject(r, nil),
			func(m artifact.Member) bool { return m.Key == "limited_by" || m.Key == "judgement" }))
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
		return artifact.WriteObject(path, artifact.ObjectOf(summary.PhaseTelemetry{Data: telemetryDocument(t, nil),
			Phase: phaseDocument(&p), SchemaVersion: phasesVersion}).Sorted())
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
	manifest := summary.PhaseManifest{SchemaVersion: phasesVersion}
	for i := range p.Phases {
		f := &p.Phases[i]
		entry := f.entry()
		for _, file := range [...]struct {
			path  *string
			name  string
			write func(string) error
		}{
			{&entry.JSON, p.JSON, f.JSON}, {&entry.CSV, p.CSV, f.CSV}, {&entry.GPUs, PhaseGPUs, f.GPUs},
			{&entry.Servers, PhaseServers, f.Servers},
		} {
			if file.write == nil {
				continue
			}
			if err := writeBelow(PhasePath(p.Dir, f.Name, file.name), file.write); err != nil {
				errs = append(errs, fmt.Errorf("phase %s: %w", f.Name, err))
				continue
			}
			*file.path = path.Join(PhasesDir, f.Name, file.name)
		}
		manifest.Phases = append(manifest.Phases, entry)
	}
	return errors.Join(append(errs, artifact.WriteObject(p.Manifest, artifact.ObjectOf(manifest).Sorted()))...)
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
func (f *PhaseFiles) entry() summary.PhaseEntry {
	return summary.PhaseEntry{PhaseDocument: phaseDocument(&f.Phase), Successes: f.Successes, Failures: f.Failures,
		Total: f.Successes + f.Failures + f.Skipped, Errors: f.Errors}
}

// PhaseObject says which phase it is.
func PhaseObject(p *summary.Phase) artifact.Object { return artifact.ObjectOf(phaseDocument(p)) }

func phaseDocument(p *summary.Phase) summary.PhaseDocument {
	d := summary.PhaseDocument{Index: p.Index, Name: p.Name, Kind: p.Kind, StartNS: p.StartNS, EndNS: p.EndNS,
		WasCancelled: p.WasCancelled}
	if p.Profiling >= 0 {
		d.Profiling = &p.Profiling
	}
	return d
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

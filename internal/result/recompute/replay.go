package recompute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// defaultDir is the folder of the files, next to the first recording: they must not replace those of the run.
const defaultDir = "server_metrics_replay"

// ServerMetrics is the command: it reads the recordings and writes the files that are asked for. A file that
// cannot be written does not keep the others from being written; the error names all that failed.
func ServerMetrics(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	o.complete()
	m, err := o.open()
	if err != nil {
		return err
	}
	if err := m.checkTargets(); err != nil {
		return err
	}
	if err := m.read(ctx); err != nil {
		return err
	}
	return m.export(ctx)
}

func (o *Options) complete() {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Written == nil {
		o.Written = func(string, string) {}
	}
	if len(o.Formats) == 0 {
		o.Formats = []string{"json", "csv", "parquet"}
	}
	if o.OutputDir == "" {
		o.OutputDir = filepath.Join(filepath.Dir(o.Recordings[0]), defaultDir)
	}
}

// merger makes one run of recordings.
type merger struct {
	o          *Options
	recordings []*Recording
	store      *servermetrics.Store
	info       export.Info
	recorder   *export.Recorder
	// cut leaves out what comes after the first scrape of an endpoint beyond the end of the window.
	cut         bool
	over        map[string]bool
	described   map[string]bool // the endpoints that a sidecar describes
	first, last int64           // of all scrapes
}

func (o *Options) open() (*merger, error) {
	m := &merger{
		o: o, store: servermetrics.NewStore(servermetrics.Options{Warn: o.Warn}),
		over: map[string]bool{}, described: map[string]bool{}, first: math.MaxInt64,
	}
	for _, path := range o.Recordings {
		r, err := OpenRecording(path, o, len(o.Recordings) == 1)
		if err != nil {
			return nil, err
		}
		m.recordings = append(m.recordings, r)
		if r.sidecar == nil {
			continue
		}
		for _, e := range r.sidecar.Endpoints {
			m.store.Endpoint(e.URL) // their order decides about types
			m.described[e.URL] = true
		}
		if !r.sidecar.Complete {
			o.Warn(fmt.Sprintf("%s: the recording was not finished; all of its samples count unless a window is given",
				path))
		}
	}
	m.info = m.mergeInfo()
	m.cut = o.ToNS != nil && (m.info.Window.EndNS == 0 || *o.ToNS < m.info.Window.EndNS)
	return m, nil
}

// mergeInfo is what the sidecars say: of the first one, with the endpoints and models of all and the window from
// the earliest start to the latest end.
func (m *merger) mergeInfo() export.Info {
	var info export.Info
	ids := map[string]bool{}
	for _, r := range m.recordings {
		if r.sidecar == nil {
			continue
		}
		s := r.sidecar
		if len(ids) == 0 {
			info = s.Info
			info.Configured, info.Successful = slices.Clone(s.Configured), slices.Clone(s.Successful)
			info.Models = slices.Clone(s.Models)
			info.Window, info.Warmup = servermetrics.Window{}, servermetrics.Window{}
		}
		ids[s.BenchmarkID] = true
		info.Configured = union(info.Configured, s.Configured)
		info.Successful = union(info.Successful, s.Successful)
		info.Models = union(info.Models, s.Models)
		if !s.Complete {
			continue
		}
		if info.Window.EndNS == 0 || s.Window.StartNS < info.Window.StartNS {
			info.Window.StartNS, info.Location = s.Window.StartNS, s.Location
		}
		if s.Window.EndNS > info.Window.EndNS {
			info.Window.EndNS, info.EndLocation = s.Window.EndNS, s.EndLocation
		}
		if w := s.Warmup; w.EndNS > w.StartNS {
			if info.Warmup.EndNS == 0 || w.StartNS < info.Warmup.StartNS {
				info.Warmup.StartNS = w.StartNS
			}
			info.Warmup.EndNS = max(info.Warmup.EndNS, w.EndNS)
		}
		if s.ExportTime.After(info.ExportTime) {
			info.ExportTime = s.ExportTime
		}
	}
	if len(ids) > 1 {
		m.o.Warn("the recordings are of different benchmarks; ids and configuration are those of the first")
	}
	return info
}

func union(list, more []string) []string {
	for _, v := range more {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// read fills the store.
func (m *merger) read(ctx context.Context) error {
	if err := os.MkdirAll(m.o.OutputDir, 0o755); err != nil {
		return err
	}
	if slices.Contains(m.o.Formats, "jsonl") {
		var err error
		if m.recorder, err = export.NewRecorder(m.target("jsonl"), m.sidecar(), m.info,
			export.RecorderOptions{OnError: func(error) {}}); err != nil {
			return err
		}
	}
	for _, r := range m.recordings {
		if err := r.Read(ctx, m.add); err != nil {
			return errors.Join(err, m.dropRecording())
		}
	}
	if m.last == 0 {
		return errors.Join(fmt.Errorf("%s: no scrapes", strings.Join(m.o.Recordings, ", ")), m.dropRecording())
	}
	return nil
}

// dropRecording removes what was written of the merged recording.
func (m *merger) dropRecording() error {
	if m.recorder == nil {
		return nil
	}
	return errors.Join(m.finishRecording(), artifact.RemoveStale(m.target("jsonl"), m.sidecar()))
}

func (m *merger) finishRecording() error {
	if m.recorder == nil {
		return nil
	}
	return m.recorder.Finish(m.info, m.store)
}

func (m *merger) add(url string, s servermetrics.Scrape) {
	if m.cut && s.TimestampNS > *m.o.ToNS {
		if m.over[url] {
			return
		}
		m.over[url] = true
	}
	m.first, m.last = min(m.first, s.TimestampNS), max(m.last, s.TimestampNS)
	m.store.Endpoint(url).Add(s)
	if m.recorder != nil {
		m.recorder.Scraped(url, s)
	}
}

// completeInfo sets what no sidecar has and what the options override.
func (m *merger) completeInfo() {
	i := &m.info
	if i.Window.EndNS == 0 {
		i.Window = servermetrics.Window{StartNS: m.first, EndNS: m.last}
	}
	if m.o.FromNS != nil || m.o.ToNS != nil {
		i.Warmup = servermetrics.Window{} // the window that was asked for is all that counts
	}
	if m.o.FromNS != nil {
		i.Window.StartNS = *m.o.FromNS
	}
	if m.o.ToNS != nil {
		i.Window.EndNS = *m.o.ToNS
	}
	if i.Window.EndNS < i.Window.StartNS {
		i.Window.EndNS = i.Window.StartNS
	}
	if i.ExportTime.IsZero() {
		i.ExportTime = time.Unix(0, i.Window.EndNS)
	}
	if m.o.SliceSeconds != nil {
		i.SliceNS = int64(*m.o.SliceSeconds * 1e9)
	}
	i.Bounds = i.Bounds || m.o.Bounds
	i.AIPerfVersion = cmp.Or(i.AIPerfVersion, m.o.Version)
	var bare []string // endpoints that no sidecar describes
	for _, e := range m.store.Endpoints() {
		if !m.described[e.URL()] {
			bare = append(bare, e.URL())
		}
	}
	i.Configured, i.Successful = union(i.Configured, bare), union(i.Successful, bare)
}

func (m *merger) export(ctx context.Context) error {
	m.completeInfo()
	recorded := m.finishRecording()
	if recorded == nil && m.recorder != nil {
		m.o.Written("Server metrics JSONL export", m.target("jsonl"))
	}
	run := export.NewRun(m.store, m.info)
	for _, w := range run.Results.Warnings {
		m.o.Warn(w)
	}
	var exporters []export.Exporter
	for _, format := range m.o.Formats {
		switch format {
		case "json":
			exporters = append(exporters, export.JSON{Path: m.target("json"), Run: run})
		case "csv":
			exporters = append(exporters, export.CSV{Path: m.target("csv"), Run: run, Comments: m.o.CSVComments})
		case "parquet":
			exporters = append(exporters, export.Parquet{Path: m.target("parquet"), Run: run})
		}
	}
	if m.o.LegacyJSON {
		exporters = append(exporters, export.LegacyJSON{Path: strings.TrimSuffix(m.target("json"), ".json") +
			"_legacy.json", Run: run})
	}
	return errors.Join(recorded, export.All(ctx, exporters,
		func(e export.Exporter) { m.o.Written(e.Name(), e.Target()) }, m.o.Warn))
}

// target is the path of a file: as the first recording, in the output directory.
func (m *merger) target(format string) string {
	base := filepath.Base(m.o.Recordings[0])
	if stem := strings.TrimSuffix(base, ".jsonl"); strings.HasSuffix(stem, "_server_metrics") ||
		stem == "server_metrics_export" {
		return filepath.Join(m.o.OutputDir, stem+"."+format)
	}
	return filepath.Join(m.o.OutputDir, "server_metrics_export."+format)
}

func (m *merger) sidecar() string { return export.SidecarPath(m.target("jsonl")) }

// checkTargets keeps the recordings from being overwritten while they are read.
func (m *merger) checkTargets() error {
	if !slices.Contains(m.o.Formats, "jsonl") {
		return nil
	}
	for _, target := range [...]string{m.target("jsonl"), m.sidecar()} {
		there, err := os.Stat(target)
		if err != nil {
			continue
		}
		for _, path := range m.o.Recordings {
			for _, source := range [...]string{path, export.SidecarPath(path)} {
				if here, err := os.Stat(source); err == nil && os.SameFile(here, there) {
					return fmt.Errorf("writing jsonl would replace the recording %s: choose another --output-dir",
						source)
				}
			}
		}
	}
	return nil
}

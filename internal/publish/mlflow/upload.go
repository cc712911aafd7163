package mlflow

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
)

// The statuses of a run that ended.
const (
	statusFinished = "FINISHED"
	statusFailed   = "FAILED"
	statusKilled   = "KILLED"
)

func status(e *progress.Ending) string {
	switch {
	case e.Cancelled:
		return statusKilled
	case e.Failed || !e.HasResults:
		return statusFailed
	}
	return statusFinished
}

// variableTimeout is the limit of an upload.
const variableTimeout = "AIPERF_MLFLOW_EXPORT_TIMEOUT_SECONDS"

// upload sends all that there is of the run.
func (t *tracker) upload() {
	if t.off {
		return
	}
	if !t.ending.HasResults {
		if t.created {
			t.reportNothing(t.server.endRun(t.ctx, t.run.ID, status(t.ending), time.Now()))
		}
		return
	}
	e := export{t: t, reused: t.created}
	t.gather()
	if !t.created {
		if p := t.create(); p != nil {
			t.reportNothing(p)
			return
		}
	}
	if p := t.stream(); p != nil {
		t.reportLost(p)
		return
	}
	points := finals(t.ending, time.Now())
	params := t.params()
	tags := append(t.identity(), Entry{"aiperf.was_cancelled", fmt.Sprint(t.ending.Cancelled)})
	if p := t.server.logBatch(t.ctx, t.run.ID, points, params, tags); p != nil {
		t.reportLost(p)
		return
	}
	e.points, e.params, e.tags = points, params, append(tags, t.tags()...)
	problem := t.putFiles(&e)
	if err := e.write(filepath.Join(t.bench.Dir, t.o.Export)); err != nil {
		t.log.Error("Cannot write mlflow_export.json", "error", err)
	}
	end := t.server.endRun(t.ctx, t.run.ID, status(t.ending), time.Now())
	if problem == nil && end != nil {
		problem = &failure{fmt.Sprintf("MLflow: %s %s; the run was uploaded, but is not marked as ended", t.server.base,
			t.describe(end))}
	}
	if problem != nil {
		t.log.Warn(problem.text)
		return
	}
	t.log.Info(fmt.Sprintf("MLflow: uploaded %d metrics and %d files to %s", len(points), len(e.files), t.page()))
}

// reportNothing logs that a run could not be created or ended, unless p is nil.
func (t *tracker) reportNothing(p *upload.Problem) {
	if p != nil {
		t.log.Warn(fmt.Sprintf("MLflow: %s %s; nothing was uploaded", t.server.base, t.describe(p)))
	}
}

// reportLost logs that the results could not be uploaded.
func (t *tracker) reportLost(p *upload.Problem) {
	if p.Later() || t.ctx.Err() != nil {
		t.log.Warn(fmt.Sprintf("MLflow: %s %s; the results were not uploaded", t.server.base, t.describe(p)))
		return
	}
	t.refused(p)
}

// describe returns the text of a problem, with the variable of the timeout where that was the reason.
func (t *tracker) describe(p *upload.Problem) string {
	if p.Kind == upload.Hung && t.ctx.Err() != nil {
		return fmt.Sprintf("took longer than %g s (%s)", t.o.Timeout.Seconds(), variableTimeout)
	}
	return p.Text
}

// params returns the parameters of the run.
func (t *tracker) params() []Entry {
	b := t.bench
	directory, err := filepath.Abs(b.Dir)
	if err != nil {
		directory = b.Dir
	}
	begin := []Entry{
		{"endpoint.type", b.EndpointType},
		{"endpoint.models", strings.Join(b.Models, ",")},
		{"endpoint.urls", strings.Join(b.BaseURLs, ",")},
	}
	end := []Entry{{"output.artifact_directory", directory}}
	// Of several phases each parameter lists the values of those that have it.
	values := map[string][]string{}
	for _, p := range b.Profiling() {
		add := func(key, value string) { values[key] = append(values[key], value) }
		add("timing.mode", p.Type)
		if p.Concurrency != nil {
			add("loadgen.concurrency", strconv.Itoa(*p.Concurrency))
		}
		if p.Rate > 0 {
			add("loadgen.request_rate", number(p.Rate))
		}
		if p.Requests != nil {
			add("loadgen.request_count", strconv.FormatInt(*p.Requests, 10))
		}
		if p.Duration != nil {
			add("loadgen.benchmark_duration", number(p.Duration.Seconds()))
		}
	}
	for _, key := range []string{"timing.mode", "loadgen.concurrency", "loadgen.request_rate", "loadgen.request_count",
		"loadgen.benchmark_duration"} {
		switch list := strings.Join(values[key], ","); {
		case list == "":
		case key == "timing.mode":
			begin = append(begin, Entry{key, list})
		default:
			end = append(end, Entry{key, list})
		}
	}
	list := append(append(begin, end...), Entry{"aiperf.cli_command", b.Command})
	for i := range list {
		list[i].Value = t.o.Redactor.Values(list[i].Value)
	}
	list = slices.DeleteFunc(list, func(p Entry) bool { return p.Value == "" })
	return fit(list, maxParamValue)
}

// number formats a number as in the files of a run; "" for one that JSON has not.
func number(v float64) string {
	b, err := artifact.AppendJSON(nil, v)
	if err != nil {
		return ""
	}
	return string(b)
}

// artifactPath returns the path of a file among the run's artifacts.
func artifactPath(name string) string {
	if upload.IsPicture(name) {
		return "plots/" + strings.TrimPrefix(name, "plots/")
	}
	return "exports/" + name
}

// failure is the text of an incomplete upload.
type failure struct{ text string }

// putFiles uploads the files. It goes on after one that is refused, and stops when the server does not answer.
func (t *tracker) putFiles(e *export) *failure {
	root := t.server.artifactRoot(t.run.Artifact)
	if root == "" {
		scheme, _, _ := strings.Cut(t.run.Artifact, ":")
		return &failure{fmt.Sprintf("MLflow: %s keeps files in a store of its own (%s) that only MLflow's client "+
			"writes to; metrics, parameters and tags were uploaded, files were not (start the server with "+
			"--serve-artifacts)", t.server.base, scheme)}
	}
	names, err := upload.Find(t.bench.Dir, t.o.Globs)
	if err != nil {
		return &failure{"MLflow: cannot list the files of the run: " + err.Error()}
	}
	own := filepath.ToSlash(t.o.Export)
	names = slices.DeleteFunc(names, func(name string) bool { return name == own }) // one of an earlier run, if any
	var firstName string
	var first *upload.Problem
	failed := 0
	for i, name := range names {
		p := t.server.putFile(t.ctx, root, artifactPath(name), t.bench.Dir, name)
		if p == nil {
			e.files = append(e.files, name)
			continue
		}
		if first == nil {
			firstName, first = name, p
		}
		failed++
		if p.Kind == upload.Hung || p.Kind == upload.Unreachable {
			failed += len(names) - i - 1
			break
		}
	}
	if first != nil && (first.Kind == upload.Hung || first.Kind == upload.Unreachable) {
		return t.unfinished(failed, len(names), firstName, first)
	}
	if p := t.putExport(e, root, own); p != nil {
		failed++
		if first == nil {
			firstName, first = own, p
		}
	}
	if first != nil {
		return t.unfinished(failed, len(names)+1, firstName, first)
	}
	return nil
}

func (t *tracker) unfinished(failed, all int, name string, p *upload.Problem) *failure {
	return &failure{fmt.Sprintf(
		"MLflow: %s %s; %d of %d files were not uploaded, %s first; metrics, parameters and tags were", t.server.base,
		t.describe(p), failed, all, name)}
}

// putExport writes and uploads mlflow_export.json, which lists the others.
func (t *tracker) putExport(e *export, root, name string) *upload.Problem {
	e.files = append(e.files, name)
	p := &upload.Problem{Text: "lacks it: it could not be written", Kind: upload.Refused}
	if e.write(filepath.Join(t.bench.Dir, t.o.Export)) == nil {
		p = t.server.putFile(t.ctx, root, "exports/"+path.Base(name), t.bench.Dir, name)
	}
	if p != nil {
		e.files = e.files[:len(e.files)-1]
	}
	return p
}

// export is the content of mlflow_export.json.
type export struct {
	t            *tracker
	reused       bool
	points       []point
	params, tags []Entry
	files        []string
}

// exportDocument says what was exported, and where.
type exportDocument struct {
	URI         string   `json:"tracking_uri"`
	Experiment  string   `json:"experiment"`
	RunID       string   `json:"run_id"`
	RunName     string   `json:"run_name"`
	BenchmarkID string   `json:"benchmark_id"`
	Parent      *string  `json:"parent_run_id"`
	Streamed    bool     `json:"live_streaming"`
	Reused      bool     `json:"reused_live_run"`
	Metrics     []string `json:"metric_keys"`
	Params      []string `json:"param_keys"`
	Tags        []string `json:"tag_keys"`
	Files       []string `json:"uploaded_artifacts"`
	AtNS        int64    `json:"exported_at_ns"`
}

func (e *export) write(path string) error {
	t := e.t
	d := exportDocument{URI: artifact.NewRedactor().URL(t.o.URI.String()), Experiment: t.o.Experiment, RunID: t.run.ID,
		RunName: t.run.Name, BenchmarkID: t.bench.BenchmarkID, Streamed: t.streamed, Reused: e.reused,
		Metrics: keys(e.points, func(p point) string { return p.Key }),
		Params:  keys(e.params, func(p Entry) string { return p.Key }),
		Tags:    keys(e.tags, func(p Entry) string { return p.Key }), Files: e.files, AtNS: time.Now().UnixNano()}
	if t.parent != "" {
		d.Parent = &t.parent
	}
	return artifact.WriteObject(path, artifact.ObjectOf(d))
}

// keys returns the keys of a list, sorted, each once.
func keys[T any](list []T, key func(T) string) []string {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = key(one)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

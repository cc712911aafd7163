package wandb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/bundle"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/rest"
)

// variableTimeout is the limit of an upload.
const variableTimeout = "AIPERF_WANDB_EXPORT_TIMEOUT_SECONDS"

// upload is the upload of one run.
type upload struct {
	o       Options
	bench   *progress.Run
	ending  *progress.Ending
	log     *slog.Logger
	service *service
	start   time.Time
	run     bucket
}

func newUpload(o Options, bench *progress.Run, e *progress.Ending, start time.Time) *upload {
	return &upload{o: o, bench: bench, ending: e, log: bench.Log("wandb"), start: start,
		service: newService(o.Environment, bench.Version, o.Redactor.Text)}
}

// upload sends all that there is of the run, and logs one line about it.
func (u *upload) upload(ctx context.Context) {
	n, text, p := u.send(ctx)
	if p == nil {
		u.log.Info(fmt.Sprintf("Weights & Biases: uploaded the results and %d files to %s", n, u.page()))
		return
	}
	reason := p.Text
	if p.Kind == rest.Hung && ctx.Err() == context.DeadlineExceeded {
		reason = fmt.Sprintf("took longer than %g s (%s)", u.o.Timeout.Seconds(), variableTimeout)
	}
	u.log.Warn(fmt.Sprintf("Weights & Biases: %s %s; %s", u.service.base, reason, text))
}

// send makes the requests and returns the number of files. With a problem, it says what is missing.
func (u *upload) send(ctx context.Context) (files int, missing string, p *rest.Problem) {
	const nothing = "nothing was uploaded"
	settings, err := artifact.AppendJSON(nil, config(u.bench, u.o.Redactor))
	if err != nil {
		return 0, nothing, &rest.Problem{Text: "cannot be sent the configuration: " + err.Error()}
	}
	id := token(runID)
	variables := map[string]any{"name": id, "project": u.o.Project, "displayName": u.bench.UploadName(u.o.RunName),
		"config": string(settings), "program": "aiperf", "tags": tags(u.bench, u.o.Tags)}
	if u.o.Entity != "" {
		variables["entity"] = u.o.Entity
	}
	if u.run, p = u.service.createRun(ctx, variables); p != nil {
		return 0, nothing, p
	}
	end, p := u.results(ctx, settings)
	if p != nil {
		return 0, "the results were not uploaded", p
	}
	files, lost := u.files(ctx)
	if lost != nil && (lost.Kind == rest.Hung || lost.Kind == rest.Unreachable) {
		return 0, "the results and files were not uploaded", lost
	}
	if p := end(); p != nil {
		return files, "the results were not uploaded", p
	}
	return files, "the files were not uploaded; the results were", lost
}

// runID is the length of the id of a run.
const runID = 8

// results uploads the table of the results, and the files of the run itself. It returns what ends the run with the
// values of its summary.
func (u *upload) results(ctx context.Context, settings []byte) (end func() *rest.Problem, p *rest.Problem) {
	unsent := func(err error) *rest.Problem {
		return &rest.Problem{Text: "cannot be sent the results: " + err.Error(), Kind: rest.Refused}
	}
	list := shown(u.ending.Metrics, u.o.Groups)
	t := newTable(list)
	stored, err := artifact.AppendJSON(nil, t.stored())
	if err != nil {
		return nil, unsent(err)
	}
	media, err := artifact.AppendJSON(nil, t.media())
	if err != nil {
		return nil, unsent(err)
	}
	const storedName = tableName + ".table.json"
	a := newBundled("run-"+u.run.Name+"-"+tableName, "run_table", []content{inMemory(storedName, stored)})
	if p := u.service.putArtifact(ctx, &u.run, a); p != nil {
		return nil, p
	}
	sha := sha256.Sum256(media)
	hash := hex.EncodeToString(sha[:])
	mediaName := "media/table/" + tableName + "_0_" + hash[:20] + ".table.json"
	reference := artifact.Object{{Key: "_type", Value: "table-file"}, {Key: "log_mode", Value: "IMMUTABLE"},
		{Key: "path", Value: mediaName}, {Key: "sha256", Value: hash}, {Key: "size", Value: len(media)},
		{Key: "nrows", Value: len(t.rows)}, {Key: "ncols", Value: len(t.columns)},
		{Key: "artifact_path", Value: "wandb-client-artifact://" + a.clientID + "/" + storedName},
		{Key: "_latest_artifact_path", Value: "wandb-client-artifact://" + a.sequenceID + ":latest/" + storedName}}
	now := time.Now()
	row := artifact.Object{{Key: "_step", Value: 0}, {Key: "_runtime", Value: now.Sub(u.start).Seconds()},
		{Key: "_timestamp", Value: float64(now.UnixMicro()) / 1e6}, {Key: tableName, Value: reference}}
	history, err := artifact.AppendJSON(nil, row)
	if err != nil {
		return nil, unsent(err)
	}
	values := append(slices.Clip(row), summary(list)...)
	final, err := artifact.AppendJSON(nil, append(values, artifact.Member{Key: "_wandb", Value: artifact.Object{
		{Key: "runtime", Value: int64(now.Sub(u.start).Seconds())}}}))
	if err != nil {
		return nil, unsent(err)
	}
	about, err := artifact.AppendIndented(nil, artifact.Object{{Key: "program", Value: "aiperf"},
		{Key: "startedAt", Value: u.start.UTC().Format(time.RFC3339Nano)}, {Key: "os", Value: runtime.GOOS},
		{Key: "cpu_arch", Value: runtime.GOARCH}})
	if err != nil {
		return nil, unsent(err)
	}
	// The configuration is JSON, which is YAML too.
	files := []content{inMemory("wandb-summary.json", final), inMemory("config.yaml", settings),
		inMemory("wandb-metadata.json", about), inMemory(mediaName, media)}
	if p := u.service.putRunFiles(ctx, &u.run, files); p != nil {
		return nil, p
	}
	var names []string
	for i := range files {
		names = append(names, files[i].name)
	}
	exit := 0
	if u.ending.Failed || u.ending.Cancelled {
		exit = 1
	}
	return func() *rest.Problem {
		return u.service.stream(ctx, &u.run, string(history), string(final), names, exit)
	}, nil
}

// files uploads the files of the run's folder as an artifact.
func (u *upload) files(ctx context.Context) (int, *rest.Problem) {
	unread := func(err error) *rest.Problem {
		return &rest.Problem{Text: "cannot be sent the files: " + rest.OneLine(u.service.Redact(err.Error())),
			Kind: rest.Refused}
	}
	names, err := bundle.Find(u.bench.Dir, u.o.Globs)
	if err != nil {
		return 0, unread(err)
	}
	var files []content
	for _, name := range names {
		if strings.HasPrefix(name, "wandb/") || slices.Contains(u.o.Without, name) {
			continue
		}
		if ctx.Err() != nil {
			return 0, rest.NoAnswer()
		}
		file, err := onDisk(u.bench.Dir, name)
		if err != nil {
			return 0, unread(err)
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return 0, nil
	}
	p := u.service.putArtifact(ctx, &u.run, newBundled("aiperf-"+u.run.Name, "aiperf-run", files))
	return len(files), p
}

// page returns the address of the run's page.
func (u *upload) page() string {
	return u.o.Environment.app() + "/" + url.PathEscape(u.run.Project.Entity.Name) + "/" +
		url.PathEscape(u.run.Project.Name) + "/runs/" + url.PathEscape(u.run.Name)
}

package wandb

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"runtime"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
)

// variableTimeout is the limit of an upload.
const variableTimeout = "AIPERF_WANDB_EXPORT_TIMEOUT_SECONDS"

// uploading is the upload of one run.
type uploading struct {
	o       Options
	bench   *progress.Run
	ending  *progress.Ending
	log     *slog.Logger
	service *service // nil = off line
	start   time.Time
	run     bucket
}

func newUpload(o Options, bench *progress.Run, e *progress.Ending, start time.Time,
	log *slog.Logger) *uploading {
	u := &uploading{o: o, bench: bench, ending: e, log: log, start: start}
	if !o.Environment.Offline {
		u.service = newService(o.Environment, bench.Version, o.Redactor.Text)
	}
	return u
}

// upload sends all that there is of the run, and logs one line about it.
func (u *uploading) upload(ctx context.Context) {
	if u.o.Environment.Offline {
		u.keep(ctx)
		return
	}
	n, text, p := u.send(ctx)
	if p == nil {
		u.log.Info(fmt.Sprintf("Weights & Biases: uploaded the results and %d files to %s", n, u.page()))
		return
	}
	reason := p.Text
	if p.Kind == upload.Hung && ctx.Err() == context.DeadlineExceeded {
		reason = fmt.Sprintf("took longer than %g s (%s)", u.o.Timeout.Seconds(), variableTimeout)
	}
	u.log.Warn(fmt.Sprintf("Weights & Biases: %s %s; %s", u.service.base, reason, text))
}

// keep writes the run for "wandb sync", and logs one line about it.
func (u *uploading) keep(ctx context.Context) {
	dir, n, err := u.write(ctx)
	switch {
	case ctx.Err() != nil:
		u.log.Warn(fmt.Sprintf("Weights & Biases: the run for \"wandb sync\" was not written within %g s (%s)",
			u.o.Timeout.Seconds(), variableTimeout))
	case err != nil:
		u.log.Warn("Weights & Biases: the run for \"wandb sync\" cannot be written: " +
			upload.OneLine(u.o.Redactor.Text(err.Error())))
	default:
		u.log.Info(fmt.Sprintf("Weights & Biases: wrote the results and the names of %d files; upload them with: "+
			"wandb sync %s", n, dir))
	}
}

// send makes the requests and returns the number of files. With a problem, it says what is missing.
func (u *uploading) send(ctx context.Context) (files int, missing string, p *upload.Problem) {
	const nothing = "nothing was uploaded"
	settings, err := artifact.AppendJSON(nil, config(u.bench, u.o.Redactor))
	if err != nil {
		return 0, nothing, u.unsent("configuration", err)
	}
	id := token(runID)
	variables := map[string]any{"name": id, "project": u.o.Project, "displayName": u.bench.UploadName(u.o.RunName),
		"config": string(settings), "program": program, "tags": tags(u.bench, u.o.Tags)}
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
	if lost != nil && (lost.Kind == upload.Hung || lost.Kind == upload.Unreachable) {
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
func (u *uploading) results(ctx context.Context, settings []byte) (end func() *upload.Problem, p *upload.Problem) {
	r, err := u.newResults(u.run.Name)
	if err != nil {
		return nil, u.unsent("results", err)
	}
	if p := u.service.putArtifact(ctx, &u.run, r.table); p != nil {
		return nil, p
	}
	history, err := artifact.AppendJSON(nil, r.history)
	if err != nil {
		return nil, u.unsent("results", err)
	}
	final, err := artifact.AppendJSON(nil, r.summary)
	if err != nil {
		return nil, u.unsent("results", err)
	}
	about, err := artifact.AppendIndented(nil, artifact.Object{{Key: "program", Value: program},
		{Key: "startedAt", Value: u.start.UTC().Format(time.RFC3339Nano)}, {Key: "os", Value: runtime.GOOS},
		{Key: "cpu_arch", Value: runtime.GOARCH}})
	if err != nil {
		return nil, u.unsent("results", err)
	}
	// The configuration is JSON, which is YAML too.
	files := []content{inMemory("wandb-summary.json", final), inMemory("config.yaml", settings),
		inMemory("wandb-metadata.json", about), r.media}
	if p := u.service.putRunFiles(ctx, &u.run, files); p != nil {
		return nil, p
	}
	var names []string
	for i := range files {
		names = append(names, files[i].name)
	}
	return func() *upload.Problem {
		return u.service.stream(ctx, &u.run, string(history), string(final), names, u.exitCode())
	}, nil
}

// files uploads the files of the run's folder as an artifact.
func (u *uploading) files(ctx context.Context) (int, *upload.Problem) {
	a, err := u.bundle(ctx, u.run.Name)
	switch {
	case ctx.Err() != nil:
		return 0, upload.NoAnswer()
	case err != nil:
		return 0, u.unsent("files", err)
	case len(a.files) == 0:
		return 0, nil
	}
	return len(a.files), u.service.putArtifact(ctx, &u.run, a)
}

// unsent returns the problem of what cannot be read or written here.
func (u *uploading) unsent(what string, err error) *upload.Problem {
	return &upload.Problem{Text: "cannot be sent the " + what + ": " + upload.OneLine(u.service.Redact(err.Error())),
		Kind: upload.Refused}
}

// page returns the address of the run's page.
func (u *uploading) page() string {
	return u.o.Environment.app() + "/" + url.PathEscape(u.run.Project.Entity.Name) + "/" +
		url.PathEscape(u.run.Project.Name) + "/runs/" + url.PathEscape(u.run.Name)
}

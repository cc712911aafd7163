package look

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/config/env"
	"aiperf/internal/config/parse"
	"aiperf/internal/publish/mlflow"
)

// plotUpload is where plots are uploaded to.
type plotUpload struct{ mlflow.Attachment }

// findUpload returns where --mlflow-upload sends the plots: to the run of the flags, else to that of the folder's
// mlflow_export.json.
func findUpload(e *command.Env, o *plotOptions) (*plotUpload, error) {
	if len(o.Paths) != 1 {
		return nil, fmt.Errorf("--mlflow-upload takes one folder, not %d: the plots belong to one MLflow run", len(o.Paths))
	}
	name := config.Artifacts{}.Name(config.MLflowJSON)
	target, err := mlflow.FindTarget(o.Paths[0], name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (o.trackingURI == "" || o.runID == ""):
		return nil, fmt.Errorf("%s has no %s, which names the MLflow run of a benchmark: give --mlflow-tracking-uri and "+
			"--mlflow-run-id", o.Paths[0], name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if o.trackingURI != "" {
		target.URI = o.trackingURI
	}
	if o.runID != "" {
		target.RunID = o.runID
	}
	if strings.Contains(target.URI, artifact.Redacted) {
		return nil, fmt.Errorf("the address in %s is without its secret: give --mlflow-tracking-uri", name)
	}
	if target.RunID == "" {
		return nil, fmt.Errorf("%s names no run: give --mlflow-run-id", name)
	}
	u, err := parse.MLflowURI(target.URI)
	if err != nil {
		return nil, fmt.Errorf("--mlflow-tracking-uri: %w", err)
	}
	environment, err := mlflow.ReadEnvironment(e.LookupEnv)
	if err != nil {
		return nil, err
	}
	values, _, err := env.Read(e.LookupEnv)
	if err != nil {
		return nil, err
	}
	return &plotUpload{mlflow.Attachment{URI: u, RunID: target.RunID, Environment: environment, Version: command.Version,
		Timeout: values.MLflow.Timeout}}, nil
}

// uploadPlots uploads the files of plots and says where they are.
func uploadPlots(e *command.Env, u *plotUpload, files []string) error {
	if len(files) == 0 {
		fmt.Fprintln(e.Terminal.Out, "No plot was drawn: nothing is uploaded to MLflow")
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	page, err := u.Upload(ctx, files)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Terminal.Out, "Uploaded %d %s to the MLflow run %s: %s\n", len(files),
		command.Plural(len(files), "file", "files"), u.RunID, page)
	return nil
}

package look

import (
	"errors"
	"fmt"
	"strconv"

	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config/flags"
)

const plotHelp = `Usage: aiperf plot [DIR …] [options]

Draws finished runs as pictures: a single run over its time, several runs against one another. DIR is the folder of a
run or one that holds such folders; default: ./artifacts. Of a sweep with trials the means of the trials are drawn; give
its folder profile_runs to draw each of them. Results of other tools are runs, too: aiperf docs other-results lists
them.

Which plots are drawn and how is said by a configuration file: that of --config, else .aiperf-plot-config.yaml in a
folder that was given, else ~/.aiperf/plot_config.yaml, which is made on first use. Plots whose data a run lacks are
left out and named.

Options:
`

type plotOptions struct {
	show.Plots
	empty, dashboard   bool
	host               string
	port               int
	upload             bool
	trackingURI, runID string
}

func (o *plotOptions) table() *flags.Table {
	either := func(name, help string, on *bool) flags.Flag {
		return flags.Flag{Name: name, Negation: "no-" + name, Help: help, Set: flags.Bool(on)}
	}
	return &flags.Table{Command: "plot", Page: "plots", Examples: []flags.Example{
		{For: "all runs of ./artifacts", Command: "aiperf plot"},
		{For: "the curve of a sweep of GuideLLM", Command: "aiperf plot benchmarks.json --output plots"},
		{For: "two runs, as SVG", Command: "aiperf plot artifacts/A artifacts/B --format svg --output plots"},
	},
		About: plotHelp, Flags: []flags.Flag{
			flags.Value("paths", "DIR", "the same as DIR; may be repeated", flags.Texts(&o.Paths)),
			flags.Switch("empty-paths", "no path at all", &o.empty),
			flags.Value("output", "DIR", "where the files go; default: plots in the first DIR", flags.Text(&o.Output)),
			flags.Choice("theme", "NAME", "light or dark; default: light", &o.Theme, "light", "dark"),
			flags.Value("config", "FILE", "the plot configuration", flags.Text(&o.File)),
			flags.Value("format", "LIST", "what to write: png, svg, html; default: all", o.SetFormats),
			flags.Value("html-export", "FILE", "where the page with all figures goes; default: plots.html beside the plots",
				flags.Text(&o.Page)),
			either("verbose", "show each line of the log", &o.Verbose),
			either("dashboard", "show the runs in the browser instead of drawing pictures", &o.dashboard),
			flags.Value("host", "ADDR", "address of the dashboard; default: 127.0.0.1", flags.Text(&o.host)),
			flags.Value("port", "N", "port of the dashboard; 0 takes a free one and prints it; default: 8050", o.setPort),
			either("mlflow-upload", "upload the plots to the MLflow run of the benchmark; takes one DIR",
				&o.upload),
			flags.Value("mlflow-tracking-uri", "URL", "the MLflow server; default: that of DIR/mlflow_export.json",
				flags.Text(&o.trackingURI)),
			flags.Value("mlflow-run-id", "ID", "the MLflow run; default: that of DIR/mlflow_export.json", flags.Text(&o.runID)),
		}}
}

func (o *plotOptions) setPort(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is no port (0 to 65535)", text)
	}
	o.port = n
	return nil
}

func newPlotOptions() plotOptions {
	return plotOptions{Plots: show.NewPlots(), host: "127.0.0.1", port: 8050}
}

// defaultResults is the folder that is looked at unless one is named.
const defaultResults = "artifacts"

// runPlot draws finished runs.
func runPlot(e *command.Env, args []string) error {
	o := newPlotOptions()
	paths, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	switch o.Paths = append(paths, o.Paths...); {
	case o.empty && len(o.Paths) > 0:
		return errors.New("--empty-paths and a path cannot be used together")
	case len(o.Paths) == 0:
		o.Paths = []string{defaultResults}
	}
	if o.dashboard {
		if o.upload {
			return errors.New("--dashboard and --mlflow-upload cannot be used together: the dashboard writes no file")
		}
		t := e.Terminal // without one nobody sits before a browser
		return serveRuns(e, o.Paths, browseOptions{host: o.host, port: o.port, theme: o.Theme, open: t.OutTTY && !t.CI,
			dashboard: true})
	}
	var upload *plotUpload
	if o.upload {
		var err error
		if upload, err = findUpload(e, &o); err != nil {
			return err
		}
	} else if o.trackingURI != "" || o.runID != "" {
		return errors.New("--mlflow-tracking-uri and --mlflow-run-id can only be used together with " +
			"--mlflow-upload")
	}
	files, err := show.Draw(e, &o.Plots)
	if err == nil && upload != nil {
		err = uploadPlots(e, upload, files)
	}
	return err
}

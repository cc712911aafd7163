package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/config/flags"
	"aiperf/internal/result/chart"
	"aiperf/internal/result/plot"
)

const plotHelp = `Usage: aiperf plot [DIR …] [options]

Draws finished runs as pictures: a single run over its time, several runs against one another. DIR is the folder of a
run or one that holds such folders; default: ./artifacts. Of a sweep with trials the means of the trials are drawn; give
its folder profile_runs to draw each of them.

Which plots are drawn and how is said by a configuration file: that of --config, else .aiperf-plot-config.yaml in a
folder that was given, else ~/.aiperf/plot_config.yaml, which is made on first use. Plots whose data a run lacks are
left out and named.

Options:
`

type plotOptions struct {
	paths []string
	// automatic reports that the plots are those of --auto-plot.
	automatic           bool
	empty, verbose      bool
	output, theme, file string
	formats             []string
	page                string
	dashboard           bool
	host                string
	port                int
	upload              bool
	trackingURI, runID  string
}

func (o *plotOptions) table() *flags.Table {
	either := func(name, help string, on *bool) flags.Flag {
		return flags.Flag{Name: name, Negation: "no-" + name, Help: help, Set: flags.Bool(on)}
	}
	return &flags.Table{Command: "plot", About: plotHelp, Flags: []flags.Flag{
		flags.Value("paths", "DIR", "the same as DIR; may be repeated", flags.Texts(&o.paths)),
		flags.Switch("empty-paths", "no path at all", &o.empty),
		flags.Value("output", "DIR", "where the files go; default: plots in the first DIR", flags.Text(&o.output)),
		flags.Choice("theme", "NAME", "light or dark; default: light", &o.theme, "light", "dark"),
		flags.Value("config", "FILE", "the plot configuration", flags.Text(&o.file)),
		flags.Value("format", "LIST", "what to write: png, svg, html; default: all", o.setFormats),
		flags.Value("html-export", "FILE", "where the page with all figures goes; default: plots.html beside the plots",
			flags.Text(&o.page)),
		either("verbose", "show each line of the log", &o.verbose),
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

func (o *plotOptions) setFormats(text string) error {
	o.formats = nil
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(plot.Formats(), name) {
			return fmt.Errorf("%q is no format: %s", name, strings.Join(plot.Formats(), ", "))
		}
		if !slices.Contains(o.formats, name) {
			o.formats = append(o.formats, name)
		}
	}
	if o.formats == nil {
		return fmt.Errorf("name at least one of %s", strings.Join(plot.Formats(), ", "))
	}
	return nil
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
	return plotOptions{theme: "light", host: "127.0.0.1", port: 8050, formats: plot.Formats()}
}

// defaultResults is the folder that is looked at unless one is named.
const defaultResults = "artifacts"

// plot draws finished runs.
func (a *app) plot(args []string) int {
	o := newPlotOptions()
	paths, code, done := a.parse(o.table(), args)
	if done {
		return code
	}
	switch o.paths = append(paths, o.paths...); {
	case o.empty && len(o.paths) > 0:
		return a.fail(errors.New("--empty-paths and a path cannot be used together"))
	case len(o.paths) == 0:
		o.paths = []string{defaultResults}
	}
	if o.dashboard {
		if o.upload {
			return a.fail(errors.New("--dashboard and --mlflow-upload cannot be used together: the dashboard writes no file"))
		}
		t := a.terminal // without one nobody sits before a browser
		return a.browse(o.paths, browseOptions{host: o.host, port: o.port, theme: o.theme, open: t.outTTY && !t.ci,
			dashboard: true})
	}
	var upload *plotUpload
	if o.upload {
		var err error
		if upload, err = a.plotUpload(&o); err != nil {
			return a.fail(err)
		}
	} else if o.trackingURI != "" || o.runID != "" {
		return a.fail(errors.New("--mlflow-tracking-uri and --mlflow-run-id can only be used together with " +
			"--mlflow-upload"))
	}
	files, err := a.draw(&o)
	if err == nil && upload != nil {
		err = a.uploadPlots(upload, files)
	}
	if err != nil {
		return a.fail(err)
	}
	return ExitOK
}

// foundRuns is the line that scripts read to learn how many runs are plotted, in the words of the original.
const foundRuns = "Found %d unique run directories"

// draw draws the plots of runs, says where they are, and returns the files of the plots.
func (a *app) draw(o *plotOptions) ([]string, error) {
	t := a.terminal
	source := plot.FindConfig(o.file, o.paths, a.plotHome(), !o.automatic)
	made, log, err := a.makePlots(o, source)
	if err != nil {
		return nil, err
	}
	if source.Created {
		fmt.Fprintf(t.out, "Created plot configuration: %s\n  Edit this file to change the plots of later calls.\n",
			source.Path)
	} else if source.Path != "" {
		fmt.Fprintln(t.out, "Using config: "+source.Path)
	}
	if source.Problem != nil {
		fmt.Fprintln(t.err, "Warning: no plot configuration of your own could be made: "+source.Problem.Error())
	}
	out := plot.Output{Dir: o.output, Formats: o.formats, Size: chart.DefaultSize(), Page: o.page, Version: Version,
		Now: time.Now}
	if o.theme == "dark" {
		out.Theme = chart.Dark
	}
	files, err := plot.Write(made, out)
	for _, path := range files {
		log.Add("INFO", "wrote %s", path)
	}
	logPath := filepath.Join(o.output, plot.LogName)
	if err := errors.Join(err, log.Write(logPath)); err != nil {
		return nil, err
	}
	for _, w := range made.Warnings {
		fmt.Fprintln(t.err, "Warning: "+w)
	}
	for _, s := range made.Skipped {
		fmt.Fprintf(t.out, "Not drawn: %s: %s\n", s.Name, s.Reason)
	}
	fmt.Fprintf(t.out, foundRuns+"\n", len(made.Runs))
	fmt.Fprintf(t.out, "\nSaved %d %s to: %s\nLogs: %s\n", len(made.Figures), plural(len(made.Figures), "plot", "plots"),
		o.output, logPath)
	return files, nil
}

// plotHome returns the folder of the user's plot configuration, "" if it is not known.
func (a *app) plotHome() string {
	home, _ := a.env("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".aiperf")
}

// makePlots computes the plots, and sets the folder of the output if it is not given.
func (a *app) makePlots(o *plotOptions, source plot.ConfigSource) (*plot.Made, *plot.Log, error) {
	if o.output == "" {
		o.output = filepath.Join(o.paths[0], "plots")
	}
	log := plot.NewLog(time.Now)
	if o.verbose {
		log.Also = a.terminal.err
	}
	config, err := plot.ReadConfig(source.Path)
	if err != nil {
		return nil, nil, err
	}
	found, err := plot.Find(o.paths)
	if err != nil {
		return nil, nil, err
	}
	log.Add("INFO", foundRuns, found.Len())
	for _, path := range found.Paths() {
		log.Add("INFO", "run %s", path)
	}
	made, err := plot.Make(found, config)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range made.Warnings {
		log.Add("WARNING", "%s", w)
	}
	for _, s := range made.Skipped {
		level := "INFO"
		if s.Failed {
			level = "ERROR"
		}
		log.Add(level, "%s is not drawn: %s", s.Name, s.Reason)
	}
	return made, log, nil
}

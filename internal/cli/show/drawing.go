package show

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/cli/command"
	"aiperf/internal/result/chart"
	"aiperf/internal/result/foreign"
	"aiperf/internal/result/plot"
)

// Plots says which runs are drawn and how.
type Plots struct {
	Paths []string
	// Automatic reports that the plots are those of --auto-plot.
	Automatic, Verbose        bool
	Output, Theme, File, Page string
	formats                   []string
}

// NewPlots returns what is drawn unless it is said otherwise.
func NewPlots() Plots { return Plots{Theme: "light", formats: plot.Formats()} }

// SetFormats reads a list of formats.
func (o *Plots) SetFormats(text string) error {
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

// foundRuns is the line that scripts read to learn how many runs are plotted, in the words of the original.
const foundRuns = "Found %d unique run directories"

// Draw draws the plots of runs, says where they are, and returns the files of the plots.
func Draw(e *command.Env, o *Plots) ([]string, error) {
	t := e.Terminal
	source := plot.FindConfig(o.File, o.Paths, plotHome(e), !o.Automatic)
	made, log, err := makePlots(e, o, source)
	if err != nil {
		return nil, err
	}
	if source.Created {
		fmt.Fprintf(t.Out, "Created plot configuration: %s\n  Edit this file to change the plots of later calls.\n",
			source.Path)
	} else if source.Path != "" {
		fmt.Fprintln(t.Out, "Using config: "+source.Path)
	}
	if source.Problem != nil {
		fmt.Fprintln(t.Err, "Warning: no plot configuration of your own could be made: "+source.Problem.Error())
	}
	out := plot.Output{Dir: o.Output, Formats: o.formats, Size: chart.DefaultSize(), Page: o.Page,
		Version: command.Version, Now: time.Now}
	if o.Theme == "dark" {
		out.Theme = chart.Dark
	}
	files, err := plot.Write(made, out)
	for _, path := range files {
		log.Add("INFO", "wrote %s", path)
	}
	logPath := filepath.Join(o.Output, plot.LogName)
	if err := errors.Join(err, log.Write(logPath)); err != nil {
		return nil, err
	}
	for _, w := range made.Warnings {
		fmt.Fprintln(t.Err, "Warning: "+w)
	}
	for _, s := range made.Skipped {
		fmt.Fprintf(t.Out, "Not drawn: %s: %s\n", s.Name, s.Reason)
	}
	fmt.Fprintf(t.Out, foundRuns+"\n", len(made.Runs))
	fmt.Fprintf(t.Out, "\nSaved %d %s to: %s\nLogs: %s\n", len(made.Figures),
		command.Plural(len(made.Figures), "plot", "plots"), o.Output, logPath)
	return files, nil
}

// plotHome returns the folder of the user's plot configuration, "" if it is not known.
func plotHome(e *command.Env) string {
	home, _ := e.LookupEnv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".aiperf")
}

// makePlots computes the plots, and sets the folder of the output if it is not given.
func makePlots(e *command.Env, o *Plots, source plot.ConfigSource) (*plot.Made, *plot.Log, error) {
	if o.Output == "" {
		dir := o.Paths[0]
		if foreign.Is(dir) {
			dir = filepath.Dir(dir)
		}
		o.Output = filepath.Join(dir, "plots")
	}
	log := plot.NewLog(time.Now)
	if o.Verbose {
		log.Also = e.Terminal.Err
	}
	config, err := plot.ReadConfig(source.Path)
	if err != nil {
		return nil, nil, err
	}
	found, err := plot.Find(o.Paths)
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

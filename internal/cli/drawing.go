package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/result/chart"
	"aiperf/internal/result/plot"
)

// plotting says which runs are drawn and how.
type plotting struct {
	paths []string
	// automatic reports that the plots are those of --auto-plot.
	automatic, verbose        bool
	output, theme, file, page string
	formats                   []string
}

// newPlotting returns what is drawn unless it is said otherwise.
func newPlotting() plotting { return plotting{theme: "light", formats: plot.Formats()} }

// setFormats reads a list of formats.
func (o *plotting) setFormats(text string) error {
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

// draw draws the plots of runs, says where they are, and returns the files of the plots.
func (a *app) draw(o *plotting) ([]string, error) {
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
func (a *app) makePlots(o *plotting, source plot.ConfigSource) (*plot.Made, *plot.Log, error) {
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

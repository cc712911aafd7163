package benchmark

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/settings"
	"aiperf/internal/result/plot"
)

// plotSection is the part of a configuration file about plots.
type plotSection struct {
	// node is what the section says, nil for none; path is a configuration of its own that it names.
	node *document.Node
	path string
}

// readPlots reads the section of a configuration file about plots, so that what is wrong shows before the load.
func readPlots(source *file.Source) (*plotSection, error) {
	n := source.Raw.Get("plot")
	if n == nil || n.Kind == document.Null {
		return nil, nil
	}
	if n.Kind == document.Text {
		path := n.Written
		if !filepath.IsAbs(path) && source.Name != "-" {
			path = filepath.Join(filepath.Dir(source.Name), path)
		}
		if _, err := plot.ReadConfig(path); err != nil {
			return nil, fmt.Errorf("%s:%d:%d: plot: %w", source.Name, n.Pos.Line, n.Pos.Column, err)
		}
		return &plotSection{path: path}, nil
	}
	if _, err := plot.ParseEnvelope(source.File, n); err != nil {
		return nil, err
	}
	return &plotSection{node: n}, nil
}

// wantsPlots reports whether plots are drawn at the end: if --auto-plot says so, else if the file has a section about
// them or they are required, else if the recipe is about a curve.
func (e *experiment) wantsPlots(s *settings.Settings) bool {
	if s.Given("auto-plot") {
		return s.Bool("auto-plot")
	}
	return e.plots != nil || e.curve || s.Bool("plot-required")
}

// checkPlots returns an error for flags that contradict each other.
func checkPlots(s *settings.Settings) error {
	if s.Bool("plot-required") && s.Given("auto-plot") && !s.Bool("auto-plot") {
		return fmt.Errorf("%s and %s cannot be used together", s.Flag("plot-required"), s.Flag("auto-plot"))
	}
	return nil
}

// autoPlot draws the plots of what was measured, if that is asked for and there is something to draw, and returns the
// exit code. A failure is a warning unless plots are required.
func (b *bench) autoPlot(e *experiment, cfg *config.Run, code int, log *slog.Logger) int {
	several := e.plan != nil || cfg.Several()
	measured := code == command.ExitOK || code == command.ExitThreshold || code == command.ExitNotValid
	if !e.wantsPlots(cfg.Asked) || b.interrupts.stopped() || !measured && !several {
		return code
	}
	dir := cfg.Artifacts.Dir
	o := show.NewPlots()
	o.Paths, o.Output, o.Automatic = []string{dir}, filepath.Join(dir, "plots"), true
	err := e.savePlots(dir)
	if err == nil {
		_, err = show.Draw(b.Env, &o)
	}
	if err == nil {
		return code
	}
	var none *plot.NoRunsError
	if !measured && errors.As(err, &none) {
		return code // what failed was said
	}
	again := "aiperf plot " + dir
	text := fmt.Sprintf("the plots of %s could not be drawn: %v (log: %s; to try again: %s)", dir, err,
		filepath.Join(o.Output, plot.LogName), again)
	if !cfg.Asked.Bool("plot-required") {
		log.Warn(text)
		return code
	}
	if failed := b.fail(errors.New(text)); code == command.ExitOK {
		return failed
	}
	return code
}

// savePlots writes the configuration of the plots into the folder of the results, where aiperf plot finds it.
func (e *experiment) savePlots(dir string) error {
	if e.plots == nil {
		return nil
	}
	text := []byte(nil)
	if e.plots.node != nil {
		text = document.AppendYAML(nil, e.plots.node, 0)
	} else {
		var err error
		if text, err = bounded.ReadFile(e.plots.path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return artifact.WriteFile(filepath.Join(dir, plot.FolderConfig), text)
}

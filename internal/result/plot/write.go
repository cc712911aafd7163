package plot

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"embed"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/base/webpage"
	"aiperf/internal/result/chart"
)

// Formats are what plots can be written as.
func Formats() []string { return []string{"png", "svg", "html"} }

// The names of the files beside the plots.
const (
	LogName     = "aiperf_plot.log"
	SummaryName = "summary.txt"
	PageName    = "plots.html"
)

// Output says where plots go and how they look.
type Output struct {
	Dir     string
	Theme   chart.Theme
	Formats []string
	Size    chart.Size
	// Page is where the page goes; "" is PageName in Dir.
	Page string
	// Version is that of the program.
	Version string
	// Now is the time of the log's lines.
	Now func() time.Time
}

// Log is the log of a call: lines with their time and level.
type Log struct {
	now  func() time.Time
	text bytes.Buffer
	// Also gets every line too; nil for none.
	Also io.Writer
}

// NewLog returns a log.
func NewLog(now func() time.Time) *Log { return &Log{now: now} }

// Add adds a line.
func (l *Log) Add(level, format string, args ...any) {
	line := fmt.Sprintf("%s %-7s %s\n", l.now().Format("2006-01-02 15:04:05.000"), level,
		terminal.Text(fmt.Sprintf(format, args...)))
	l.text.WriteString(line)
	if l.Also != nil {
		io.WriteString(l.Also, line)
	}
}

// Write writes the log.
func (l *Log) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return artifact.WriteFile(path, l.text.Bytes())
}

// Write writes the plots: pictures, a page with all of them, a list. It returns the files of the plots, by their names.
// A picture that cannot be written ends it.
func Write(made *Made, o Output) ([]string, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	var files []string
	var tasks []func() error
	for i := range made.Figures {
		f := &made.Figures[i]
		for _, format := range o.Formats {
			path := filepath.Join(o.Dir, f.Name+"."+format)
			draw := f.Chart.PNG
			if format == "svg" {
				draw = f.Chart.SVG
			} else if format != "png" {
				continue
			}
			files = append(files, path)
			tasks = append(tasks, func() error {
				return artifact.WriteStream(path, func(w *bufio.Writer) error { return draw(w, o.Theme, o.Size) })
			})
		}
	}
	if o.Page == "" {
		o.Page = filepath.Join(o.Dir, PageName)
	}
	if slices.Contains(o.Formats, "html") && len(made.Figures) > 0 {
		files = append(files, o.Page)
		tasks = append(tasks, func() error {
			return artifact.WriteStream(o.Page, func(w *bufio.Writer) error { return writePage(w, made, o) })
		})
	}
	if err := all(tasks); err != nil {
		return nil, err
	}
	return files, artifact.WriteFile(filepath.Join(o.Dir, SummaryName), summaryText(made, o, files))
}

// all runs tasks at the same time and returns the first error, by their order.
func all(tasks []func() error) error {
	errs := make([]error, len(tasks))
	var group sync.WaitGroup
	limit := make(chan struct{}, 4)
	for i, task := range tasks {
		group.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			errs[i] = task()
		})
	}
	group.Wait()
	return cmp.Or(errs...)
}

// summaryText is the list of what was made.
func summaryText(made *Made, o Output, files []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Plots of %d %s\n\n", len(made.Runs), plural(len(made.Runs), "run", "runs"))
	fmt.Fprintf(&b, "Generated %d %s:\n\n", len(made.Figures), plural(len(made.Figures), "plot", "plots"))
	for _, f := range made.Figures {
		var names []string
		for _, path := range files {
			if name := filepath.Base(path); strings.TrimSuffix(name, filepath.Ext(name)) == f.Name {
				names = append(names, name)
			}
		}
		fmt.Fprintf(&b, "  - %s: %s\n", strings.Join(names, ", "), f.Chart.Title)
	}
	if len(made.Skipped) > 0 {
		b.WriteString("\nNot drawn:\n\n")
		for _, s := range made.Skipped {
			fmt.Fprintf(&b, "  - %s: %s\n", s.Name, terminal.Text(s.Reason))
		}
	}
	if len(made.Warnings) > 0 {
		b.WriteString("\nWarnings:\n\n")
		for _, w := range made.Warnings {
			fmt.Fprintf(&b, "  - %s\n", terminal.Text(w))
		}
	}
	b.WriteString("\nRuns:\n\n")
	for _, path := range made.Runs {
		fmt.Fprintf(&b, "  - %s\n", terminal.Text(path))
	}
	fmt.Fprintf(&b, "\nOutput directory: %s\n", terminal.Text(o.Dir))
	return b.Bytes()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

//go:embed page.html page.css
var pageFiles embed.FS

// pageFigure is a figure on the page.
type pageFigure struct {
	Name, Title, About string
	Image              template.URL
}

// writePage writes the page with all figures. It holds all that it needs.
func writePage(w io.Writer, made *Made, o Output) error {
	frame, err := webpage.New(webpage.Content{Style: webpage.Text(pageFiles, "page.css")})
	if err != nil {
		return err
	}
	frame.Allow("img-src data:")
	view := struct {
		webpage.Frame
		Figures        []pageFigure
		Skipped        []Skipped
		Warnings, Runs []string
	}{Frame: frame, Skipped: made.Skipped, Warnings: made.Warnings, Runs: made.Runs}
	view.Version, view.Theme, view.Skip = o.Version, "light", "figures"
	view.Title = fmt.Sprintf("%d %s", len(made.Runs), plural(len(made.Runs), "run", "runs"))
	if len(made.Runs) == 1 {
		view.Title = filepath.Base(made.Runs[0])
	}
	if o.Theme == chart.Dark {
		view.Theme = "dark"
	}
	for _, f := range made.Figures {
		var picture bytes.Buffer
		if err := f.Chart.Scene(o.Theme, o.Size, false).WriteSVG(&picture); err != nil {
			return err
		}
		view.Figures = append(view.Figures, pageFigure{f.Name, f.Chart.Title, f.Description,
			template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(picture.Bytes()))})
	}
	return webpage.Execute(w, pageFiles, "page.html", nil, view)
}

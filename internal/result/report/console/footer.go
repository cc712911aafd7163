package console

import (
	"path/filepath"
	"strconv"

	"aiperf/internal/result/summary"
)

// notes appends lines of text after an empty one.
func (p *page) notes(lines []string) {
	if len(lines) > 0 {
		p.blank(1)
	}
	for _, text := range lines {
		for _, line := range wrap(safe(text), p.width) {
			p.line(span{line, plain})
		}
	}
}

// footer appends the command, the duration and the files of the run. Its lines are never wrapped, so
// that paths and the command can be copied.
func (p *page) footer(r *summary.Result, files *Files) {
	p.blank(1)
	p.fact("CLI Command", safe(r.RunInfo.CLICommand))
	if seconds, ok := duration(r); ok {
		text := strconv.FormatFloat(seconds, 'f', 2, 64) + " sec"
		if r.WarmupEndedEarly != nil {
			p.remark("The warm-up ended early: "+safe(r.WarmupEndedEarly.String()), plain)
		}
		if r.EndedEarly != nil {
			p.remark("The run ended early: "+safe(r.EndedEarly.String()), plain)
		}
		if r.WasCancelled {
			text += " (cancelled early)"
		}
		p.fact("Benchmark Duration", text)
	}
	if share, by, ok := promptCache(r); ok {
		p.fact("Prompt Cache", oneDecimal(share)+"% of the prompt tokens came from the server's cache"+by)
	}
	for _, f := range [...]struct{ label, path string }{
		{"CSV Export", files.CSV},
		{"JSON Export", files.JSON},
		{"HTML Report", files.HTML},
		{"Records Parquet", files.Parquet},
		{"Raw Records", files.Raw},
		{"Outputs JSON", files.Outputs},
		{"Server Metrics CSV Export", files.ServerMetricsCSV},
		{"Server Metrics JSON Export", files.ServerMetricsJSON},
		{"Timeslice CSV Export", files.TimesliceCSV},
		{"Timeslice JSON Export", files.TimesliceJSON},
		{"Log File", files.LogFile},
	} {
		p.fact(f.label, absolute(f.path))
	}
	if r.Incomplete != "" {
		p.remark("The run is incomplete: "+safe(r.Incomplete), yellow)
	}
	if r.WasCancelled {
		p.remark("The run was cancelled early; the results may be incomplete.", yellow)
	}
	p.blank(1)
}

func (p *page) fact(name, text string) {
	if text != "" {
		p.line(span{name + ":", label}, span{" " + text, plain})
	}
}

// duration is the measured one; a run without a single valid request has only its phase to go by.
func duration(r *summary.Result) (seconds float64, ok bool) {
	if v, ok := r.Value("benchmark_duration"); ok {
		return v, true
	}
	return float64(r.EndNS-r.StartNS) / 1e9, r.StartNS != 0 && r.EndNS > r.StartNS
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

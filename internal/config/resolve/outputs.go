package resolve

import (
	"fmt"
	"path/filepath"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
)

// outputs decides which files are written and what is shown.
type outputs struct {
	*asked
	endpoint *endpoint
	timing   *timing
}

func (op *outputs) artifacts() config.Artifacts {
	p := op.p
	a := config.Artifacts{
		Dir:             p.ArtifactDir.Get(),
		ExportLevel:     p.ExportLevel.Get(),
		HTTPTrace:       p.ExportHTTPTrace.Get(),
		ShowTraceTiming: p.ShowTraceTiming.Get(),
		RecordsCompress: p.RecordsCompress.Get(),
		RecordsParquet:  p.ExportRecordsParquet.Get(),
		HTMLReport:      p.HTMLReport.Get() || op.p.Web.Given(),
		NoSummaryJSON:   p.ExportSummary.IsSet() && !p.ExportSummary.Get(),
		Outputs: p.ExportOutputsJSON.Get() || !p.ExportOutputsJSON.Given() &&
			p.ExportLevel.Get() == "raw",
	}
	a.UserFiles, _ = p.UserFiles.Value().([]document.UserFile)
	a.Variables = p.TemplateVariables.Get()
	if s := p.SliceDuration.Pointer(); s != nil {
		a.SliceDuration = max(1, option.Seconds(*s))
	}
	a.Percentiles, _ = parse.Percentiles(p.Percentiles.Get()) // checked before
	if a.Dir == "" {
		a.Dir, a.Derived = op.artifactDir(), !p.Overwrite.Get()
	} else {
		a.Dir = filepath.Clean(a.Dir)
	}
	if p.ProfileExportPrefix.Given() {
		a.Prefix = config.PrefixStem(p.ProfileExportPrefix.Get())
	}
	return a
}

// artifactDir is the default folder of a run.
func (op *outputs) artifactDir() string {
	model := op.endpoint.models[0]
	if len(op.endpoint.models) > 1 {
		model += "_multi"
	}
	model = strings.ReplaceAll(model, "/", "_")
	return filepath.Join("artifacts", fmt.Sprintf("%s-openai-%s-%s", model, op.endpoint.endpointType, op.stimulus()))
}

// stimulus names the load in the folder's name.
func (op *outputs) stimulus() string {
	if op.p.Stimulus != "" {
		return op.p.Stimulus
	}
	switch op.timing.mode {
	case config.FixedSchedule:
		return "fixed_schedule"
	case config.UserCentric:
		return fmt.Sprintf("user_centric-users%d-qps%s", op.p.NumUsers.Get(), option.FormatFloat(op.p.UserCentricRate.Get()))
	}
	var parts []string
	if list := op.p.Concurrency.Swept(); list != nil {
		name := "concurrency_sweep"
		for _, v := range list {
			name += fmt.Sprintf("_%d", v)
		}
		parts = append(parts, name)
	} else if op.timing.concurrency != nil {
		parts = append(parts, fmt.Sprintf("concurrency%d", *op.timing.concurrency))
	}
	if op.timing.rate != nil {
		parts = append(parts, "request_rate"+option.FormatFloat(*op.timing.rate))
	}
	if op.timing.series != nil {
		parts = append(parts, "request_rate_series")
	}
	if len(parts) == 0 && op.timing.prefill != nil {
		parts = append(parts, fmt.Sprintf("prefill_concurrency%d", *op.timing.prefill))
	}
	return strings.Join(parts, "-")
}

func (op *outputs) ui() config.UI {
	return config.UI{
		Mode:          op.p.UI.Get(),
		Verbose:       op.p.Verbose.Get() || op.p.ExtraVerbose.Get(),
		Report:        op.p.Report.Get(),
		StatsInterval: durationOf(op.p.StatsInterval.Pointer()),
	}
}

func (op *outputs) logLevel() string {
	switch {
	case op.p.ExtraVerbose.Get():
		return "TRACE"
	case op.p.Verbose.Get():
		return "DEBUG"
	}
	return op.p.LogLevel.Get()
}

func (op *outputs) checkGoodput() {
	if !op.p.Goodput.Given() {
		return
	}
	slos, err := parse.SLOs(op.p.Goodput.Get(), op.catalog.Metric)
	if err != nil {
		op.fault("V9", "%s: %v", op.p.Goodput.Flag(), err)
	}
	for _, slo := range slos {
		facts, known := op.catalog.Metric(slo.Tag)
		switch {
		case !known:
			hint := ""
			if near := suggest.Nearest(slo.Tag, op.catalog.MetricTags()); near != "" {
				hint = "; did you mean " + near + "?"
			}
			op.fault("V9", "%s: unknown metric tag %s%s", op.p.Goodput.Flag(), fault.Shorten(slo.Tag), hint)
		case facts.Derived:
			op.fault("V9", "%s: %s is a derived metric and cannot be used; use a per-record metric such as "+
				"request_latency", op.p.Goodput.Flag(), slo.Tag)
		}
	}
}

// checkResults checks what is asked of the results.
func (op *outputs) checkResults() {
	if active(&op.p.ExportRecordsParquet) && op.p.ExportLevel.Get() == "summary" {
		op.fault("", "%s and %s summary cannot be used together: that level keeps no records",
			op.p.ExportRecordsParquet.Flag(), op.p.ExportLevel.Flag())
	}
	if op.p.RecordsCompress.Given() && op.p.ExportLevel.Get() == "summary" {
		op.fault("", "%s and %s summary cannot be used together: that level keeps no records",
			op.p.RecordsCompress.Flag(), op.p.ExportLevel.Flag())
	}
	var percentiles []float64
	if op.p.Percentiles.Given() {
		var err error
		if percentiles, err = parse.Percentiles(op.p.Percentiles.Get()); err != nil {
			op.fault("", "%s: %v", op.p.Percentiles.Flag(), err)
		}
	}
	for _, text := range op.p.FailIf.Get() {
		if err := op.catalog.Threshold(text, percentiles); err != nil {
			op.fault("", "%s: %v", op.p.FailIf.Flag(), err)
		}
	}
}

func (op *outputs) checkExportPrefix() {
	if !op.p.ProfileExportPrefix.Given() {
		return
	}
	stem := filepath.FromSlash(config.PrefixStem(op.p.ProfileExportPrefix.Get()))
	if base := filepath.Base(stem); base == "." || base == string(filepath.Separator) || !filepath.IsLocal(stem) {
		op.fault("", "%s %s: the prefix must name a file inside the artifact directory",
			op.p.ProfileExportPrefix.Flag(),
			fault.Shorten(op.p.ProfileExportPrefix.Get()))
	}
}

package resolve

import (
	"fmt"
	"path/filepath"
	"strings"

	"aiperf/internal/base/artifact"
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
		Dir:             p.Text("output-artifact-dir"),
		ExportLevel:     p.Text("export-level"),
		HTTPTrace:       p.Bool("export-http-trace"),
		ShowTraceTiming: p.Bool("show-trace-timing"),
		RecordsCompress: p.Text("records-compress"),
		RecordsParquet:  p.Bool("export-records-parquet"),
		HTMLReport:      p.Bool("html-report") || op.given("web"),
		NoSummaryJSON:   p.IsSet("export-summary") && !p.Bool("export-summary"),
		Outputs: p.Bool("export-outputs-json") || !p.Given("export-outputs-json") &&
			p.Text("export-level") == "raw",
	}
	a.UserFiles, _ = p.Value("user-files").([]document.UserFile)
	a.Variables, _ = p.Value("template-variables").(artifact.Object)
	if s := p.Float("slice-duration"); s != nil {
		a.SliceDuration = max(1, option.Seconds(*s))
	}
	a.Percentiles, _ = parse.Percentiles(p.Texts("percentiles")) // checked before
	if a.Dir == "" {
		a.Dir, a.Derived = op.artifactDir(), !p.Bool("overwrite")
	} else {
		a.Dir = filepath.Clean(a.Dir)
	}
	if p.Given("profile-export-prefix") {
		a.Prefix = config.PrefixStem(p.Text("profile-export-prefix"))
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
	switch op.timing.mode {
	case config.FixedSchedule:
		return "fixed_schedule"
	case config.UserCentric:
		users := int64(0)
		if n := op.p.Int("num-users"); n != nil {
			users = *n
		}
		return fmt.Sprintf("user_centric-users%d-qps%s", users, option.FormatFloat(*op.p.Float("user-centric-rate")))
	}
	var parts []string
	if list := op.p.Swept("concurrency"); list != nil {
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
		Mode:          op.p.Text("ui-type"),
		Verbose:       op.p.Bool("verbose") || op.p.Bool("extra-verbose"),
		Report:        op.p.Text("report"),
		StatsInterval: durationOf(op.p.Float("stats-interval")),
	}
}

func (op *outputs) logLevel() string {
	switch {
	case op.p.Bool("extra-verbose"):
		return "TRACE"
	case op.p.Bool("verbose"):
		return "DEBUG"
	}
	return op.p.Text("log-level")
}

func (op *outputs) checkGoodput() {
	if !op.given("goodput") {
		return
	}
	slos, err := parse.SLOs(op.p.Text("goodput"), op.catalog.Metric)
	if err != nil {
		op.fault("V9", "%s: %v", op.flag("goodput"), err)
	}
	for _, slo := range slos {
		facts, known := op.catalog.Metric(slo.Tag)
		switch {
		case !known:
			hint := ""
			if near := suggest.Nearest(slo.Tag, op.catalog.MetricTags()); near != "" {
				hint = "; did you mean " + near + "?"
			}
			op.fault("V9", "%s: unknown metric tag %s%s", op.flag("goodput"), fault.Shorten(slo.Tag), hint)
		case facts.Derived:
			op.fault("V9", "%s: %s is a derived metric and cannot be used; use a per-record metric such as "+
				"request_latency", op.flag("goodput"), slo.Tag)
		}
	}
}

// checkResults checks what is asked of the results.
func (op *outputs) checkResults() {
	if op.active("export-records-parquet") && op.p.Text("export-level") == "summary" {
		op.fault("", "%s and %s summary cannot be used together: that level keeps no records",
			op.flag("export-records-parquet"), op.flag("export-level"))
	}
	if op.given("records-compress") && op.p.Text("export-level") == "summary" {
		op.fault("", "%s and %s summary cannot be used together: that level keeps no records",
			op.flag("records-compress"), op.flag("export-level"))
	}
	var percentiles []float64
	if op.given("percentiles") {
		var err error
		if percentiles, err = parse.Percentiles(op.p.Texts("percentiles")); err != nil {
			op.fault("", "%s: %v", op.flag("percentiles"), err)
		}
	}
	for _, text := range op.p.Texts("fail-if") {
		if err := op.catalog.Threshold(text, percentiles); err != nil {
			op.fault("", "%s: %v", op.flag("fail-if"), err)
		}
	}
}

func (op *outputs) checkExportPrefix() {
	if !op.given("profile-export-prefix") {
		return
	}
	stem := filepath.FromSlash(config.PrefixStem(op.p.Text("profile-export-prefix")))
	if base := filepath.Base(stem); base == "." || base == string(filepath.Separator) || !filepath.IsLocal(stem) {
		op.fault("", "%s %s: the prefix must name a file inside the artifact directory",
			op.flag("profile-export-prefix"),
			fault.Shorten(op.p.Text("profile-export-prefix")))
	}
}

// Package resolve makes a config.Run of settings: it derives every default and checks the options against one another.
//
// Each subject (endpoint, timing, dataset, …) is a type of its own in a file of its own. It holds the values that it
// decides and knows only the subjects that are decided before it: see resolution. A file X_rules.go holds the checks of
// a subject; resolution.rules lists all checks in the order in which faults are reported.
//
// Nothing is sent or written here. Files that options name are read; questions about metrics and data formats go to a
// [Catalog].
package resolve

import (
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
	"aiperf/internal/workload/recipe"
)

// resolution holds the subjects in the order in which they are decided. A subject knows only those above it.
type resolution struct {
	*asked
	plugins   plugins
	endpoint  endpoint
	file      datafile
	scenario  scenario
	timing    timing
	transport transport
	control   control
	serve     serve
	fleet     fleet
	tokens    tokens
	media     media
	traces    traces
	published published
	dataset   dataset
	telemetry telemetry
	outputs   outputs
	series    series
	accuracy  accuracy
	// file are the phases of a configuration file, nil without one; timing is that of the first measured one.
	phases filePhases
}

func newResolution(a *asked) *resolution {
	r := &resolution{asked: a}
	ep, f, sc, ti := &r.endpoint, &r.file, &r.scenario, &r.timing
	r.plugins, r.published = plugins{asked: a}, published{asked: a}
	*ep = endpoint{asked: a, plugins: &r.plugins}
	*f = datafile{asked: a, plugins: &r.plugins, published: &r.published}
	*sc = scenario{asked: a, endpoint: ep, file: f}
	*ti = timing{asked: a, endpoint: ep, file: f, scenario: sc}
	r.transport = transport{asked: a, endpoint: ep}
	r.control = control{asked: a}
	r.serve = serve{asked: a}
	r.fleet = fleet{asked: a}
	r.traces = traces{asked: a, file: f}
	r.tokens = tokens{asked: a, endpoint: ep, file: f}
	r.media = media{asked: a, endpoint: ep, file: f}
	r.dataset = dataset{asked: a, endpoint: ep, file: f, scenario: sc, timing: ti, media: &r.media, traces: &r.traces,
		published: &r.published}
	r.telemetry = telemetry{asked: a, endpoint: ep}
	r.outputs = outputs{asked: a, endpoint: ep, timing: ti}
	r.series = series{asked: a, timing: ti}
	r.accuracy = accuracy{asked: a, endpoint: ep, timing: ti}
	return r
}

// Resolve derives every default, checks the options against one another and makes the Run. It touches
// nothing but the files that the options name. Its error is a Faults with everything that is wrong. Values
// that this release lacks are looked for only when nothing else is wrong.
func Resolve(p *settings.Settings, catalog Catalog) (*config.Run, []fault.Warning, error) {
	r := newResolution(&asked{p: measured(p), catalog: catalog, found: &found{warnings: slices.Clone(p.Warnings)}})
	r.phases = r.ofFile(p)
	r.decide()
	for _, check := range r.rules() {
		check()
	}
	r.phases.check()
	r.faults = distinct(r.faults)
	if len(r.faults) == 0 {
		r.checkBuilt()
	}
	var run *config.Run
	if len(r.faults) == 0 {
		run = r.run()
	}
	if len(r.faults) > 0 {
		return nil, r.warnings, r.faults
	}
	return run, r.warnings, nil
}

// decide settles what other values depend on.
func (r *resolution) decide() {
	r.plugins.decide()
	r.endpoint.decide()
	r.endpoint.findKey()
	r.scenario.decide()
	r.timing.decideMode()
	r.timing.decide()
	r.phases.decide()
}

// rules are the checks of options against one another, in the order in which faults are reported.
func (r *resolution) rules() []func() {
	ep, tr, ti, ds := &r.endpoint, &r.transport, &r.timing, &r.dataset
	te, op, se := &r.telemetry, &r.outputs, &r.series
	return []func(){
		r.plugins.check, r.file.checkColumns, ep.checkModels, tr.checkURLs, ep.checkWeights, ep.checkHeaders,
		ep.checkKept, tr.checkConnections,
		te.checkListen, r.checkRequirements, r.checkExclusions,
		ti.checkSchedule, ti.checkSimultaneousStart, op.checkGoodput, op.checkResults,
		ti.checkConcurrency, ti.checkPrefill, ti.checkUsers, ti.checkUsersFile, ti.checkArrivals, ti.checkStop,
		ds.checkPrefixes, ds.checkSystemPrompt, ds.checkText, ds.checkRankings, r.tokens.check,
		ep.checkContentType, r.traces.check, r.published.check, r.traces.checkBaseten,
		ti.checkRoots, ti.checkAgentic, ds.checkCacheBust, ds.checkLengthRange, r.media.check,
		te.checkTelemetry, te.checkOTel, te.checkMLflow, te.checkWandB,
		r.accuracy.check, r.control.check, r.serve.check, r.fleet.check, tr.checkTransport, tr.checkGRPC, tr.checkAWS,
		se.checkSweep, se.checkSeries, op.checkExportPrefix,
		ds.warnOutputLength, ds.tellReplies, ds.warnDeviations, ep.warnStream, ti.warnWarmup,
		r.plugins.warn,
	}
}

// run makes the Run once nothing is wrong.
func (r *resolution) run() *config.Run {
	p := r.p
	endpoint := r.endpoint.build(r.scenario.ignoreEOS)
	r.control.fill(&endpoint)
	r.transport.fill(&endpoint)
	run := &config.Run{
		Models:                 r.endpoint.models,
		ModelSelection:         p.ModelSelectionStrategy.Get(),
		ModelWeights:           r.endpoint.weights(),
		Endpoint:               endpoint,
		Tokenizer:              r.tokens.build(),
		Dataset:                r.dataset.build(),
		Artifacts:              r.outputs.artifacts(),
		ServerMetrics:          r.telemetry.serverMetrics(),
		GPU:                    r.telemetry.gpu(),
		Network:                r.telemetry.network(),
		OTel:                   r.telemetry.otel(),
		MetricsListen:          r.telemetry.metricsListen,
		Web:                    r.telemetry.web,
		MLflow:                 r.telemetry.mlflow(),
		WandB:                  r.telemetry.wandb(),
		Plugins:                r.plugins.build(p.ExportLevel.Get()),
		TimestampSource:        p.TimestampSource.Get(),
		RequireValid:           p.RequireValid.Get(),
		Serve:                  r.serve.build(),
		Fleet:                  r.fleet.build(),
		Accuracy:               r.accuracy.build(),
		FailIf:                 p.FailIf.Get(),
		UI:                     r.outputs.ui(),
		LogLevel:               r.outputs.logLevel(),
		FailedRequestThreshold: p.FailedRequestThreshold.Pointer(),
		FailFast:               p.FailFast.Get(),
		Workers: config.Workers{Min: smallInt(p.WorkersMin.Pointer()), Max: smallInt(p.WorkersMax.Pointer()),
			RecordProcessors: smallInt(p.RecordProcessors.Pointer())},
		Env:        p.Env,
		Submission: r.scenario.submission,
		Asked:      p,
	}
	if r.phases == nil && r.timing.warmsUp() {
		run.Phases = append(run.Phases, r.timing.warmup())
	}
	if r.phases != nil && r.timing.mode != config.AgenticReplay {
		run.Phases, run.FailedRequestThreshold = r.phases.build(), nil
	} else if r.timing.mode == config.AgenticReplay {
		run.Phases = r.timing.agentic(r.timing.profiling())
	} else {
		run.Phases = append(run.Phases, r.timing.profiling())
	}
	if p.Goodput.Given() {
		run.SLOs, _ = parse.SLOs(p.Goodput.Get(), r.catalog.Metric) // checked before
	}
	if seed := p.RandomSeed.Pointer(); seed != nil {
		root := uint64(*seed)
		run.RandomSeed = &root
	} else {
		run.RandomSeed = r.scenario.seed
	}
	run.CLICommand = run.Redactor().Values(settings.CommandLine("profile", p.Args))
	r.series.repeats(run)
	if p.TokenizerTrustRemoteCode.Get() {
		r.warn("%s has no effect: no code of a tokenizer is ever run", r.p.TokenizerTrustRemoteCode.Flag())
	}
	return run
}

// Catalog answers questions about metrics and data formats, which other rooms define.
type Catalog interface {
	// Metric finds a metric by its tag or an alias of it.
	Metric(name string) (config.MetricFacts, bool)
	// MetricTags lists the tags a goodput threshold may name, and their aliases, for suggestions.
	MetricTags() []string
	// Threshold checks a condition of --fail-if; percentiles are the ranks of --percentiles.
	Threshold(text string, percentiles []float64) error
	// DatasetFormat returns the format of a file by its content, "" if it is not recognized.
	DatasetFormat(path string) string
	// DatasetRoots is the number of sessions of a dag_jsonl file that no other one refers to, 0 if it cannot be read.
	DatasetRoots(path string) int64
	// Table counts the rows of a table, and says whether they have the times and the lengths of requests, and whether
	// their texts have to be made.
	Table(path string, columns []recipe.Column) (rows int64, timed, lengths bool)
	// TableRoles are the meanings that a column of a table can have.
	TableRoles() []string
	// TableRole is the meaning of which a name is one of the usual names.
	TableRole(name string) (role string, known bool)
}

package file

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
)

const phasesPath = "benchmark.phases"

// kinds of phase, also the names that imply them.
const (
	warmup    = "warmup"
	profiling = "profiling"
)

// phase is a phase while it is read.
type phase struct {
	node *document.Node
	path string
	settings.Phase
}

// phases reads the phases: each is the settings of the run with its own values.
func (r *reader) phases(body *document.Node) {
	list := body.Get("phases")
	if list == nil || list.Kind == document.Null {
		return // reported as missing
	}
	if list.Kind != document.List || len(list.Items) == 0 {
		r.fault(list, phasesPath, "must be a list of at least one phase")
		return
	}
	var all []*phase
	for i, n := range list.Items {
		path := document.Index(phasesPath, i)
		if n.Kind != document.Map {
			r.fault(n, path, "is %v; it must be a mapping", n.Kind)
			continue
		}
		all = append(all, &phase{node: n, path: path, Phase: settings.Phase{Place: at(r.File, n, path),
			Settings: r.base.Copy()}})
	}
	for _, p := range all {
		r.identify(p)
	}
	r.names(all)
	if slices.ContainsFunc(all, func(p *phase) bool { return p.Kind == "" }) {
		return
	}
	all = r.phaseFlags(all)
	for i, p := range all {
		r.readPhase(p, i == 0)
	}
	r.keepLists(all)
	if !slices.ContainsFunc(all, func(p *phase) bool { return p.Kind == profiling }) && len(all) > 0 {
		r.fault(list, phasesPath, "need a phase of kind profiling: warm-up phases are not measured")
	}
	shown := &document.Node{Kind: document.List, Pos: list.Pos}
	for _, p := range all {
		r.base.Phases = append(r.base.Phases, p.Phase)
		shown.Items = append(shown.Items, p.node)
	}
	body.Set("phases", shown)
}

// identify finds name and kind.
func (r *reader) identify(p *phase) {
	p.Name, _ = textOf(p.node.Get("name"))
	kind, written := textOf(p.node.Get("kind"))
	implied := ""
	if p.Name == warmup || p.Name == profiling {
		implied = p.Name
	}
	switch {
	case !written && implied == "":
		r.fault(p.node, document.Path(p.path, "kind"), "is missing: warmup or profiling; only the names warmup and "+
			"profiling imply it")
	case written && kind != warmup && kind != profiling:
		r.fault(p.node.Get("kind"), document.Path(p.path, "kind"), "%s %s", fault.Shorten(kind),
			suggest.OneOf(kind, []string{warmup, profiling}))
	case written && implied != "" && kind != implied:
		r.fault(p.node.Get("kind"), document.Path(p.path, "kind"), "the name %s is that of phases of kind %s; choose "+
			"another name", p.Name, implied)
	case written:
		p.Kind = kind
	default:
		p.Kind = implied
	}
}

var phaseName = pattern.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// names checks the names, which are folders too.
func (r *reader) names(all []*phase) {
	seen := map[string]string{}
	for _, p := range all {
		n, path := p.node.Get("name"), document.Path(p.path, "name")
		if n == nil {
			r.fault(p.node, path, "is missing")
			continue
		}
		fold := strings.ToLower(p.Name)
		switch other, twice := seen[fold]; {
		case !phaseName.MatchString(p.Name):
			r.fault(n, path, "%s: a name is letters, digits, - and _, and starts with a letter or _",
				fault.Shorten(p.Name))
		case artifact.IsDeviceName(p.Name):
			r.fault(n, path, "%s is the name of a device on Windows and cannot name a folder there", p.Name)
		case twice:
			r.fault(n, path, "%s is the name of another phase, %s: names differ in more than case", p.Name, other)
		}
		seen[fold] = p.Name
	}
}

// readPhase reads the values of a phase, fills its defaults in and checks what only files can say.
func (r *reader) readPhase(p *phase, first bool) {
	n := p.node
	kind := n.Get("type")
	if kind == nil || kind.Kind == document.Null {
		r.fault(n, document.Path(p.path, "type"), "is missing: one of %s", strings.Join(schema.PhaseTypes(), ", "))
		return
	}
	p.Type = kind.Written
	if !slices.Contains(schema.PhaseTypes(), p.Type) {
		r.fault(kind, document.Path(p.path, "type"), "%s %s", fault.Shorten(p.Type),
			suggest.OneOf(p.Type, schema.PhaseTypes()))
		return
	}
	k, _ := schema.Body().Field("phases")
	t := target{Settings: p.Settings, kind: p.Type}
	r.ofType(t, p)
	before := len(r.faults)
	r.section(t, k, n, p.path)
	if len(r.faults) == before {
		r.checkPhase(t, p, first)
	}
	if a := parse.Adaptive(n, p.path, r.fault); a != nil {
		t.PhaseAdaptive.Put(a, r.origin(orSelf(n.Get("adaptive_scale"), n),
			document.Path(p.path, "adaptive_scale")))
	}
}

// ofType sets what the type of a phase stands for.
func (r *reader) ofType(t target, p *phase) {
	from := r.origin(p.node.Get("type"), document.Path(p.path, "type"))
	t.NoFixedSchedule.Put(true, fileDefault)
	switch p.Type {
	case schema.Concurrency:
		t.Concurrency.Put(1, fileDefault)
	case schema.Constant, schema.Poisson, schema.Gamma:
		t.ArrivalPattern.Put(p.Type, from)
	case schema.FixedSchedule:
		t.FixedSchedule.Put(true, from)
		t.NoFixedSchedule.Put(false, fileDefault)
		t.FixedScheduleAutoOffset.Put(true, fileDefault)
	}
}

// checkPhase holds the rules of a phase that no rule for options says.
func (r *reader) checkPhase(t target, p *phase, first bool) {
	n, at := p.node, func(key string) string { return document.Path(p.path, key) }
	stops := t.RequestCount.Given() || t.BenchmarkDuration.Given() || t.NumSessions.Given() ||
		p.Kind == profiling && t.AccuracyBenchmark.Get() != "" // all problems
	if !stops && p.Type != schema.FixedSchedule {
		r.fault(n, p.path, "has no stop condition: add requests, duration or sessions")
	}
	if grace := n.Get("grace_period"); grace != nil && t.BenchmarkGracePeriod.Given() &&
		!t.BenchmarkDuration.Given() {
		r.fault(grace, at("grace_period"), "needs duration: without one all replies are waited for")
	}
	if seamless := n.Get("seamless"); seamless != nil && first && t.PhaseSeamless.Get() {
		r.fault(seamless, at("seamless"), "the first phase has none before it")
	}
	if out := n.Get("exclude_from_results"); out != nil {
		if on, ok := boolean(out); ok && on != (p.Kind == warmup) {
			r.fault(out, at("exclude_from_results"), "must be %t for a phase of kind %s", p.Kind == warmup, p.Kind)
		}
	}
	switch p.Type {
	case schema.Constant, schema.Poisson, schema.Gamma:
		if t.RequestRate.Given() == t.PhaseRateSeries.Given() && !t.RequestRateSeries.Given() {
			r.fault(n, p.path, "type %s needs exactly one of rate and rate_series", p.Type)
		}
	case schema.UserCentric:
		if !t.UserCentricRate.Given() {
			r.fault(n, at("rate"), "is missing: requests per second of all users together")
		}
		users := t.NumUsers.Pointer()
		for key, f := range map[string]*option.Opt[int64]{"sessions": &t.NumSessions, "requests": &t.RequestCount} {
			if v := f.Pointer(); v != nil && users != nil && *v < *users {
				r.fault(orSelf(n.Get(key), n), at(key), "%d is less than users, %d: each user sends at least one", *v,
					*users)
			}
		}
	case schema.FixedSchedule:
		start := n.Get("start_offset")
		if start != nil && t.FixedScheduleStartOffset.Given() && t.FixedScheduleAutoOffset.Get() {
			r.fault(start, at("start_offset"),
				"cannot be used with auto_offset, which is true unless the file says false")
		}
		if order := t.DatasetSamplingStrategy.Get(); order != "sequential" && order != "" {
			r.fault(n, p.path, "type fixed_schedule needs the dataset's sampling sequential, not %s", order)
		}
	}
	if mode := n.Get("timing_mode"); mode != nil {
		r.checkTimingMode(t, p, mode)
	}
	if limit := t.PrefillConcurrency.Pointer(); limit != nil && t.Concurrency.Pointer() != nil &&
		*limit > t.Concurrency.Get() {
		r.fault(orSelf(n.Get("prefill_concurrency"), n), at("prefill_concurrency"), "%d is more than concurrency, %d",
			*limit, t.Concurrency.Get())
	}
}

func orSelf(n, self *document.Node) *document.Node {
	if n == nil {
		return self
	}
	return n
}

// checkTimingMode refuses a timing mode that is not that of the type.
func (r *reader) checkTimingMode(t target, p *phase, mode *document.Node) {
	want := map[string]string{schema.Concurrency: "request_rate", schema.Constant: "request_rate",
		schema.Poisson: "request_rate", schema.Gamma: "request_rate", schema.UserCentric: "user_centric_rate",
		schema.FixedSchedule: "fixed_schedule"}[p.Type]
	switch got := mode.Written; {
	case got == want, got == "adaptive_scale" && p.node.Get("adaptive_scale") != nil:
	case got == "agentic_replay" && t.Scenario.Given():
	case got == "agentic_replay":
		r.fault(mode, document.Path(p.path, "timing_mode"), "agentic_replay needs scenario: inferencex-agentx-mvp")
	default:
		r.fault(mode, document.Path(p.path, "timing_mode"), "%s does not fit the type %s, whose timing mode is %s", got,
			p.Type, want)
	}
}

// phaseEffects are those of keys of a phase.
func phaseEffects() map[string]effect {
	ramp := func(shape option.Field) effect {
		return func(r *reader, t target, k schema.Key, n *document.Node, path string) { r.ramp(t, k, n, path, shape) }
	}
	rows := option.Rows()
	ignore := func(*reader, target, schema.Key, *document.Node, string) {}
	all := map[string]effect{
		"name": (*reader).checked, "kind": (*reader).checked, "type": (*reader).checked,
		"exclude_from_results": (*reader).checked, "timing_mode": (*reader).checked,
		"concurrency_ramp": ramp(&rows.ConcurrencyRampShape), "prefill_ramp": ramp(&rows.PrefillConcurrencyRampShape),
		"rate_ramp": ramp(&rows.RequestRateRampShape), "rate": (*reader).rate, "rate_series": (*reader).series,
		"cancellation.rate": (*reader).cancellation, "duration": (*reader).stopAfter,
		"adaptive_scale": ignore, "sla": ignore,
	}
	for _, f := range func() []schema.Key { k, _ := schema.Body().Field("phases"); return k.Fields }() {
		if strings.HasPrefix(f.Name, "adaptive_") {
			all[f.Name] = ignore // read by parse.Adaptive
		}
	}
	return all
}

// stopAfter is a duration above 0; inf is none.
func (r *reader) stopAfter(t target, k schema.Key, n *document.Node, path string) {
	if v, err := duration(n); err == nil && math.IsInf(v, 1) {
		return
	}
	r.set(t, k, n, path)
}

// ramp is a duration, or a mapping with a shape.
func (r *reader) ramp(t target, k schema.Key, n *document.Node, path string, shape option.Field) {
	length := k
	length.Kind = schema.Duration
	if n.Kind != document.Map {
		r.set(t, length, n, path)
		return
	}
	fields := schema.Key{Fields: []schema.Key{{Name: "duration", Kind: schema.Duration, Option: k.Option,
		Required: true},
		{Name: "strategy", Option: shape.Row()}}}
	r.section(target{Settings: t.Settings}, fields, n, path)
}

// rate is that of users or of requests, by the type.
func (r *reader) rate(t target, k schema.Key, n *document.Node, path string) {
	if t.kind == schema.UserCentric {
		k.Option = t.UserCentricRate.Row()
	}
	r.set(t, k, n, path)
}

// series reads a rate that changes: a path, a list of points, or a mapping with one of them.
func (r *reader) series(t target, k schema.Key, n *document.Node, path string) {
	if n.Kind == document.Map {
		file, points := n.Member("path"), n.Member("points")
		for _, m := range n.Members {
			if m.Key != "path" && m.Key != "points" {
				r.fault(&document.Node{Pos: m.Pos}, document.Path(path, m.Key), "unknown key; known are path, points")
				return
			}
		}
		switch {
		case file != nil && points != nil, file == nil && points == nil:
			r.fault(n, path, "needs exactly one of path and points")
			return
		case file != nil:
			n, path = file.Value, document.Path(path, "path")
		default:
			n, path = points.Value, document.Path(path, "points")
		}
	}
	if text, ok := textOf(n); ok {
		series, err := parse.RateSeries(r.locate(text))
		if err != nil {
			r.fault(n, path, "%s: %v", fault.Shorten(text), err)
			return
		}
		t.PhaseRateSeries.Put(series, r.origin(n, path))
		return
	}
	text, err := artifact.AppendJSON(nil, n.Any())
	if err != nil {
		r.fault(n, path, "%v", err)
		return
	}
	series, err := parse.RatePoints(text)
	if err != nil {
		r.fault(n, path, "%v", err)
		return
	}
	t.PhaseRateSeries.Put(series, r.origin(n, path))
}

// cancellation of 0 percent is none.
func (r *reader) cancellation(t target, k schema.Key, n *document.Node, path string) {
	if v, ok := n.Number(); ok && v == 0 {
		return
	}
	r.set(t, k, n, path)
}

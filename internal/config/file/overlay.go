package file

import (
	"slices"
	"strings"
	"sync"

	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
)

// lost are flags that a file leaves no place for: they would be ignored.
func lost() []string {
	return []string{"public-dataset", "hf-weka-dataset", "sweep-type", "no-fixed-schedule", "variant",
		"parameter-sweep-mode", "parameter-sweep-cooldown-seconds", "parameter-sweep-same-seed",
		"convergence-mode", "convergence-stat"}
}

// ofPhase maps an option of load to the key of a phase that it sets.
var ofPhase = sync.OnceValue(func() map[string]string {
	keys := map[string]string{"user-centric-rate": "rate", "request-rate-series": "rate_series",
		"fixed-schedule": "type", "arrival-pattern": "type"}
	k, _ := schema.Body().Field("phases")
	var add func(fields []schema.Key)
	add = func(fields []schema.Key) {
		for _, f := range fields {
			if o, ok := f.Row(); ok {
				keys[o.Name] = f.Name
			}
			add(f.Fields)
		}
	}
	add(k.Fields)
	return keys
})

// overlay lets the flags that are given win over the file, except those of phases: see phaseFlags.
func (r *reader) overlay() {
	f := r.options.Flags
	if f == nil {
		return
	}
	var refused []string
	for _, name := range lost() {
		if f.Given(name) {
			refused = append(refused, f.Flag(name))
		}
	}
	if len(refused) > 0 {
		r.faults.Add("", "%s: cannot be used with --config, where it would have no effect: write it in %s",
			strings.Join(refused, ", "), r.Name)
	}
	phases := ofPhase()
	r.checkDatasetFlags(f)
	for _, o := range option.All() {
		if _, isPhase := phases[o.Name]; isPhase || strings.HasPrefix(o.YAML, "phases.warmup.") {
			continue
		}
		switch {
		case o.Name == "goodput" && f.Given(o.Name) && r.base.Given(o.Name):
			_ = r.base.Set(o, []string{r.base.Text(o.Name) + " " + f.Text(o.Name)}, f.Origin(o.Name)) // both were read
		case f.Given(o.Name) && (o.Type == option.Pairs || o.Type == option.Headers) && r.base.Given(o.Name):
			r.merge(o, f)
		case f.Given(o.Name) && o.Type == option.URLHeaders && r.base.Given(o.Name):
			r.base.Put(o.Name, append(r.base.Texts(o.Name), f.Texts(o.Name)...), f.Origin(o.Name)) // the later ones win
		case f.Given(o.Name), f.IsSet(o.Name) && !r.base.Given(o.Name):
			r.base.Take(f, o.Name)
			r.forget(o.Name)
		}
	}
}

// merge puts the members that a flag gives over those of the file.
func (r *reader) merge(o option.Option, f *settings.Settings) {
	both := r.base.Pairs(o.Name)
	for _, m := range f.Pairs(o.Name) {
		if o.Type == option.Headers {
			both = option.SetHeader(both, m.Key, m.Value.(string))
		} else {
			both = both.Set(m.Key, m.Value)
		}
	}
	r.base.Put(o.Name, both, f.Origin(o.Name))
}

// forget drops what a file says in another form than the flag that was just taken over.
func (r *reader) forget(name string) {
	d := &r.base.Dataset
	for _, s := range spreads() {
		if name == s.mean() {
			*s.field(d) = nil
		}
	}
	switch name {
	case "prompt-input-tokens-mean", "seq-dist":
		d.SequenceDistribution = nil
	case "input-file":
		d.Records = nil
	case "url":
		r.base.Unset("url-header")
	case "model-names":
		r.base.Unset("model-weights")
		r.base.Unset("model-tokenizers")
	case "random-seed":
		d.Seed = nil
	}
}

// checkDatasetFlags refuses flags that do nothing for data of the file's type.
func (r *reader) checkDatasetFlags(f *settings.Settings) {
	list := Body(r.root).Get("datasets")
	if list == nil || list.Kind != document.List || len(list.Items) != 1 {
		return
	}
	kind, ok := textOf(list.Items[0].Get("type"))
	if !ok {
		kind = schema.Synthetic
	}
	k, _ := schema.Body().Field("datasets")
	types := map[string][]string{} // of an option
	var add func(fields []schema.Key, of []string)
	add = func(fields []schema.Key, of []string) {
		for _, field := range fields {
			own := of
			if own == nil {
				own = field.Of
			}
			if o, ok := field.Row(); ok {
				if own == nil {
					types[o.Name] = schema.DatasetTypes()
				}
				types[o.Name] = append(types[o.Name], own...)
			}
			add(field.Fields, own)
		}
	}
	add(k.Fields, nil)
	for _, s := range spreads() {
		types[s.mean()], types[s.stddev()] = s.of, s.of
	}
	var refused []string
	for _, o := range option.All() {
		of, known := types[o.Name]
		if known && f.Given(o.Name) && !slices.Contains(of, kind) && !slices.Contains(lost(), o.Name) {
			refused = append(refused, f.Flag(o.Name))
		}
	}
	if len(refused) > 0 {
		r.faults.Add("", "%s: no effect on a dataset of type %s, which %s describes", strings.Join(refused, ", "), kind,
			r.Name)
	}
}

// phaseFlags applies the flags of load to the phases: those of a warm-up to the first phase of that kind, all others to
// the only one that is measured. A flag becomes a value of the phase's mapping, whose origin is the flag.
func (r *reader) phaseFlags(all []*phase) []*phase {
	f := r.options.Flags
	if f == nil {
		return all
	}
	all = r.warmupFlags(f, all)
	var given []option.Option
	var flags []string
	for _, o := range option.All() {
		if _, isPhase := ofPhase()[o.Name]; isPhase && f.Given(o.Name) {
			given = append(given, o)
			flags = append(flags, f.Flag(o.Name))
		}
	}
	if len(given) == 0 {
		return all
	}
	var measured []*phase
	var names []string
	for _, p := range all {
		if p.Kind == profiling {
			measured, names = append(measured, p), append(names, p.Name)
		}
	}
	switch {
	case len(measured) > 1:
		r.faults.Add("", "%s: %s has several phases that it could mean (%s): write the value in the file",
			strings.Join(flags, ", "), r.Name, strings.Join(names, ", "))
	case len(measured) == 1:
		n := measured[0].node.Clone()
		measured[0].node = n
		if !r.retype(f, n) {
			return all
		}
		for _, o := range given {
			r.phaseFlag(f, o, n)
		}
	}
	return all
}

// keepLists leaves it to config/resolve what becomes of flags with several values, which are a sweep.
func (r *reader) keepLists(all []*phase) {
	if r.options.Flags == nil {
		return
	}
	i := slices.IndexFunc(all, func(p *phase) bool { return p.Kind == profiling })
	if i < 0 {
		return
	}
	for _, o := range option.All() {
		if r.options.Flags.Swept(o.Name) != nil {
			all[i].Take(r.options.Flags, o.Name)
		}
	}
}

// written is a node with the value of a flag.
func written(f *settings.Settings, name string) *document.Node {
	n := document.Of(f.Value(name))
	n.Origin = f.Flag(name)
	return n
}

// retype changes the type of a phase where a flag asks for it, and drops keys that the new type does not have. It
// reports whether the flags fit the type and one another.
func (r *reader) retype(f *settings.Settings, n *document.Node) bool {
	before, _ := textOf(n.Get("type"))
	rates := []string{schema.Constant, schema.Poisson, schema.Gamma}
	kind, flag := before, ""
	rated := f.Given("request-rate") || f.Given("request-rate-series")
	if f.Given("user-centric-rate") && rated {
		r.faults.Add("", "%s and %s set the same key, rate: keep one", f.Flag("user-centric-rate"),
			f.Flag(firstGiven(f, "request-rate", "request-rate-series")))
		return false
	}
	if f.Given("fixed-schedule") && f.Bool("fixed-schedule") {
		kind, flag = schema.FixedSchedule, f.Flag("fixed-schedule")
		if name := firstGiven(f, "request-rate", "request-rate-series", "user-centric-rate"); name != "" {
			r.faults.Add("", "%s and %s exclude each other: a fixed schedule has no rate", flag, f.Flag(name))
			return false
		}
	}
	switch {
	case f.Given("user-centric-rate"):
		kind, flag = schema.UserCentric, f.Flag("user-centric-rate")
	case rated && !slices.Contains(rates, before) && (before != schema.UserCentric || f.Given("request-rate-series")):
		kind, flag = schema.Poisson, f.Flag(firstGiven(f, "request-rate", "request-rate-series"))
	case f.Given("request-rate-series"):
		flag = f.Flag("request-rate-series")
	}
	if f.Given("arrival-pattern") {
		if !slices.Contains(rates, kind) {
			r.faults.Add("", "%s needs a phase with a rate, not one of type %s", f.Flag("arrival-pattern"), kind)
			return false
		}
		kind, flag = f.Text("arrival-pattern"), f.Flag("arrival-pattern")
	}
	if f.Given("arrival-smoothness") {
		if !slices.Contains(rates, kind) {
			r.faults.Add("", "%s needs a phase with a rate, not one of type %s", f.Flag("arrival-smoothness"), kind)
			return false
		}
		kind, flag = schema.Gamma, f.Flag("arrival-smoothness")
	}
	if kind == before {
		return true
	}
	n.Set("type", &document.Node{Kind: document.Text, Scalar: kind, Written: kind, Origin: flag})
	k, _ := schema.Body().Field("phases")
	for _, m := range slices.Clone(n.Members) {
		if _, has := k.FieldOf(m.Key, kind); !has {
			if _, known := k.Field(m.Key); known {
				n.Delete(m.Key)
			}
		}
	}
	if kind != schema.UserCentric && !slices.Contains(rates, kind) {
		return true
	}
	if f.Given("request-rate") || f.Given("user-centric-rate") {
		n.Delete("rate_series")
	}
	return true
}

func firstGiven(f *settings.Settings, names ...string) string {
	for _, name := range names {
		if f.Given(name) {
			return name
		}
	}
	return ""
}

// phaseFlag writes the value of a flag into the mapping of a phase.
func (r *reader) phaseFlag(f *settings.Settings, o option.Option, n *document.Node) {
	value := written(f, o.Name)
	switch o.Name {
	case "fixed-schedule", "arrival-pattern":
	case "request-cancellation-rate", "request-cancellation-delay":
		c := n.Get("cancellation")
		if c == nil || c.Kind != document.Map {
			c = &document.Node{Kind: document.Map, Origin: value.Origin}
			n.Set("cancellation", c)
		}
		c.Set(strings.TrimPrefix(o.Name, "request-cancellation-"), value)
	case "concurrency-ramp-duration", "prefill-concurrency-ramp-duration", "request-rate-ramp-duration":
		key := ofPhase()[o.Name]
		if ramp := n.Get(key); ramp != nil && ramp.Kind == document.Map {
			ramp.Set("duration", value)
		} else {
			n.Set(key, value)
		}
	case "benchmark-duration":
		n.Set("duration", value)
		if n.Get("grace_period") == nil && !f.Given("benchmark-grace-period") {
			n.Set("grace_period", &document.Node{Kind: document.Float, Scalar: 30.0, Written: "30",
				Origin: value.Origin})
		}
	case "fixed-schedule-start-offset":
		n.Set("start_offset", value)
		if n.Get("auto_offset") == nil {
			n.Set("auto_offset", &document.Node{Kind: document.Bool, Scalar: false, Written: "false",
				Origin: value.Origin})
		}
	case "request-rate", "user-centric-rate":
		n.Set("rate", value)
		n.Delete("rate_series")
	case "request-rate-series":
		n.Set("rate_series", value)
		n.Delete("rate")
	default:
		n.Set(ofPhase()[o.Name], value)
	}
}

// warmupFlags applies the flags of a warm-up: to the first phase of that kind, or to a new one in front.
func (r *reader) warmupFlags(f *settings.Settings, all []*phase) []*phase {
	var flags []string
	var given []option.Option
	for _, o := range option.All() {
		if strings.HasPrefix(o.YAML, "phases.warmup.") && f.Given(o.Name) {
			given, flags = append(given, o), append(flags, f.Flag(o.Name))
		}
	}
	if len(given) == 0 {
		return all
	}
	i := slices.IndexFunc(all, func(p *phase) bool { return p.Kind == warmup })
	fresh := i < 0
	if fresh {
		if firstGiven(f, "warmup-request-count", "num-warmup-sessions", "warmup-duration") == "" {
			r.faults.Add("", "%s: %s has no warm-up phase; --warmup-request-count, --num-warmup-sessions or "+
				"--warmup-duration adds one", strings.Join(flags, ", "), r.Name)
			return all
		}
		n := &document.Node{Kind: document.Map, Origin: flags[0]}
		n.Set("name", document.Of(warmup))
		n.Set("type", document.Of(schema.Concurrency))
		all = slices.Insert(all, 0, &phase{node: n, path: "benchmark.phases." + warmup,
			Phase: settings.Phase{Name: warmup, Kind: warmup, Place: flags[0], Settings: r.base.Copy()}})
		i = 0
	}
	n := all[i].node.Clone()
	all[i].node = n
	kind, _ := textOf(n.Get("type"))
	rated := slices.Contains([]string{schema.Constant, schema.Poisson, schema.Gamma, schema.UserCentric}, kind)
	switch rate, pattern := f.Given("warmup-request-rate"), f.Given("warmup-arrival-pattern"); {
	case fresh && rate:
		n.Set("type", document.Of(schema.Poisson)) // the pattern of a flag follows
	case fresh && pattern:
		r.warn(fault.LevelWarning, "%s has no effect without --warmup-request-rate", f.Flag("warmup-arrival-pattern"))
		given = slices.DeleteFunc(given, func(o option.Option) bool { return o.Name == "warmup-arrival-pattern" })
	case rate && !pattern && !rated:
		r.faults.Add("", "%s: the warm-up phase has the type %s; give --warmup-arrival-pattern too",
			f.Flag("warmup-request-rate"), kind)
		return all
	case pattern && !rate && !rated:
		r.faults.Add("", "%s needs a rate: give --warmup-request-rate too", f.Flag("warmup-arrival-pattern"))
		return all
	}
	for _, o := range given {
		key := strings.TrimPrefix(o.YAML, "phases.warmup.")
		if o.Name == "warmup-duration" && n.Get("grace_period") == nil && !f.Given("warmup-grace-period") {
			n.Set("grace_period", &document.Node{Kind: document.Text, Scalar: "inf", Written: "inf",
				Origin: f.Flag(o.Name)})
		}
		n.Set(key, written(f, o.Name))
	}
	return all
}

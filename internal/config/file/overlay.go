package file

import (
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
)

// lost are flags that a file leaves no place for: they would be ignored.
func lost(f *option.Tree) []option.Field {
	return []option.Field{&f.PublicDataset, &f.HFWekaDataset, &f.SweepType, &f.NoFixedSchedule, &f.Variant,
		&f.ParameterSweepMode, &f.ParameterSweepCooldownSeconds, &f.ParameterSweepSameSeed, &f.ConvergenceMode,
		&f.ConvergenceStat}
}

// ofPhase maps an option of load to the key of a phase that it sets.
var ofPhase = sync.OnceValue(func() map[*option.Option]string {
	t := option.Rows()
	keys := map[*option.Option]string{t.UserCentricRate.Row(): "rate", t.RequestRateSeries.Row(): "rate_series",
		t.FixedSchedule.Row(): "type", t.ArrivalPattern.Row(): "type"}
	k, _ := schema.Body().Field("phases")
	var add func(fields []schema.Key)
	add = func(fields []schema.Key) {
		for _, f := range fields {
			if f.Option != nil {
				keys[f.Option] = f.Name
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
	for _, o := range lost(&f.Tree) {
		if o.Given() {
			refused = append(refused, o.Flag())
		}
	}
	if len(refused) > 0 {
		r.faults.Add("", "%s: cannot be used with --config, where it would have no effect: write it in %s",
			strings.Join(refused, ", "), r.Name)
	}
	r.checkDatasetFlags(&f.Tree)
	for flag := range f.Fields() {
		o := flag.Row()
		if _, isPhase := ofPhase()[o]; isPhase || strings.HasPrefix(o.YAML, "phases.warmup.") {
			continue
		}
		own := r.base.Field(o)
		both := flag.Given() && own.Given()
		switch {
		case both && flag == &f.Goodput:
			_ = own.Set([]string{r.base.Goodput.Get() + " " + f.Goodput.Get()}, flag.Origin()) // both were read
		case both && (o.Type == option.Pairs || o.Type == option.Headers):
			merge(own.(*option.Opt[artifact.Object]), flag.(*option.Opt[artifact.Object]))
		case both && flag == &f.URLHeader: // the later ones win
			r.base.URLHeader.Put(append(r.base.URLHeader.Get(), f.URLHeader.Get()...), flag.Origin())
		case flag.Given(), flag.IsSet() && !own.Given():
			own.Take(flag)
			r.forget(o)
		}
	}
}

// merge puts the members that a flag gives over those of the file.
func merge(file, flag *option.Opt[artifact.Object]) {
	both := file.Get()
	for _, m := range flag.Get() {
		if file.Row().Type == option.Headers {
			both = option.SetHeader(both, m.Key, m.Value.(string))
		} else {
			both = both.Set(m.Key, m.Value)
		}
	}
	file.Put(both, flag.Origin())
}

// forget drops what a file says in another form than the flag that was just taken over.
func (r *reader) forget(o *option.Option) {
	d := &r.base.Dataset
	for _, s := range spreads() {
		if o == s.mean.Row() {
			*s.field(d) = nil
		}
	}
	switch r.base.Field(o) {
	case &r.base.ISL, &r.base.SeqDist:
		d.SequenceDistribution = nil
	case &r.base.InputFile:
		d.Records = nil
	case &r.base.URL:
		r.base.URLHeader.Unset()
	case &r.base.ModelNames:
		r.base.ModelWeights.Unset()
		r.base.ModelTokenizers.Unset()
	case &r.base.RandomSeed:
		d.Seed = nil
	}
}

// checkDatasetFlags refuses flags that do nothing for data of the file's type.
func (r *reader) checkDatasetFlags(f *option.Tree) {
	list := Body(r.root).Get("datasets")
	if list == nil || list.Kind != document.List || len(list.Items) != 1 {
		return
	}
	kind, ok := textOf(list.Items[0].Get("type"))
	if !ok {
		kind = schema.Synthetic
	}
	k, _ := schema.Body().Field("datasets")
	types := map[*option.Option][]string{}
	var add func(fields []schema.Key, of []string)
	add = func(fields []schema.Key, of []string) {
		for _, field := range fields {
			own := of
			if own == nil {
				own = field.Of
			}
			if o := field.Option; o != nil {
				if own == nil {
					types[o] = schema.DatasetTypes()
				}
				types[o] = append(types[o], own...)
			}
			add(field.Fields, own)
		}
	}
	add(k.Fields, nil)
	for _, s := range spreads() {
		types[s.mean.Row()], types[s.stddev.Row()] = s.of, s.of
	}
	var refused []string
	for flag := range f.Fields() {
		of, known := types[flag.Row()]
		if known && flag.Given() && !slices.Contains(of, kind) && !slices.Contains(lost(f), flag) {
			refused = append(refused, flag.Flag())
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
	var given []option.Field
	var flags []string
	for flag := range f.Fields() {
		if _, isPhase := ofPhase()[flag.Row()]; isPhase && flag.Given() {
			given, flags = append(given, flag), append(flags, flag.Flag())
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
			phaseFlag(f, o, n)
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
	for flag := range r.options.Flags.Fields() {
		if flag.Swept() != nil {
			all[i].Field(flag.Row()).Take(flag)
		}
	}
}

// written is a node with the value of a flag.
func written(flag option.Field) *document.Node {
	n := document.Of(flag.Value())
	n.Origin = flag.Flag()
	return n
}

// retype changes the type of a phase where a flag asks for it, and drops keys that the new type does not have. It
// reports whether the flags fit the type and one another.
func (r *reader) retype(f *settings.Settings, n *document.Node) bool {
	before, _ := textOf(n.Get("type"))
	rates := []string{schema.Constant, schema.Poisson, schema.Gamma}
	kind, flag := before, ""
	rated := f.RequestRate.Given() || f.RequestRateSeries.Given()
	if f.UserCentricRate.Given() && rated {
		r.faults.Add("", "%s and %s set the same key, rate: keep one", f.UserCentricRate.Flag(),
			firstGiven(&f.RequestRate, &f.RequestRateSeries).Flag())
		return false
	}
	if f.FixedSchedule.Given() && f.FixedSchedule.Get() {
		kind, flag = schema.FixedSchedule, f.FixedSchedule.Flag()
		if rate := firstGiven(&f.RequestRate, &f.RequestRateSeries, &f.UserCentricRate); rate != nil {
			r.faults.Add("", "%s and %s exclude each other: a fixed schedule has no rate", flag, rate.Flag())
			return false
		}
	}
	switch {
	case f.UserCentricRate.Given():
		kind, flag = schema.UserCentric, f.UserCentricRate.Flag()
	case rated && !slices.Contains(rates, before) && (before != schema.UserCentric || f.RequestRateSeries.Given()):
		kind, flag = schema.Poisson, firstGiven(&f.RequestRate, &f.RequestRateSeries).Flag()
	case f.RequestRateSeries.Given():
		flag = f.RequestRateSeries.Flag()
	}
	if f.ArrivalPattern.Given() {
		if !slices.Contains(rates, kind) {
			r.faults.Add("", "%s needs a phase with a rate, not one of type %s", f.ArrivalPattern.Flag(), kind)
			return false
		}
		kind, flag = f.ArrivalPattern.Get(), f.ArrivalPattern.Flag()
	}
	if f.ArrivalSmoothness.Given() {
		if !slices.Contains(rates, kind) {
			r.faults.Add("", "%s needs a phase with a rate, not one of type %s", f.ArrivalSmoothness.Flag(), kind)
			return false
		}
		kind, flag = schema.Gamma, f.ArrivalSmoothness.Flag()
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
	if f.RequestRate.Given() || f.UserCentricRate.Given() {
		n.Delete("rate_series")
	}
	return true
}

// firstGiven is the first of the options that was given, nil if none was.
func firstGiven(options ...option.Field) option.Field {
	for _, o := range options {
		if o.Given() {
			return o
		}
	}
	return nil
}

// phaseFlag writes the value of a flag into the mapping of a phase.
func phaseFlag(f *settings.Settings, flag option.Field, n *document.Node) {
	value, key := written(flag), ofPhase()[flag.Row()]
	switch flag {
	case &f.FixedSchedule, &f.ArrivalPattern:
	case &f.RequestCancellationRate, &f.RequestCancellationDelay:
		c := n.Get("cancellation")
		if c == nil || c.Kind != document.Map {
			c = &document.Node{Kind: document.Map, Origin: value.Origin}
			n.Set("cancellation", c)
		}
		c.Set(key, value)
	case &f.ConcurrencyRampDuration, &f.PrefillConcurrencyRampDuration, &f.RequestRateRampDuration:
		if ramp := n.Get(key); ramp != nil && ramp.Kind == document.Map {
			ramp.Set("duration", value)
		} else {
			n.Set(key, value)
		}
	case &f.BenchmarkDuration:
		n.Set(key, value)
		if n.Get("grace_period") == nil && !f.BenchmarkGracePeriod.Given() {
			n.Set("grace_period", &document.Node{Kind: document.Float, Scalar: 30.0, Written: "30",
				Origin: value.Origin})
		}
	case &f.FixedScheduleStartOffset:
		n.Set(key, value)
		if n.Get("auto_offset") == nil {
			n.Set("auto_offset", &document.Node{Kind: document.Bool, Scalar: false, Written: "false",
				Origin: value.Origin})
		}
	case &f.RequestRate, &f.UserCentricRate:
		n.Set("rate", value)
		n.Delete("rate_series")
	case &f.RequestRateSeries:
		n.Set("rate_series", value)
		n.Delete("rate")
	default:
		n.Set(key, value)
	}
}

// warmupFlags applies the flags of a warm-up: to the first phase of that kind, or to a new one in front.
func (r *reader) warmupFlags(f *settings.Settings, all []*phase) []*phase {
	var flags []string
	var given []option.Field
	for flag := range f.Fields() {
		if strings.HasPrefix(flag.Row().YAML, "phases.warmup.") && flag.Given() {
			given, flags = append(given, flag), append(flags, flag.Flag())
		}
	}
	if len(given) == 0 {
		return all
	}
	i := slices.IndexFunc(all, func(p *phase) bool { return p.Kind == warmup })
	fresh := i < 0
	if fresh {
		if firstGiven(&f.WarmupRequestCount, &f.NumWarmupSessions, &f.WarmupDuration) == nil {
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
	switch rate, pattern := f.WarmupRequestRate.Given(), f.WarmupArrivalPattern.Given(); {
	case fresh && rate:
		n.Set("type", document.Of(schema.Poisson)) // the pattern of a flag follows
	case fresh && pattern:
		r.warn(fault.LevelWarning, "%s has no effect without --warmup-request-rate", f.WarmupArrivalPattern.Flag())
		given = slices.DeleteFunc(given, func(flag option.Field) bool { return flag == &f.WarmupArrivalPattern })
	case rate && !pattern && !rated:
		r.faults.Add("", "%s: the warm-up phase has the type %s; give --warmup-arrival-pattern too",
			f.WarmupRequestRate.Flag(), kind)
		return all
	case pattern && !rate && !rated:
		r.faults.Add("", "%s needs a rate: give --warmup-request-rate too", f.WarmupArrivalPattern.Flag())
		return all
	}
	for _, flag := range given {
		key := strings.TrimPrefix(flag.Row().YAML, "phases.warmup.")
		if flag == &f.WarmupDuration && n.Get("grace_period") == nil && !f.WarmupGracePeriod.Given() {
			n.Set("grace_period", &document.Node{Kind: document.Text, Scalar: "inf", Written: "inf",
				Origin: flag.Flag()})
		}
		n.Set(key, written(flag))
	}
	return all
}

package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
)

// The names that a command line without a file gives its parts in paths.
const (
	flagDataset = "main"
	flagPhase   = "profiling"
)

// Lists returns the options that flags give several values, in the order of the table.
func Lists(p *settings.Settings) (list []option.Field) {
	for f := range p.Fields() {
		if f.Swept() != nil {
			list = append(list, f)
		}
	}
	return list
}

// Flagged reports whether flags describe a sweep of their own.
func Flagged(p *settings.Settings) bool { return len(Lists(p)) > 0 || p.Variant.Given() }

// FromFlags expands the sweep of a command line. block is the "sweep:" that its flags stand for, nil for that of lists
// and variants. The error is a fault.List, or names the flag.
func FromFlags(p *settings.Settings, block *document.Node) (*Plan, error) {
	envelope := document.Of(artifact.Object{{Key: "benchmark", Value: artifact.Object{
		{Key: "phases", Value: []any{artifact.Object{{Key: "name", Value: flagPhase}}}},
		{Key: "datasets", Value: []any{artifact.Object{{Key: "name", Value: flagDataset}}}},
	}}})
	if seed := p.RandomSeed.Pointer(); seed != nil {
		envelope.Set("random_seed", document.Of(*seed))
	}
	if p.VarySeedPerTrial.Get() {
		envelope.Set("multi_run", document.Of(artifact.Object{{Key: "vary_seed_per_trial", Value: true}}))
	}
	x := &expansion{file: &document.File{Name: "the flags"}, raw: envelope}
	switch {
	case block != nil:
		envelope.Set("sweep", block)
		return x.expand()
	case p.Variant.Given():
		return x.variants(p)
	}
	envelope.Set("sweep", document.Of(append(flagCommon(p), listed(p)...)))
	return x.expand()
}

// listed are the keys of the sweep that lists of flags stand for.
func listed(p *settings.Settings) artifact.Object {
	parameters := artifact.Object{}
	for _, o := range Lists(p) {
		parameters = append(parameters, artifact.Member{Key: pathOf(o.Row()), Value: o.Swept()})
	}
	return artifact.Object{{Key: "type", Value: p.SweepType.Get()}, {Key: "parameters", Value: parameters}}
}

// Block returns the "sweep:" of a file that is the sweep of a command line, nil for one without a sweep.
func Block(p *settings.Settings) (*document.Node, error) {
	switch {
	case p.Variant.Given():
		return nil, fmt.Errorf("%s cannot be written to a file: write a sweep of type scenarios, with a name and the "+
			"keys that differ under each of its runs", p.Variant.Flag())
	case len(Lists(p)) == 0:
		return nil, nil
	}
	block := listed(p)
	for i, o := range []option.Field{&p.ParameterSweepCooldownSeconds, &p.ParameterSweepMode,
		&p.ParameterSweepSameSeed} {
		if o.Given() {
			block = append(block, flagCommon(p)[i])
		}
	}
	return document.Of(block), nil
}

// flagCommon are the keys of every sweep as flags give them.
func flagCommon(p *settings.Settings) artifact.Object {
	return artifact.Object{{Key: "cooldown_seconds", Value: p.ParameterSweepCooldownSeconds.Get()},
		{Key: "iteration_order", Value: p.ParameterSweepMode.Get()},
		{Key: "same_seed", Value: p.ParameterSweepSameSeed.Get()}}
}

// datasetPath is what the table of options calls the only dataset.
const datasetPath = "datasets.default."

// pathOf is the path of an option in the sweep of a command line.
func pathOf(o *option.Option) string {
	if rest, ok := strings.CutPrefix(o.YAML, datasetPath); ok {
		return "datasets." + flagDataset + "." + rest
	}
	return o.YAML
}

// optionAt finds the option that a path of the sweep of a command line sets, nil if there is none.
func optionAt(path string) *option.Option {
	for _, whole := range []string{path, path + ".mean"} {
		for f := range option.Rows().Fields() {
			if o := f.Row(); o.YAML != "" && pathOf(o) == whole {
				return o
			}
		}
	}
	return nil
}

// Over is a file with flags over it, nil for none.
type Over struct {
	File  *document.File
	Raw   *document.Node
	Flags *settings.Settings
}

// Expand expands the sweep of a file with flags over it. Each list of a flag is an axis of a grid, in the place of the
// file's own values for that field.
func (l *Over) Expand() (*Plan, error) {
	raw, err := l.Envelope()
	if err != nil {
		return nil, err
	}
	return Expand(l.File, raw)
}

// Envelope returns the envelope of the file with the lists of flags in its sweep.
func (l *Over) Envelope() (*document.Node, error) {
	if l.Flags == nil || len(Lists(l.Flags)) == 0 {
		return l.Raw, nil
	}
	return l.withLists()
}

// withLists puts the lists of flags into the sweep of the file.
func (l *Over) withLists() (*document.Node, error) {
	raw := l.Raw.Clone()
	x := &expansion{file: l.File, raw: raw}
	var flags []string
	for _, o := range Lists(l.Flags) {
		flags = append(flags, o.Flag())
	}
	parameters := &document.Node{Kind: document.Map}
	block := raw.Get("sweep")
	if block != nil && block.Kind == document.Map {
		if kind := words(block.Get("type"), ""); kind != Grid {
			return nil, fmt.Errorf(
				"%s: the list cannot be joined with the sweep of %s (line %d), which is of type %s: a "+
					"list of a flag is an axis of a grid", strings.Join(flags, ", "), l.File.Name, block.Pos.Line, kind)
		}
		if own := block.Get("parameters"); own != nil && own.Kind == document.Map {
			parameters = own
		}
	} else {
		block = document.Of(artifact.Object{{Key: "type", Value: Grid}})
		raw.Set("sweep", block)
	}
	block.Set("parameters", parameters)
	for _, o := range Lists(l.Flags) {
		path := o.Row().YAML
		if rest, ok := strings.CutPrefix(path, datasetPath); ok {
			path = "dataset." + rest
		}
		where, err := x.find(path)
		if short, is := strings.CutSuffix(path, ".mean"); err != nil && is {
			path = short // of a length that the file writes as a number
			where, err = x.find(path)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: a list of values needs one place in %s: %s: %w", o.Flag(),
				l.File.Name,
				path, err)
		}
		for _, m := range slices.Clone(parameters.Members) {
			if other, err := x.find(m.Key); err == nil && overlap(other.steps, where.steps) {
				parameters.Delete(m.Key)
			}
		}
		values := document.Of(o.Swept())
		for _, item := range values.Items {
			item.Origin = o.Flag()
		}
		parameters.Set(path, values)
		// A list that the file writes at the field itself would be refused, and is replaced.
		first := document.Of(o.Swept()[0])
		first.Origin = o.Flag()
		assignment{steps: where.steps, value: first}.apply(raw)
	}
	return raw, nil
}

// Settings returns base, the settings of a command line, with what the variation sets in the place of lists and
// variants. With a file, base are the flags over it, and only the lists among them are replaced.
func (v *Variation) Settings(base *settings.Settings, file bool) (*settings.Settings, error) {
	own := base.Copy()
	own.Cell = true
	lists := Lists(base)
	for _, o := range lists {
		own.Field(o.Row()).Unset()
	}
	for _, o := range []option.Field{&own.Variant, &own.SweepType, &own.ParameterSweepMode,
		&own.ParameterSweepCooldownSeconds, &own.ParameterSweepSameSeed, &own.NoSweepTable} {
		if !file {
			o.Unset()
		}
	}
	for _, s := range v.options(base) {
		if file && !slices.ContainsFunc(lists, func(o option.Field) bool { return o.Row() == s.option }) {
			continue
		}
		if s.option == nil {
			return nil, fmt.Errorf("%s: there is no flag for this path; write it in a configuration file, which "+
				"aiperf config from-flags makes", s.path)
		}
		from := base.Field(s.option).Origin()
		if from.Source != option.FromFlag {
			from = option.Origin{Source: option.FromFlag, Name: "--" + s.option.Name}
		}
		if err := own.Field(s.option).Set([]string{s.text}, from); err != nil {
			return nil, fmt.Errorf("%s %s: %w", from.Name, s.text, err)
		}
	}
	if !file && v.Seed != nil {
		from := base.RandomSeed.Origin()
		if from.Source == option.FromDefault {
			from = option.Origin{Source: option.FromFlag, Name: "--random-seed"}
		}
		own.RandomSeed.Put(*v.Seed, from)
	}
	return own, nil
}

// override is a value for an option, as text.
type override struct {
	path   string
	option *option.Option // nil: no option has the path
	text   string
}

// options are those that the variation sets.
func (v *Variation) options(base *settings.Settings) (list []override) {
	if v.given != nil {
		return v.given
	}
	add := func(path string, n *document.Node) {
		list = append(list, override{path, optionAt(path), pythonText(n)})
	}
	for _, s := range v.sets {
		path := s.path
		for _, o := range Lists(base) { // of a file its own names stand in the path
			if s.value.Origin == o.Flag() {
				path = pathOf(o.Row())
			}
		}
		add(path, s.value)
	}
	if v.partial != nil {
		leaves(v.partial, "", add)
	}
	return list
}

// leaves calls f for the values of a partial benchmark. Entries of lists go by their names.
func leaves(n *document.Node, path string, f func(path string, n *document.Node)) {
	for _, m := range n.Members {
		below := m.Key
		if path != "" {
			below = path + "." + m.Key
		}
		switch m.Value.Kind {
		case document.Map:
			leaves(m.Value, below, f)
		case document.List:
			for i, item := range m.Value.Items {
				if name := words(item.Get("name"), ""); item.Kind == document.Map && name != "" {
					own := item.Clone()
					own.Delete("name")
					leaves(own, below+"."+name, f)
				} else {
					f(document.Index(below, i), item)
				}
			}
		default:
			f(below, m.Value)
		}
	}
}

// variants makes a variation of each --variant.
func (x *expansion) variants(p *settings.Settings) (*Plan, error) {
	x.plan.Type = Scenarios
	flag := p.Variant.Flag()
	if lists := Lists(p); len(lists) > 0 {
		return nil, fmt.Errorf("%s and the list of %s are mutually exclusive", flag, lists[0].Flag())
	}
	x.common(document.Of(flagCommon(p)))
	taken := map[string]bool{}
	for i, text := range p.Variant.Get() {
		v, err := variant(text, i)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", flag, artifact.RedactURLs(text), err)
		}
		if taken[strings.ToLower(v.Dir)] {
			return nil, fmt.Errorf("%s %q: another one has the name %s as well; names must differ in more than case",
				flag, text, v.Label)
		}
		taken[strings.ToLower(v.Dir)] = true
		v.base = x.raw
		x.plan.Variations = append(x.plan.Variations, v)
	}
	x.seeds()
	if err := x.faults.Err(); err != nil {
		return nil, err
	}
	for i := range x.plan.Variations {
		x.plan.Variations[i].Index = i
	}
	return &x.plan, nil
}

// variant reads "[name:] key=value, key=value".
func variant(text string, index int) (Variation, error) {
	v := Variation{Label: fmt.Sprintf("v%d", index), given: []override{}}
	body := text
	if name, rest, named := strings.Cut(text, ":"); named && !strings.Contains(name, "=") {
		v.Label, body = strings.TrimSpace(name), rest
	}
	v.Dir = FolderName(v.Label)
	if v.Dir == "" || strings.ContainsAny(v.Label, `/\`) || strings.Contains(v.Label, "..") {
		return v, errors.New("the name cannot be that of a folder")
	}
	if strings.TrimSpace(body) == "" {
		return v, errors.New("it sets nothing; write key=value, with the names of flags as keys")
	}
	for _, part := range strings.Split(body, ",") {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimLeft(strings.TrimSpace(name), "-"), strings.TrimSpace(value)
		if !ok || name == "" {
			return v, fmt.Errorf("%q is not key=value", strings.TrimSpace(part))
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		o, known := option.Find("--" + strings.ReplaceAll(name, "_", "-"))
		if !known {
			return v, fmt.Errorf("there is no flag --%s", strings.ReplaceAll(name, "_", "-"))
		}
		if slices.ContainsFunc(v.given, func(s override) bool { return s.option == o }) {
			return v, fmt.Errorf("%s is given twice", name)
		}
		path := pathOf(o)
		if path == "" {
			path = o.Name
		}
		v.given = append(v.given, override{path, o, value})
		v.Values = append(v.Values, artifact.Member{Key: path, Value: option.Coerce(value)})
	}
	return v, nil
}

package file

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
)

// reader turns a rendered envelope into settings.
type reader struct {
	*Source
	options  Options
	root     *document.Node
	base     *settings.Settings
	faults   fault.List
	warnings []fault.Warning
	// unused are keys without effect, by the reason.
	unused map[string][]string
}

func (r *reader) fault(n *document.Node, path, format string, args ...any) {
	if r.broken[path] {
		return
	}
	if n.Origin != "" {
		r.faults.Add("", "%s: %s: %s", n.Origin, path, fmt.Sprintf(format, args...))
		return
	}
	r.File.Fault(&r.faults, n.Pos, path, format, args...)
}

func (r *reader) warn(level fault.Level, format string, args ...any) {
	r.warnings = append(r.warnings, fault.Warning{Level: level, Text: fmt.Sprintf(format, args...)})
}

// target is where the values of a section go, and which keys it has.
type target struct {
	*settings.Settings
	// kind is the type of dataset or phase whose keys the section has; "" outside of them.
	kind string
}

// read reads the whole envelope.
func (r *reader) read() {
	env := schema.Envelope()
	for _, m := range r.root.Members {
		field, ok := env.Field(m.Key)
		switch {
		case !ok, m.Key == "benchmark", m.Key == "sweep", m.Key == "plot":
		case m.Key == "variables":
			if o, ok := m.Value.Any().(artifact.Object); ok {
				r.base.TemplateVariables.Put(o, r.origin(m.Value, "variables"))
			} else if m.Value.Kind != document.Null {
				r.fault(m.Value, "variables", "is %v; it must be a mapping", m.Value.Kind)
			}
		default:
			r.value(target{Settings: r.base}, field, m.Value, m.Key)
		}
	}
	body := Body(r.root)
	if body == nil || body.Kind != document.Map {
		return
	}
	k := schema.Body()
	for _, m := range body.Members {
		if m.Key != "phases" && m.Key != "datasets" {
			r.member(target{Settings: r.base}, k, m, "benchmark")
		}
	}
	if r.base.NoServerMetrics.Get() && len(r.base.ServerMetrics.Get()) == 0 {
		r.base.ServerMetrics.Unset() // an empty list names no servers
	}
	r.models(body)
	r.require(target{}, k, body, "benchmark")
	r.dataset(body)
	r.defaults()
	r.overlay()
	r.phases(body)
	r.warnUnused()
}

// require reports required keys that a section lacks.
func (r *reader) require(t target, k schema.Key, n *document.Node, path string) {
	for _, f := range k.Fields {
		if v := n.Get(f.Name); f.Required && (t.kind == "" || f.Has(t.kind)) && (v == nil || v.Kind == document.Null) &&
			!r.byFlag(f) {
			r.fault(n, document.Path(path, f.Name), "is missing%s", meaning(f))
		}
	}
}

// meaning is what a key is for, as the end of a message.
func meaning(k schema.Key) string {
	text := strings.TrimSuffix(k.Text(), ".")
	if text == "" {
		return ""
	}
	return ": " + strings.ToLower(text[:1]) + text[1:]
}

// byFlag reports whether a flag gives what a required key would.
func (r *reader) byFlag(k schema.Key) bool {
	f := r.options.Flags
	if f == nil {
		return false
	}
	switch k.Name {
	case "models", "items":
		return f.ModelNames.Given()
	case "endpoint", "urls":
		return f.URL.IsSet()
	}
	return k.Option != nil && f.Field(k.Option).Given()
}

// section reads the members of a section.
func (r *reader) section(t target, k schema.Key, n *document.Node, path string) {
	if n.Kind != document.Map {
		r.fault(n, path, "is %v; it must be a mapping", n.Kind)
		return
	}
	for _, m := range n.Members {
		r.member(t, k, m, path)
	}
	r.require(t, k, n, path)
}

// member reads one member of a section.
func (r *reader) member(t target, k schema.Key, m document.Member, path string) {
	below := document.Path(path, m.Key)
	field, ok := k.FieldOf(m.Key, t.kind)
	if !ok {
		place := &document.Node{Pos: m.Pos}
		if other, exists := k.Field(m.Key); exists && t.kind != "" {
			r.fault(place, below, "does not belong to the type %s, but to %s", t.kind, orList(k.TypesOf(other.Name)))
		} else {
			r.fault(place, below, "%s", unknown(k, m.Key))
		}
		return
	}
	r.value(t, field, m.Value, below)
}

func orList(choices []string) string {
	if len(choices) < 2 {
		return strings.Join(choices, "")
	}
	return strings.Join(choices[:len(choices)-1], ", ") + " or " + choices[len(choices)-1]
}

// value reads the value of a key; null is as good as no value.
func (r *reader) value(t target, k schema.Key, n *document.Node, path string) {
	if n.Kind == document.Null {
		return
	}
	if k.Unused != "" {
		if r.unused == nil {
			r.unused = map[string][]string{}
		}
		r.unused[k.Unused] = append(r.unused[k.Unused], path)
	}
	if effect := effectOf(path); effect != nil {
		effect(r, t, k, n, path)
		return
	}
	switch k.Holds() {
	case schema.Section:
		r.section(t, k, n, path)
	case schema.Sections:
		r.each(n, path, func(item *document.Node, path string) { r.section(t, k, item, path) })
	case schema.Anything: // checked by the room that it is for
	default:
		r.set(t, k, n, path)
	}
}

// general finds the indices in a path.
var general = pattern.New(`\[\d+\]`)

func (r *reader) each(n *document.Node, path string, f func(item *document.Node, path string)) {
	if n.Kind != document.List {
		r.fault(n, path, "is %v; it must be a list", n.Kind)
		return
	}
	for i, item := range n.Items {
		f(item, document.Index(path, i))
	}
}

func (r *reader) origin(n *document.Node, path string) option.Origin {
	return option.Origin{Source: option.FromFile, Name: at(r.File, n, path)}
}

// set gives the key's option its value, or only checks it where the key has none.
func (r *reader) set(t target, k schema.Key, n *document.Node, path string) {
	texts, err := r.tokens(k, n)
	if err != nil {
		r.fault(n, path, "%v", err)
		return
	}
	if k.Option != nil {
		r.apply(t.Field(k.Option), texts, n, path)
	}
}

// apply sets an option; texts are the tokens of a single value, or the items of a list.
func (r *reader) apply(f option.Field, texts []string, n *document.Node, path string) {
	o := *f.Row()
	if o.Type == option.Path && len(texts) == 1 {
		texts[0] = r.locate(texts[0])
		if r.options.NoFiles {
			o.MustExist = false
		}
	}
	o.Sweep = false
	var err error
	if o.Arity != option.One && o.Type != option.Pairs && o.Type != option.Headers {
		err = o.SetItems(f, texts, r.origin(n, path))
	} else {
		err = o.Set(f, texts, r.origin(n, path))
	}
	if err != nil {
		r.fault(n, path, "%s%v", shown(&o, n), err)
	}
}

// shown repeats a scalar in a message unless it may be a secret.
func shown(o *option.Option, n *document.Node) string {
	if o.Secret || o.Address || o.Type == option.Headers || o.Type == option.URLHeaders || n.Scalar == nil {
		return ""
	}
	return fault.Shorten(n.Written) + " "
}

// locate finds the file that a relative path names: from the folder of the configuration first, then from the working
// directory.
func (r *reader) locate(path string) string {
	if path == "" || filepath.IsAbs(path) || r.dir() == "." {
		return path
	}
	near := filepath.Join(r.dir(), path)
	if _, err := os.Stat(near); err == nil {
		return near
	}
	return path
}

// tokens are the texts that stand for a value on a command line.
func (r *reader) tokens(k schema.Key, n *document.Node) ([]string, error) {
	switch k.Holds() {
	case schema.Table, schema.TextTable:
		if n.Kind != document.Map {
			return nil, fmt.Errorf("is %v; it must be a mapping", n.Kind)
		}
		if k.Holds() == schema.TextTable {
			for _, m := range n.Members {
				if m.Value.Scalar == nil {
					return nil, fmt.Errorf("%s is %v; it must be a text", m.Key, m.Value.Kind)
				}
			}
		}
		text, err := artifact.AppendJSON(nil, n.Any())
		return []string{string(text)}, err
	case schema.Words, schema.Numbers:
		items := []*document.Node{n}
		if n.Kind == document.List {
			items = n.Items
		}
		texts := make([]string, len(items))
		for i, item := range items {
			if item.Scalar == nil {
				return nil, fmt.Errorf("item %d is %v; it must be a single value", i+1, item.Kind)
			}
			texts[i] = item.Written
		}
		return texts, nil
	case schema.Duration:
		seconds, err := duration(n)
		if err == nil {
			err = inside(k, seconds)
		}
		return []string{plain(seconds)}, err
	}
	return scalarToken(k, n)
}

// scalarToken is the text of a single value.
func scalarToken(k schema.Key, n *document.Node) ([]string, error) {
	if n.Kind == document.List && (k.Holds() == schema.Whole || k.Holds() == schema.Number) {
		return nil, errors.New("is a list; several values are a sweep: write them below \"sweep: {type: grid, " +
			"parameters: …}\"")
	}
	if n.Scalar == nil {
		return nil, fmt.Errorf("is %v; it must be %s", n.Kind, wanted(k))
	}
	switch k.Holds() {
	case schema.Switch:
		b, ok := boolean(n)
		if !ok {
			return nil, fmt.Errorf("%s is not a boolean; use true or false", fault.Shorten(n.Written))
		}
		return []string{strconv.FormatBool(b)}, nil
	case schema.Whole, schema.Number:
		v, ok := n.Number()
		if !ok || k.Holds() == schema.Whole && v != math.Trunc(v) {
			if k.Option != nil && k.Option.Unit > 0 && n.Kind == document.Text {
				return []string{n.Written}, nil // a time with its unit
			}
			return nil, fmt.Errorf("%s is not %s", fault.Shorten(n.Written), wanted(k))
		}
		if err := inside(k, v); err != nil {
			return nil, err
		}
		if math.IsInf(v, 0) {
			return []string{n.Written}, nil
		}
		return []string{plain(v)}, nil
	case schema.Choice:
		if _, ok := option.MatchEnum(n.Written, k.Choices()); !ok && k.Option == nil {
			return nil, fmt.Errorf("%s %s", fault.Shorten(n.Written), suggest.OneOf(n.Written, k.Choices()))
		}
	}
	return []string{n.Written}, nil
}

// inside checks the limits of a key.
func inside(k schema.Key, v float64) error {
	if l := k.Bounds(); !l.Contains(v) {
		return fmt.Errorf("%s is out of range; it must be %s", plain(v), l)
	}
	return nil
}

func wanted(k schema.Key) string {
	switch k.Holds() {
	case schema.Switch:
		return "true or false"
	case schema.Whole:
		return "a whole number"
	case schema.Number:
		return "a number"
	case schema.Choice:
		return "one of " + strings.Join(k.Choices(), ", ")
	}
	return "a text"
}

// plain writes a number without an exponent; whole ones without a point.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// boolean is the value of a node that is one, or a text that stands for one.
func boolean(n *document.Node) (value, ok bool) {
	switch n.Kind {
	case document.Bool:
		return n.Scalar.(bool), true
	case document.Int:
		v := n.Scalar.(int64)
		return v == 1, v == 0 || v == 1
	case document.Text:
		b, err := scalar.Bool(n.Written)
		return b, err == nil && len(n.Written) > 1
	}
	return false, false
}

var durationText = pattern.New(`(?i)^([0-9]*\.?[0-9]+|[0-9]+\.)\s*(s|sec|m|min|h|hr|hour)?$`)

// duration is a number of seconds, or a text with one unit; inf is no limit.
func duration(n *document.Node) (float64, error) {
	text, _ := n.Scalar.(string)
	text = strings.TrimSpace(text)
	if v, ok := n.Number(); ok && (text == "" || math.IsInf(v, 1)) {
		return v, nil
	}
	if strings.EqualFold(text, "infinity") || strings.EqualFold(text, "inf") {
		return math.Inf(1), nil
	}
	parts := durationText.FindStringSubmatch(text)
	if parts == nil {
		shown := n.Kind.String()
		if n.Scalar != nil {
			shown = fault.Shorten(n.Written)
		}
		return 0, fmt.Errorf(
			"%s is not a time: write a number of seconds, or one number with s, m or h, such as 90s or 1.5m",
			shown)
	}
	v, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return 0, err
	}
	switch strings.ToLower(parts[2]) {
	case "m", "min":
		v *= 60
	case "h", "hr", "hour":
		v *= 3600
	}
	return v, nil
}

// warnUnused names the keys that were read and have no effect.
func (r *reader) warnUnused() {
	for _, why := range slices.Sorted(maps.Keys(r.unused)) {
		r.warn(fault.LevelWarning, "%s: %s: without effect, for %s", r.Name, strings.Join(r.unused[why], ", "), why)
	}
}

package plot

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/gpu"
)

// FolderConfig is the name of a configuration in a folder of results.
const FolderConfig = ".aiperf-plot-config.yaml"

//go:embed plot_config.yaml
var builtin []byte

// Builtin returns the configuration of this program.
func Builtin() *Config {
	c, err := ParseConfig("built-in plot configuration", builtin)
	if err != nil {
		panic(err)
	}
	c.Path = ""
	return c
}

// ConfigSource is where a configuration was found.
type ConfigSource struct {
	Path string
	// Created reports that the file is new: a copy of the built-in configuration.
	Created bool
	// Problem is why the user's own file could not be created; the built-in configuration is used then.
	Problem error
}

// FindConfig returns the configuration to use: the file that the user names; else [FolderConfig] in the first of the
// paths that has one; else plot_config.yaml in the folder home, which is made if there is none and create is set.
func FindConfig(given string, paths []string, home string, create bool) ConfigSource {
	if given != "" {
		return ConfigSource{Path: given}
	}
	for _, path := range paths {
		file := filepath.Join(path, FolderConfig)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return ConfigSource{Path: file}
		}
	}
	if home == "" {
		return ConfigSource{}
	}
	file := filepath.Join(home, "plot_config.yaml")
	_, err := os.Stat(file)
	switch {
	case err == nil:
		return ConfigSource{Path: file}
	case !errors.Is(err, fs.ErrNotExist):
		return ConfigSource{Problem: err}
	case !create:
		return ConfigSource{}
	}
	if err = os.MkdirAll(home, 0o755); err == nil {
		err = artifact.WriteFile(file, builtin)
	}
	if err != nil {
		return ConfigSource{Problem: err}
	}
	return ConfigSource{Path: file, Created: true}
}

// ReadConfig reads a configuration; "" is the built-in one.
func ReadConfig(path string) (*Config, error) {
	if path == "" {
		return Builtin(), nil
	}
	text, err := bounded.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no plot configuration %s", path)
	}
	if err != nil {
		return nil, err
	}
	return ParseConfig(path, text)
}

// ParseConfig reads the text of a configuration. Its error is a [fault.List] with the places of all faults.
func ParseConfig(name string, text []byte) (*Config, error) {
	file, err := document.Read(name, text)
	if err != nil {
		return nil, err
	}
	return parse(file, file.Root, "", false)
}

// ParseEnvelope reads the plot section of a configuration of a benchmark. It is strict: keys that are not known are
// faults. What it does not set is as in the built-in configuration.
func ParseEnvelope(file *document.File, section *document.Node) (*Config, error) {
	return parse(file, section, "plot", true)
}

// parser reads the tree of a configuration.
type parser struct {
	file   *document.File
	strict bool
	faults fault.List
}

func parse(file *document.File, root *document.Node, path string, strict bool) (*Config, error) {
	p := &parser{file: file, strict: strict}
	c := &Config{Path: file.Name, Downsampling: Downsampling{Enabled: true, WindowNS: standardDownsamplingNS,
		Method: "mean"}}
	if !p.mapping(root, path) {
		return nil, p.faults.Err()
	}
	p.keys(root, path, "visualization", "settings", "experiment_classification")
	p.visualization(c, root.Get("visualization"), document.Path(path, "visualization"), root)
	if s := root.Get("settings"); present(s) && p.mapping(s, document.Path(path, "settings")) {
		at := document.Path(path, "settings")
		p.keys(s, at, "server_metrics_downsampling")
		p.downsampling(&c.Downsampling, s.Get("server_metrics_downsampling"),
			document.Path(at, "server_metrics_downsampling"))
	}
	if n := root.Get("experiment_classification"); present(n) {
		c.Classification = p.classification(n, document.Path(path, "experiment_classification"))
	}
	return c, p.faults.Err()
}

func present(n *document.Node) bool { return n != nil && n.Kind != document.Null }

func (p *parser) fault(n *document.Node, path, format string, args ...any) {
	p.file.FaultOf(&p.faults, n, path, format, args...)
}

func (p *parser) mapping(n *document.Node, path string) bool {
	if n == nil || n.Kind != document.Map {
		p.fault(n, path, "must be a mapping")
		return false
	}
	return true
}

// keys reports keys that are not known; the strict form only.
func (p *parser) keys(n *document.Node, path string, known ...string) {
	if !p.strict {
		return
	}
	for _, m := range n.Members {
		if !slices.Contains(known, m.Key) {
			p.file.Fault(&p.faults, m.Pos, document.Path(path, m.Key), "unknown key%s; known: %s",
				didYouMean(m.Key, known), strings.Join(known, ", "))
		}
	}
}

func didYouMean(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

func (p *parser) visualization(c *Config, n *document.Node, path string, root *document.Node) {
	if !present(n) && p.strict {
		b := Builtin()
		c.MultiDefaults, c.SingleDefaults, c.Multi, c.Single = b.MultiDefaults, b.SingleDefaults, b.Multi, b.Single
		return
	}
	if n == nil {
		p.fault(root, path, "is missing: it lists the plots")
		return
	}
	if !p.mapping(n, path) {
		return
	}
	p.keys(n, path, "multi_run_defaults", "single_run_defaults", "multi_run_plots", "single_run_plots")
	read := func(defaults, plots string, several bool) (names []string, presets []Preset) {
		base := inherited(p.strict, several)
		if m := n.Get(plots); present(m) && p.mapping(m, document.Path(path, plots)) {
			for _, member := range m.Members {
				at := document.Path(document.Path(path, plots), member.Key)
				if preset, ok := p.preset(member.Key, member.Value, at, several); ok {
					presets = append(presets, preset)
				}
			}
		}
		for _, preset := range base {
			if find(presets, preset.Name) == nil {
				presets = append(presets, preset)
			}
		}
		at := document.Path(path, defaults)
		list := n.Get(defaults)
		for i, item := range p.list(list, at) {
			name, ok := item.Scalar.(string)
			switch {
			case !ok:
				p.fault(item, document.Index(at, i), "must be the name of a plot")
			case find(presets, name) == nil && !defined(n.Get(plots), name):
				p.fault(item, document.Index(at, i), "there is no plot %s in %s%s", name, plots,
					didYouMean(name, presetNames(presets)))
			case !slices.Contains(names, name):
				names = append(names, name)
			}
		}
		return names, presets
	}
	c.MultiDefaults, c.Multi = read("multi_run_defaults", "multi_run_plots", true)
	c.SingleDefaults, c.Single = read("single_run_defaults", "single_run_plots", false)
	if p.strict {
		if n.Get("multi_run_defaults") == nil {
			c.MultiDefaults = Builtin().MultiDefaults
		}
		if n.Get("single_run_defaults") == nil {
			c.SingleDefaults = Builtin().SingleDefaults
		}
	}
}

// inherited returns the built-in plots that a section of a benchmark's configuration may name.
func inherited(strict, several bool) []Preset {
	switch {
	case !strict:
		return nil
	case several:
		return Builtin().Multi
	}
	return Builtin().Single
}

func defined(plots *document.Node, name string) bool { return plots.Get(name) != nil }

func presetNames(presets []Preset) []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	return names
}

// list returns the entries of a list; a node that is none is a fault.
func (p *parser) list(n *document.Node, path string) []*document.Node {
	if !present(n) {
		return nil
	}
	if n.Kind != document.List {
		p.fault(n, path, "must be a list")
		return nil
	}
	return n.Items
}

// preset reads a plot.
func (p *parser) preset(name string, n *document.Node, path string, several bool) (Preset, bool) {
	out := Preset{Name: name, Autoscale: "none", Level: standardLevel, Title: name}
	before := len(p.faults)
	if !p.mapping(n, path) {
		return out, false
	}
	if !validName(name) {
		p.fault(n, path, "the name of a plot is that of its files: letters, digits, _, - and . only")
	}
	known := []string{"type", "x", "y", "y2", "stat", "source", "labels", "groups", "title", "description", "x_label",
		"y_label", "autoscale", "ci_level", "use_slice_duration", "primary_style", "secondary_style",
		"supplementary_col"}
	p.keys(n, path, known...)
	kind := n.Get("type")
	if kind == nil {
		p.fault(n, document.Path(path, "type"), "is missing: one of %s", strings.Join(kindNames(several), ", "))
	} else if text := p.text(kind, document.Path(path, "type")); text != "" {
		if out.Kind = Kind(text); !slices.Contains(kindNames(several), text) {
			p.fault(kind, document.Path(path, "type"), "%q is no type of a plot of %s%s; one of %s", text,
				ofRuns(several), didYouMean(text, kindNames(several)), strings.Join(kindNames(several), ", "))
		}
	}
	out.X = p.axis(n, "x", path, several)
	out.Y = p.axis(n, "y", path, several)
	out.Y2 = p.axis(n, "y2", path, several)
	if stat := p.choice(n, "stat", path, "", statNames); stat != "" {
		for _, a := range [...]*Axis{&out.X, &out.Y, &out.Y2} {
			if a.Stat == "" {
				a.Stat = stat
			}
		}
	}
	if source := p.choice(n, "source", path, "", sources); source != "" {
		for _, a := range [...]*Axis{&out.X, &out.Y, &out.Y2} {
			if a.Source == "" {
				a.Source = source
			}
		}
	}
	if out.X.Metric == "" && out.Y.Metric == "" && len(p.faults) == before {
		p.fault(n, path, "has no metric: set x and y")
	} else if out.Y.Metric == "" && out.Kind != Histogram && len(p.faults) == before {
		p.fault(n, document.Path(path, "y"), "is missing")
	}
	if out.Kind == DualAxis && out.Y2.Metric == "" && len(p.faults) == before {
		p.fault(n, document.Path(path, "y2"), "is missing: a plot of the type dual_axis has two axes")
	}
	out.Label = p.column(n, "labels", path, standardLabel)
	out.Group = p.column(n, "groups", path, "")
	out.Title = p.words(n, "title", path, name)
	out.Description = p.words(n, "description", path, "")
	out.XLabel = p.words(n, "x_label", path, "")
	out.YLabel = p.words(n, "y_label", path, "")
	out.Autoscale = p.choice(n, "autoscale", path, "none", []string{"none", "x", "y", "both"})
	out.Supplement = p.words(n, "supplementary_col", path, "")
	if level := n.Get("ci_level"); present(level) {
		v, ok := level.Number()
		if !ok {
			p.fault(level, document.Path(path, "ci_level"), "must be 0.90, 0.95 or 0.99")
		} else if v == 0.90 || v == 0.99 {
			out.Level = v
		}
	}
	if flag := n.Get("use_slice_duration"); present(flag) {
		on, ok := flag.Scalar.(bool)
		if !ok {
			p.fault(flag, document.Path(path, "use_slice_duration"), "must be true or false")
		}
		out.UseSliceDuration = on
	}
	out.Primary = p.style(n, "primary_style", path)
	out.Secondary = p.style(n, "secondary_style", path)
	return out, len(p.faults) == before
}

var nameRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN_\-. ]+$`) })

// validName reports whether a file may have the name.
func validName(name string) bool {
	return nameRule().MatchString(name) && strings.Trim(name, ". ") != "" && len(name) <= 200
}

func ofRuns(several bool) string {
	if several {
		return "several runs"
	}
	return "a single run"
}

func kindNames(several bool) []string {
	var out []string
	for _, k := range kinds {
		if several && k.multi || !several && k.single {
			out = append(out, string(k.kind))
		}
	}
	return out
}

func (p *parser) text(n *document.Node, path string) string {
	text, ok := n.Scalar.(string)
	if !ok {
		p.fault(n, path, "must be a text")
	}
	return text
}

func (p *parser) words(n *document.Node, key, path, unset string) string {
	v := n.Get(key)
	if !present(v) {
		return unset
	}
	if v.Kind == document.List || v.Kind == document.Map {
		p.fault(v, document.Path(path, key), "must be a text")
		return unset
	}
	return v.Written
}

func (p *parser) choice(n *document.Node, key, path, unset string, known []string) string {
	v := n.Get(key)
	if !present(v) {
		return unset
	}
	text := p.text(v, document.Path(path, key))
	if text != "" && !slices.Contains(known, text) {
		p.fault(v, document.Path(path, key), "%q is not known%s; one of %s", text, didYouMean(text, known),
			strings.Join(known, ", "))
		return unset
	}
	return text
}

// column reads a list of a single name of a column.
func (p *parser) column(n *document.Node, key, path, unset string) string {
	v := n.Get(key)
	if !present(v) {
		return unset
	}
	at := document.Path(path, key)
	if v.Kind == document.Text {
		return v.Written
	}
	items := p.list(v, at)
	switch {
	case len(items) > 1:
		p.fault(v, at, "takes one column, not %d", len(items))
	case len(items) == 1:
		return p.text(items[0], document.Index(at, 0))
	}
	return unset
}

func (p *parser) style(n *document.Node, key, path string) (out Style) {
	v := n.Get(key)
	at := document.Path(path, key)
	if !present(v) || !p.mapping(v, at) {
		return out
	}
	p.keys(v, at, "mode", "line_shape", "fill", "line_width", "marker_size", "marker_opacity", "fill_opacity")
	out.Mode = p.choice(v, "mode", at, "", []string{"lines", "markers", "lines+markers"})
	out.Shape = p.words(v, "line_shape", at, "")
	out.Fill = p.words(v, "fill", at, "")
	for _, f := range [...]struct {
		key string
		to  *float64
	}{{"line_width", &out.Width}, {"marker_size", &out.Size}, {"marker_opacity", &out.Opacity},
		{"fill_opacity", &out.FillOpacity}} {
		number := v.Get(f.key)
		if !present(number) {
			continue
		}
		value, ok := number.Number()
		if !ok || value < 0 {
			p.fault(number, document.Path(at, f.key), "must be a number from 0 on")
		}
		*f.to = value
	}
	return out
}

// axis reads what an axis shows: a name, or a mapping of metric, stat and source.
func (p *parser) axis(n *document.Node, key, path string, several bool) Axis {
	v := n.Get(key)
	at := document.Path(path, key)
	var out Axis
	switch {
	case !present(v):
		return out
	case v.Kind == document.Map:
		p.keys(v, at, "metric", "stat", "source")
		name := v.Get("metric")
		if !present(name) {
			p.fault(v, document.Path(at, "metric"), "is missing")
			return out
		}
		out = p.metric(name, document.Path(at, "metric"), several)
		if stat := p.choice(v, "stat", at, "", statNames); stat != "" {
			out.Stat = stat
		}
		out.Source = p.choice(v, "source", at, "", sources)
	case v.Kind == document.Text:
		out = p.metric(v, at, several)
	default:
		p.fault(v, at, "must be a metric, as in request_latency_p99, or {metric: …, stat: …}")
	}
	return out
}

var statShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`_(p\d+|avg|mean|min|max|std|median|stddev)$`) })

// metric reads the name of a metric, which may end in a statistic.
func (p *parser) metric(n *document.Node, path string, several bool) Axis {
	name := p.text(n, path)
	out := Axis{Metric: name, pos: n.Pos}
	if name == "" || known(name, several) {
		return out
	}
	if cut := strings.LastIndexByte(name, '_'); cut > 0 {
		tag, stat := name[:cut], name[cut+1:]
		switch {
		case slices.Contains(statNames, stat) && (known(tag, several) || serverLike(tag)):
			out.Metric, out.Stat = tag, stat
			return out
		case statShape().MatchString(name) && !serverLike(name):
			p.fault(n, path, "%q ends in a statistic that is not known%s; known: %s", name,
				didYouMean(stat, statNames), strings.Join(statNames, ", "))
			return out
		}
	}
	if serverLike(name) {
		return out
	}
	names := knownNames(several)
	p.fault(n, path, "there is no metric %q%s; known: %s", name, didYouMean(name, names), strings.Join(names, ", "))
	return out
}

// requestColumns are the columns of requests besides their metrics, sliceColumn that of slices.
var requestColumns = []string{"request_number", "timestamp", "timestamp_s", "request_start_ns",
	"throughput_tokens_per_sec", "active_requests"}

const (
	sliceColumn = "Timeslice"
	perGPU      = "output_token_throughput_per_gpu"
)

// known reports whether a name is that of a metric or of a column.
func known(name string, several bool) bool {
	if _, ok := metrics.Lookup(name); ok || name == perGPU {
		return true
	}
	if _, ok := gpu.FieldNamed(name); ok {
		return true
	}
	if several {
		return slices.Contains(runColumns, name)
	}
	return name == sliceColumn || slices.Contains(requestColumns, name) || headerTag(name) != ""
}

// knownNames lists the names of metrics and columns, for messages.
func knownNames(several bool) []string {
	var names []string
	for _, d := range metrics.Table() {
		names = append(names, d.Tag)
	}
	names = append(names, perGPU)
	if several {
		names = append(names, runColumns...)
	} else {
		names = append(append(names, requestColumns...), sliceColumn)
	}
	slices.Sort(names)
	return names
}

// headerTag returns the metric with a header, as files of slices name it; "" for none.
func headerTag(header string) string {
	for _, d := range metrics.Table() {
		if d.Header == header {
			return d.Tag
		}
	}
	return ""
}

func (p *parser) downsampling(d *Downsampling, n *document.Node, path string) {
	if !present(n) || !p.mapping(n, path) {
		return
	}
	p.keys(n, path, "enabled", "window_size_seconds", "aggregation_method")
	if v := n.Get("enabled"); present(v) {
		on, ok := v.Scalar.(bool)
		if !ok {
			p.fault(v, document.Path(path, "enabled"), "must be true or false")
		}
		d.Enabled = on
	}
	if v := n.Get("window_size_seconds"); present(v) {
		seconds, ok := v.Number()
		if !ok || !(seconds > 0) || seconds > 1e9 {
			p.fault(v, document.Path(path, "window_size_seconds"), "must be a number above 0")
		} else {
			d.WindowNS = int64(seconds * 1e9)
		}
	}
	d.Method = p.choice(n, "aggregation_method", path, d.Method, []string{"mean", "max", "min", "median"})
}

func (p *parser) classification(n *document.Node, path string) *Classification {
	if !p.mapping(n, path) {
		return nil
	}
	p.keys(n, path, "baselines", "treatments", "default", "group_extraction_pattern", "group_display_names")
	c := &Classification{Default: "treatment", Pattern: standardPattern}
	globs := func(key string) (out []string) {
		at := document.Path(path, key)
		for i, item := range p.list(n.Get(key), at) {
			text := p.text(item, document.Index(at, i))
			if _, err := filepath.Match(text, ""); err != nil {
				p.fault(item, document.Index(at, i), "%q is not a pattern: * and ? and [a-z] stand for characters", text)
			}
			out = append(out, text)
		}
		return out
	}
	c.Baselines, c.Treatments = globs("baselines"), globs("treatments")
	c.Default = p.choice(n, "default", path, c.Default, []string{"baseline", "treatment"})
	if v := n.Get("group_extraction_pattern"); v != nil {
		if c.Pattern = ""; present(v) {
			at := document.Path(path, "group_extraction_pattern")
			c.Pattern = p.text(v, at)
			if _, err := regexp.Compile(c.Pattern); err != nil {
				p.fault(v, at, "is not a regular expression: %v", err)
				c.Pattern = ""
			}
		}
	}
	if v := n.Get("group_display_names"); present(v) && p.mapping(v, document.Path(path, "group_display_names")) {
		c.Names = map[string]string{}
		for _, m := range v.Members {
			c.Names[m.Key] = m.Value.Written
		}
	}
	return c
}

// Package pluginfile reads the files that declare plug-ins, and finds them: a folder for each plug-in, with a file
// plugin.yaml that names the programs it provides.
//
// Invariants: nothing is started here; of two programs with one name in one category only one is used, and the other
// one is reported. The package must never know how a program is called.
package pluginfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// FileName is the name of a manifest in the folder of its plug-in.
const FileName = "plugin.yaml"

// SchemaVersion is the version of manifests.
const SchemaVersion = "1.0"

// The categories of programs.
const (
	Endpoint = "endpoint"
	Loader   = "custom_dataset_loader"
	Exporter = "data_exporter"
	Metric   = "metric"
)

// Categories lists the categories that programs can provide.
func Categories() []string { return []string{Endpoint, Loader, Exporter, Metric} }

// Plugin is what a manifest declares.
type Plugin struct {
	// Path is the path of the manifest as it was found.
	Path string
	// Name and Version are those of the plug-in; Description may be empty.
	Name, Version, Description string
	Provides                   []Program
}

// Program is one program of a plug-in.
type Program struct {
	Category, Name string
	// Command is the program with its arguments; quotes keep words together. It runs in Dir, the absolute path of the
	// manifest's folder.
	Command, Dir string
	Priority     int64
	// Plugin, Version and Place are the plug-in, its version, and where it declares the program: file:line.
	Plugin, Version, Place string
	// Description is one sentence for lists.
	Description string
	// Format is the dataset format of the lines that a loader makes, Extensions are those of the files that it reads
	// without being named; Loader only.
	Format     string
	Extensions []string
	// Header and Unit name the figure of a Metric, whose tag is Name.
	Header, Unit string
	// Metadata is the whole of the metadata, for the program.
	Metadata artifact.Object
}

// String names the program for messages.
func (p *Program) String() string { return p.Category + " " + p.Name + " (" + p.Place + ")" }

// maxName bounds the names of programs, in bytes.
const maxName = 100

// isProgramName and isMetricTag report whether a text may be the name of a program, and the tag of a metric.
func isProgramName(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return text != "" && len(text) <= maxName && strings.Contains(letters, text[:1]) &&
		strings.Trim(text, letters+"_.-") == ""
}

func isMetricTag(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return text != "" && len(text) <= maxName && strings.Contains(letters, text[:1]) &&
		strings.Trim(text, letters+"0123456789_") == ""
}

// Read reads a manifest. Its error is a [fault.List] with everything that is wrong in it.
func Read(path string) (*Plugin, error) {
	data, err := bounded.ReadFile(path)
	if err != nil {
		return nil, fault.List{{Message: err.Error()}}
	}
	f, err := document.Read(path, data)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fault.List{{Message: err.Error()}}
	}
	r := reader{file: f, plugin: Plugin{Path: path}, dir: dir}
	r.read(f.Root)
	return &r.plugin, r.faults.Err()
}

// reader reads a manifest.
type reader struct {
	file   *document.File
	dir    string
	plugin Plugin
	faults fault.List
}

func (r *reader) fault(at document.Pos, format string, args ...any) {
	r.file.Fault(&r.faults, at, "", format, args...)
}

func (r *reader) read(root *document.Node) {
	r.keys(root, "schema_version", "name", "version", "description", "provides")
	if v := root.Get("schema_version"); v == nil {
		r.fault(root.Pos, "schema_version is missing: write schema_version: %q", SchemaVersion)
	} else if major, _, _ := strings.Cut(v.Written, "."); major != "1" {
		r.fault(v.Pos, "schema_version is %s; this program reads %s", fault.Shorten(v.Written), SchemaVersion)
	}
	r.plugin.Name = r.text(root, "name", true)
	if v := root.Get("version"); v != nil {
		r.plugin.Version = v.Written // 1.0 without quotes is a number
	}
	r.plugin.Description = r.text(root, "description", false)
	list := root.Get("provides")
	switch {
	case list == nil:
		r.fault(root.Pos, "provides is missing: the list of the programs of this plug-in")
	case list.Kind != document.List || len(list.Items) == 0:
		r.fault(list.Pos, "provides must be a list of programs, each with category, name, kind and entry")
	default:
		for _, item := range list.Items {
			r.program(item)
		}
	}
}

// program reads an item of provides.
func (r *reader) program(n *document.Node) {
	if n.Kind != document.Map {
		r.fault(n.Pos, "a program is a mapping with category, name, kind and entry, not %s", n.Kind)
		return
	}
	before := len(r.faults)
	r.keys(n, "category", "name", "kind", "entry", "priority", "metadata")
	p := Program{Category: r.text(n, "category", true), Name: r.text(n, "name", true),
		Command: r.text(n, "entry", true), Dir: r.dir, Plugin: r.plugin.Name, Version: r.plugin.Version,
		Place: fmt.Sprintf("%s:%d", r.file.Name, n.Pos.Line)}
	if p.Category != "" {
		category := Category(p.Category)
		if !slices.Contains(Categories(), category) {
			r.fault(n.Get("category").Pos, "a plug-in cannot provide the category %s%s: want %s",
				fault.Shorten(p.Category), didYouMean(category, Categories()), strings.Join(Categories(), ", "))
		}
		p.Category = category
	}
	switch {
	case p.Name == "":
	case p.Category == Metric && !isMetricTag(p.Name):
		r.fault(n.Get("name").Pos, "the name of a metric is its tag: lower-case letters, digits and underscores, "+
			"not %s", fault.Shorten(p.Name))
	case !isProgramName(p.Name):
		r.fault(n.Get("name").Pos, "a name consists of letters, digits, dots, dashes and underscores, not %s",
			fault.Shorten(p.Name))
	}
	if kind := n.Get("kind"); kind != nil && kind.Written != "process" {
		r.fault(kind.Pos, "the kind %s is not available: want process, an outside program", fault.Shorten(kind.Written))
	}
	if v := n.Get("priority"); v != nil {
		priority, ok := v.Scalar.(int64)
		if !ok {
			r.fault(v.Pos, "priority must be a whole number, not %s", v.Kind)
		}
		p.Priority = priority
	}
	r.metadata(&p, n)
	if len(r.faults) == before {
		r.plugin.Provides = append(r.plugin.Provides, p)
	}
}

// metadata reads what the category needs; the rest is the program's own.
func (r *reader) metadata(p *Program, program *document.Node) {
	n := program.Get("metadata")
	if n != nil && n.Kind != document.Map {
		r.fault(n.Pos, "metadata must be a mapping, not %s", n.Kind)
		return
	}
	if n != nil {
		p.Metadata, _ = n.Any().(artifact.Object)
	}
	p.Description = r.text(n, "description", false)
	switch p.Category {
	case Loader:
		p.Format = r.text(n, "format", false)
		formats := option.Rows().CustomDatasetType.Row().Values
		switch at := n.Get("format"); {
		case at == nil:
			r.fault(program.Pos, "metadata.format is missing: the format of the lines that the loader makes, such as "+
				"single_turn")
		case p.Format != "" && !slices.Contains(formats, p.Format):
			r.fault(at.Pos, "unknown dataset format %s%s", fault.Shorten(p.Format), didYouMean(p.Format, formats))
		}
		p.Extensions = r.extensions(n.Get("extensions"))
	case Metric:
		p.Header, p.Unit = r.text(n, "header", false), r.text(n, "unit", false)
		if p.Header == "" {
			p.Header = p.Name
		}
	}
}

func (r *reader) extensions(n *document.Node) (list []string) {
	if n == nil {
		return nil
	}
	if n.Kind != document.List {
		r.fault(n.Pos, "extensions must be a list such as [.log], not %s", n.Kind)
		return nil
	}
	for _, item := range n.Items {
		text, ok := item.Scalar.(string)
		if !ok || len(text) < 2 || text[0] != '.' {
			r.fault(item.Pos, "an extension begins with a dot, such as .log")
			continue
		}
		list = append(list, text)
	}
	return list
}

// keys reports unknown keys.
func (r *reader) keys(n *document.Node, known ...string) {
	for i := range n.Members {
		if m := &n.Members[i]; !slices.Contains(known, m.Key) {
			r.fault(m.Pos, "unknown key %s%s: want %s", fault.Shorten(m.Key), didYouMean(m.Key, known),
				strings.Join(known, ", "))
		}
	}
}

// text is a text of a map, "" where there is none.
func (r *reader) text(n *document.Node, key string, required bool) string {
	v := n.Get(key)
	if v == nil {
		if required {
			r.fault(n.Pos, "%s is missing", key)
		}
		return ""
	}
	text, ok := v.Scalar.(string)
	if !ok || required && strings.TrimSpace(text) == "" {
		r.fault(v.Pos, "%s must be a text", key)
		return ""
	}
	return text
}

func didYouMean(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}

// Category is the canonical spelling of a category: case does not matter, and dashes are underscores.
func Category(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

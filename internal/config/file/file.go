// Package file reads a configuration file into settings: the values of the options, each with its place as origin, and
// the phases. From there on a file is resolved as a command line is.
//
// The steps: [Open] reads the text, puts in variables of the environment, brings names and short forms into one shape
// and keeps that tree, whose templates are not rendered, for sweeps. [Source.Settings] renders it and sets the options;
// flags win. [Complete] writes every default out.
//
// Rules that hold for flags too are those of config/resolve. The package must never know how a run works.
//
// It also writes a config.Run as exports carry it: in the shape of the "benchmark:" body of a file, with what was given
// or derived, without secrets. The schema of that body is fixed by its readers, which refuse other keys: [Exported] has
// the keys of the schema only, [ExportedFurther] the settings that the schema has no key for.
//
// It also is the catalogue of configuration files to start from: each a complete file for a purpose, with
// comments, and the data files that some of them read.
//
// A file begins with a comment block that describes it. Its first line is "# @template"; each further one is
// "# name: value". The block ends before the first other line.
//
// Invariant: the catalogue is fixed when the program is built; no function reads or writes files.
package file

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/config/document"
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
)

// Source is a configuration file that was read.
type Source struct {
	*document.File
	// Raw is the envelope with names and short forms in one shape; templates are not rendered yet.
	Raw      *document.Node
	Warnings []fault.Warning
	// Faults are what is wrong with names and short forms; [Source.Settings] reports them with its own.
	Faults fault.List
	// broken are the paths of Faults.
	broken map[string]bool
	lookup env.Lookup
}

// Open reads a file of the name; "-" is how standard input is called.
func Open(name string, data []byte, lookup env.Lookup) (*Source, error) {
	if name == "-" {
		name = "standard input"
	}
	f, err := document.Read(name, data)
	if err != nil {
		return nil, err
	}
	return Of(f, lookup)
}

// Of is [Open] of a file whose document was read already, or made; the document becomes the Source's own.
func Of(f *document.File, lookup env.Lookup) (*Source, error) {
	if err := document.Environment(f, lookup); err != nil {
		return nil, err
	}
	s := &Source{File: f, Raw: f.Root, lookup: lookup}
	n := normalizer{file: f, broken: map[string]bool{}}
	s.Raw = n.envelope(f.Root)
	s.Warnings, s.Faults, s.broken = n.warnings, n.faults, n.broken
	if body := Body(s.Raw); body == nil || body.Kind != document.Map {
		return nil, s.Faults.Err()
	}
	return s, nil
}

// dir is the folder that relative paths of the file begin at.
func (s *Source) dir() string { return filepath.Dir(s.Name) }

// Options says how a file is read.
type Options struct {
	// Flags are those that were given with the file, nil for none; they win.
	Flags *settings.Settings
	// NoFiles leaves the files alone that the configuration names, so that they need not exist.
	NoFiles bool
}

// Settings are the options that an envelope sets: Raw, or a variation of it; tree is the envelope rendered, with the
// flags in its phases. Its error is a fault.List.
func (s *Source) Settings(envelope *document.Node, o Options) (p *settings.Settings, tree *document.Node, err error) {
	rendered, err := document.Render(s.File, envelope)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{Source: s, options: o, root: rendered, base: settings.New(s.lookup),
		faults: slices.Clone(s.Faults)}
	if f := o.Flags; f != nil {
		r.base.Env, r.base.Args = f.Env, f.Args
		r.base.Warnings = append(r.base.Warnings, f.Warnings...)
	}
	r.base.Warnings = append(r.base.Warnings, s.Warnings...)
	for _, v := range s.Variables {
		if v.Secret() {
			r.base.Hidden = append(r.base.Hidden, v.Value)
		}
	}
	r.read()
	r.base.Warnings = append(r.base.Warnings, r.warnings...)
	return r.base, r.root, r.faults.Err()
}

// Body is the part of an envelope that describes a workload; nil if it has none.
func Body(envelope *document.Node) *document.Node { return envelope.Get("benchmark") }

// at is the place of a value for messages and origins.
func at(f *document.File, n *document.Node, path string) string {
	if n.Origin != "" {
		return n.Origin
	}
	if n.Pos == (document.Pos{}) {
		return path
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.Name, n.Pos.Line, n.Pos.Column, path)
}

// unknown is the fault of a key that a section lacks.
func unknown(k schema.Key, name string) string {
	if near := k.Nearest(name); near != "" {
		return "unknown key; did you mean " + near + "?"
	}
	names := make([]string, 0, len(k.Fields))
	seen := map[string]bool{}
	for _, f := range k.Fields {
		if !seen[f.Name] {
			names, seen[f.Name] = append(names, f.Name), true
		}
	}
	if len(names) == 0 {
		return "unknown key; the section has no keys"
	}
	return "unknown key; known are " + strings.Join(names, ", ")
}

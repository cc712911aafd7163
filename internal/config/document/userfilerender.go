package document

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/workload/jinja"
)

// RunNames are what the templates of files know.
type RunNames struct {
	// Run are the names that the run gives; they come before variables.
	Run map[string]any
	// Variables are those of the configuration.
	Variables artifact.Object
}

// Shadowed are the variables that have the name of something that the run gives.
func (n RunNames) Shadowed() []string {
	var list []string
	for _, v := range n.Variables {
		if _, given := n.Run[v.Key]; given {
			list = append(list, v.Key)
		}
	}
	return list
}

func (n RunNames) all() map[string]any {
	all := map[string]any{}
	for _, v := range n.Variables {
		all[v.Key] = Value(Of(v.Value))
	}
	maps.Copy(all, n.Run)
	return all
}

// RenderedFile is a file as it is written.
type RenderedFile struct {
	Path string
	Data []byte
}

// RenderUserFiles fills files in. Texts of a tree are rendered one by one, and what a template yields has the type that it reads
// as: a number, true, false. Keys stay as they are.
func RenderUserFiles(files []UserFile, names RunNames) ([]RenderedFile, error) {
	var rendered []RenderedFile
	all := names.all()
	for _, f := range files {
		data, err := f.render(all)
		if err != nil {
			return nil, fmt.Errorf("user file %s: %w; the names are %s", f.Path, err,
				strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		rendered = append(rendered, RenderedFile{f.Path, data})
	}
	return rendered, nil
}

func (f UserFile) render(names map[string]any) ([]byte, error) {
	if f.Format == UserText {
		text, err := fill(f.Content.Scalar.(string), names)
		return []byte(text), err
	}
	tree := f.Content.Clone()
	if err := fillTree(tree, names, ""); err != nil {
		return nil, err
	}
	if f.Format == YAML {
		return AppendYAML(nil, tree, 0), nil
	}
	return artifact.AppendIndented(nil, tree.Any())
}

func fill(text string, names map[string]any) (string, error) {
	if !templated(text) {
		return text, nil
	}
	if strings.HasSuffix(text, "\n") {
		text += "\n" // the last one is not part of a template
	}
	template, err := jinja.Compile(text, jinja.Options{Strict: true})
	if err != nil {
		return "", err
	}
	return template.Render(names)
}

func templated(text string) bool { return strings.Contains(text, "{{") || strings.Contains(text, "{%") }

func fillTree(n *Node, names map[string]any, at string) error {
	for i, item := range n.Items {
		if err := fillTree(item, names, Index(at, i)); err != nil {
			return err
		}
	}
	for _, m := range n.Members {
		if err := fillTree(m.Value, names, Path(at, m.Key)); err != nil {
			return err
		}
	}
	text, ok := n.Scalar.(string)
	if n.Kind != Text || !ok || !templated(text) {
		return nil
	}
	text, err := fill(text, names)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	n.Substitute(text)
	return nil
}

// WriteUserFiles puts files into a folder, which exists. A file that is there is replaced; one in the way of a folder, and a
// link that leads out of the folder, are errors.
func WriteUserFiles(dir string, files []RenderedFile) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if err := write(root, filepath.FromSlash(f.Path), f.Data); err != nil {
			return fmt.Errorf("user file %s cannot be written into %s: %w", f.Path, dir, reason(err))
		}
	}
	return nil
}

func write(root *os.Root, name string, data []byte) error {
	if folder := filepath.Dir(name); folder != "." {
		if err := root.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	if there, err := root.Lstat(name); err == nil && !there.Mode().IsRegular() {
		return errors.New("there is something else than a file of that name")
	}
	beside := name + ".part"
	if err := root.WriteFile(beside, data, 0o644); err != nil {
		_ = root.Remove(beside)
		return err
	}
	return root.Rename(beside, name)
}

// reason is an error without the path, which is said already.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Command rooms prints the packages of aiperf: for each its purpose, which is the first paragraph of its package
// comment, its size, what it imports of ours and what imports it. Test files do not count as imports.
//
//	go -C tools run ./rooms [PATH…]
//
// A path such as wire, or wire/client, limits the list to that package and those below it.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// width is the number of columns that a line has at most.
const width = 110

const (
	module   = "aiperf/"
	internal = module + "internal/"
)

// room is one package.
type room struct {
	Dir                       string
	ImportPath                string
	Imports                   []string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string

	importedBy []string
}

func main() {
	if err := write(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rooms:", err)
		os.Exit(1)
	}
}

func write(w io.Writer, below []string) error {
	rooms, err := list()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	count, lines, tests := 0, 0, 0
	for _, r := range rooms {
		if !r.in(below) {
			continue
		}
		code, err := r.lines(r.GoFiles)
		if err != nil {
			return err
		}
		test, err := r.lines(slices.Concat(r.TestGoFiles, r.XTestGoFiles))
		if err != nil {
			return err
		}
		purpose, err := r.purpose()
		if err != nil {
			return err
		}
		count, lines, tests = count+1, lines+code, tests+test
		fmt.Fprintf(out, "%s  %d lines in %d files, %d lines of tests\n", name(r.ImportPath), code, len(r.GoFiles), test)
		paragraph(out, "", purpose)
		paragraph(out, "imports: ", strings.Join(r.ours(), " "))
		paragraph(out, "imported by: ", strings.Join(r.importedBy, " "))
		fmt.Fprintln(out)
	}
	if count == 0 {
		return fmt.Errorf("no package is at or below %s", strings.Join(below, " or "))
	}
	fmt.Fprintf(out, "%d packages, %d lines, %d lines of tests\n", count, lines, tests)
	return out.Flush()
}

// list returns the packages of the module that holds this one, with what imports each.
func list() ([]*room, error) {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,Imports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var rooms []*room
	byPath := map[string]*room{}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		r := new(room)
		if err := dec.Decode(r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if len(r.GoFiles) > 0 {
			rooms = append(rooms, r)
			byPath[r.ImportPath] = r
		}
	}
	for _, r := range rooms {
		for _, path := range r.Imports {
			if to := byPath[path]; to != nil {
				to.importedBy = append(to.importedBy, name(r.ImportPath))
			}
		}
	}
	slices.SortFunc(rooms, func(a, b *room) int { return cmp.Compare(name(a.ImportPath), name(b.ImportPath)) })
	return rooms, nil
}

// name is the path of a package as ARCHITECTURE.md writes it.
func name(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, internal), module)
}

// in reports whether the package is at or below one of the paths; without paths every package is.
func (r *room) in(paths []string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(path string) bool {
		path = strings.TrimPrefix(strings.Trim(filepath.ToSlash(path), "/"), "internal/")
		return name(r.ImportPath) == path || strings.HasPrefix(name(r.ImportPath), path+"/")
	})
}

func (r *room) ours() []string {
	var ours []string
	for _, path := range r.Imports {
		if strings.HasPrefix(path, module) {
			ours = append(ours, name(path))
		}
	}
	return ours
}

// lines counts the lines of some of the package's files.
func (r *room) lines(files []string) (int, error) {
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(r.Dir, file))
		if err != nil {
			return 0, err
		}
		n += bytes.Count(data, []byte("\n"))
	}
	return n, nil
}

// purpose is the first paragraph of the package comment.
func (r *room) purpose() (string, error) {
	for _, file := range r.GoFiles {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(r.Dir, file), nil,
			parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return "", err
		}
		if parsed.Doc == nil {
			continue
		}
		doc := new(comment.Parser).Parse(parsed.Doc.Text())
		if len(doc.Content) > 0 {
			doc.Content = doc.Content[:1]
		}
		return string(new(comment.Printer).Text(doc)), nil
	}
	return "", fmt.Errorf("%s has no package comment", r.ImportPath)
}

// paragraph prints words indented and broken at the width, or nothing where there are none.
func paragraph(w io.Writer, head, text string) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return
	}
	line := "    " + head
	for i, word := range words {
		if i > 0 && len(line)+1+len(word) > width {
			fmt.Fprintln(w, line)
			line = "      "
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}

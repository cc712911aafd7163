// Command platforms checks that every package of aiperf, with its tests, is valid Go for other systems than this one: it
// reads the files that the go command selects for the system and type-checks them as the compiler does, libraries only
// as far as their declarations go. No machine code is generated, which is most of the work of a build.
//
//	go -C tools run ./platforms darwin/arm64 windows/amd64
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: platforms SYSTEM/ARCHITECTURE…")
		os.Exit(2)
	}
	files := &source{fset: token.NewFileSet(), files: map[string]func() (*ast.File, error){}}
	failed := false
	for _, platform := range os.Args[1:] {
		goos, arch, found := strings.Cut(platform, "/")
		if !found {
			fmt.Fprintf(os.Stderr, "platforms: %q is not SYSTEM/ARCHITECTURE\n", platform)
			os.Exit(2)
		}
		faults, count, err := check(files, goos, arch)
		if err != nil {
			faults = append(faults, err)
		}
		for _, fault := range faults {
			fmt.Printf("%s: %v\n", platform, fault)
		}
		fmt.Printf("%s: %d packages and tests, %d faults\n", platform, count, len(faults))
		failed = failed || len(faults) > 0
	}
	if failed {
		os.Exit(1)
	}
}

// listed is a package as the go command lists it: a test of a package is one of its own, with the package it tests in
// brackets behind its path.
type listed struct {
	Dir, ImportPath, Name, ForTest string
	Standard, DepOnly              bool
	GoFiles, SFiles                []string
	Imports                        []string
	ImportMap                      map[string]string
	Module                         *struct{ GoVersion string }
	Error                          *struct{ Err string }
}

// ours reports whether the whole package is checked, its functions included.
func (p *listed) ours() bool { return !p.Standard && !p.DepOnly }

// check type-checks all packages for a platform, each after what it imports, as many at a time as there are processors.
// It returns the faults of ours and the number of packages of ours.
func check(files *source, goos, arch string) (faults []error, count int, err error) {
	packages, err := list(goos, arch)
	if err != nil {
		return nil, 0, err
	}
	c := &checker{source: files, sizes: types.SizesFor("gc", arch), done: map[string]*result{}}
	for _, p := range packages {
		c.done[p.ImportPath] = &result{ready: make(chan struct{})}
	}
	// The go command lists what is imported before what imports it, so that a package never waits for one behind it.
	next := make(chan *listed)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for p := range next {
				c.check(p)
			}
		})
	}
	for _, p := range packages {
		next <- p
	}
	close(next)
	workers.Wait()
	for _, p := range packages {
		if p.ours() {
			count++
			faults = append(faults, c.done[p.ImportPath].faults...)
		}
	}
	return faults, count, nil
}

// list returns the packages of this repository with their tests, and all that they import, in an order in which each
// comes after its imports.
func list(goos, arch string) ([]*listed, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-test",
		"-json=Dir,ImportPath,Name,ForTest,Standard,DepOnly,GoFiles,SFiles,Imports,ImportMap,Module,Error", "./...")
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []*listed
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		p := new(listed)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		if p.Error != nil {
			return nil, errors.New(p.Error.Err)
		}
		if !strings.HasSuffix(p.ImportPath, ".test") { // the generated main package of a test program
			packages = append(packages, p)
		}
	}
}

// source parses each file once, for all platforms.
type source struct {
	fset  *token.FileSet
	mu    sync.Mutex
	files map[string]func() (*ast.File, error)
}

// file parses a file. Without bodies, functions are declarations only, which saves their memory.
func (s *source) file(path string, bodies bool) (*ast.File, error) {
	s.mu.Lock()
	parse := s.files[path]
	if parse == nil {
		parse = sync.OnceValues(func() (*ast.File, error) {
			f, err := parser.ParseFile(s.fset, path, nil, parser.SkipObjectResolution)
			if err == nil && !bodies {
				for _, d := range f.Decls {
					if d, ok := d.(*ast.FuncDecl); ok {
						d.Body = nil
					}
				}
			}
			return f, err
		})
		s.files[path] = parse
	}
	s.mu.Unlock()
	return parse()
}

type checker struct {
	source *source
	sizes  types.Sizes
	done   map[string]*result
}

// result is a package that was checked, once ready is closed.
type result struct {
	ready  chan struct{}
	pkg    *types.Package
	faults []error
}

func (c *checker) check(p *listed) {
	r := c.done[p.ImportPath]
	defer close(r.ready)
	if p.ImportPath == "unsafe" {
		r.pkg = types.Unsafe
		return
	}
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := c.source.file(name, p.ours())
		if err != nil {
			r.faults = append(r.faults, err)
		}
		if f != nil {
			parsed = append(parsed, f)
		}
	}
	config := types.Config{
		Importer:         importer{c, p.ImportMap},
		Sizes:            c.sizes,
		IgnoreFuncBodies: !p.ours(),
		Error:            func(err error) { r.faults = append(r.faults, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	r.pkg, _ = config.Check(path, c.source.fset, parsed, nil)
	if p.ours() && len(p.SFiles) == 0 {
		r.faults = append(r.faults, c.source.withoutBody(parsed)...)
	}
}

// withoutBody returns the functions that only an assembly file could provide, except those that a linkname directive
// takes from elsewhere.
func (s *source) withoutBody(files []*ast.File) []error {
	var faults []error
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body == nil {
				faults = append(faults, fmt.Errorf("%s: %s has no body", s.fset.Position(d.Pos()), d.Name.Name))
			}
		}
	}
	return faults
}

// importer finds what a package imports among the packages that are being checked.
type importer struct {
	*checker
	paths map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if real, ok := i.paths[path]; ok {
		path = real
	}
	r := i.done[path]
	if r == nil {
		return nil, fmt.Errorf("%s is not listed", path)
	}
	<-r.ready
	return r.pkg, nil
}

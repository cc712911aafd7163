// Size prints what the parts of the program cost in bytes: each module that it depends on, each wing of its own rooms,
// and the standard library. It builds the program twice, with and without its symbols, for linux/amd64.
//
//	go run ./bench/size [-least KB] [-packages MODULE] [PACKAGE]
//
// Code and data are counted by symbols. Tables of lines and stack maps (.gopclntab) have no symbols: each part gets the
// share that its code has. Types and texts without a symbol are one row.
package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	least := flag.Int("least", 100, "KB that a row has at least; smaller parts are added up in one row")
	packages := flag.String("packages", "", "print the packages of this module instead of modules")
	flag.Parse()
	if err := run(os.Stdout, cmp.Or(flag.Arg(0), "./cmd/aiperf"), *packages, *least<<10); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, pkg, packages string, least int) error {
	dir, err := os.MkdirTemp("", "size")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stripped, whole := filepath.Join(dir, "stripped"), filepath.Join(dir, "whole")
	if _, err := goCommand("build", "-trimpath", "-ldflags", "-s -w", "-o", stripped, pkg); err != nil {
		return err
	}
	if _, err := goCommand("build", "-trimpath", "-ldflags", "-w", "-o", whole, pkg); err != nil {
		return err
	}
	owners, err := readOwners(pkg, packages)
	if err != nil {
		return err
	}
	info, err := os.Stat(stripped)
	if err != nil {
		return err
	}
	program, err := elf.Open(whole)
	if err != nil {
		return err
	}
	defer program.Close()
	parts, err := measure(program, owners)
	if err != nil {
		return err
	}
	print(w, parts, int(info.Size()), least)
	return nil
}

// goCommand runs the go command for the platform that is measured, and returns what it prints.
func goCommand(args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}

// Names of rows that are no modules.
const (
	library = "Go's library"
	rest    = "smaller ones"
	unnamed = "types and texts of all parts, without a symbol"
)

// readOwners returns the row of each package that the program is built of, by its import path.
func readOwners(pkg, packages string) (map[string]string, error) {
	out, err := goCommand("list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", pkg)
	if err != nil {
		return nil, err
	}
	owners := map[string]string{"main": "aiperf/cmd"}
	for line := range strings.Lines(string(out)) {
		path, module, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case packages != "" && packages == module:
			module = path
		case packages != "":
			module = "other modules"
		case module == "":
			module = library
		case module == "aiperf":
			module = wing(path)
		}
		owners[path] = module
	}
	return owners, nil
}

// wing is the part of a path of ours up to the first room, such as aiperf/internal/load.
func wing(path string) string {
	parts := strings.SplitN(path, "/", 4)
	return strings.Join(parts[:min(len(parts), 3)], "/")
}

// part is what a row costs, in bytes.
type part struct {
	name              string
	code, data, lines int
}

func (p part) total() int { return p.code + p.data + p.lines }

// measure adds up the symbols of a program by the owners of their packages.
func measure(program *elf.File, owners map[string]string) ([]part, error) {
	symbols, err := program.Symbols()
	if err != nil {
		return nil, fmt.Errorf("the program has no symbols: %w", err)
	}
	parts := map[string]*part{}
	at := func(name string) *part {
		if parts[name] == nil {
			parts[name] = &part{name: name}
		}
		return parts[name]
	}
	code, data, all, tables := 0, 0, 0, 0
	for _, s := range program.Sections {
		switch {
		case s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_ALLOC == 0:
		case s.Name == ".gopclntab":
			tables = int(s.Size)
		default:
			all += int(s.Size)
		}
	}
	for _, s := range symbols {
		if int(s.Section) >= len(program.Sections) || s.Size == 0 {
			continue
		}
		section := program.Sections[s.Section]
		if section.Type == elf.SHT_NOBITS || section.Name == ".gopclntab" {
			continue
		}
		owner, ok := owners[packageOf(s.Name)]
		if !ok {
			owner = library
			if strings.HasPrefix(s.Name, "type:") || strings.HasPrefix(s.Name, "go:") ||
				strings.HasPrefix(s.Name, "runtime.") && section.Name != ".text" {
				owner = unnamed
			}
		}
		if section.Name == ".text" {
			at(owner).code += int(s.Size)
			code += int(s.Size)
		} else if owner != unnamed {
			at(owner).data += int(s.Size)
			data += int(s.Size)
		}
	}
	at(unnamed).data = all - code - data
	var out []part
	for _, p := range parts {
		p.lines = int(float64(tables) * float64(p.code) / float64(code))
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b part) int { return cmp.Or(b.total()-a.total(), cmp.Compare(a.name, b.name)) })
	return out, nil
}

// packageOf is the import path in a symbol's name, such as a.b/c of "a.b/c.(*T[go.shape.int]).M".
func packageOf(symbol string) string {
	if i := strings.IndexByte(symbol, '['); i >= 0 {
		symbol = symbol[:i]
	}
	slash := strings.LastIndexByte(symbol, '/') + 1
	dot := strings.IndexByte(symbol[slash:], '.')
	if dot < 0 {
		return ""
	}
	return strings.ReplaceAll(symbol[:slash+dot], "%2e", ".")
}

func print(w io.Writer, parts []part, size, least int) {
	small := part{name: rest}
	var sum part
	count := 0
	var rows bytes.Buffer
	row := func(p part) {
		fmt.Fprintf(&rows, "| %s | %d | %d | %d | %d |\n", p.name, kb(p.code), kb(p.data), kb(p.lines), kb(p.total()))
	}
	for _, p := range parts {
		sum.code, sum.data, sum.lines = sum.code+p.code, sum.data+p.data, sum.lines+p.lines
		if p.total() < least {
			small.code, small.data, small.lines = small.code+p.code, small.data+p.data, small.lines+p.lines
			count++
			continue
		}
		row(p)
	}
	small.name = fmt.Sprintf("%d %s", count, rest)
	row(small)
	sum.name = fmt.Sprintf("together, of a file of %.2f MB", float64(size)/1e6)
	row(sum)
	fmt.Fprintf(w, "| Part | Code, KB | Data, KB | Share of line tables, KB | Together, KB |\n|---|--:|--:|--:|--:|\n%s",
		rows.String())
}

func kb(n int) int { return (n + 512) >> 10 }

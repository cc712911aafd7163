// Command licenses writes the licences of all that is in the programs of a release, which aiperf licenses prints: the
// notice of aiperf and its licence, then a table of the modules, then each text once, with the modules that it is of.
//
//	go -C tools run ./licenses [-check]
//
// With -check it writes nothing and fails if the file is not the one that it would write.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"aiperf/tools/programs"
)

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	want, err := text()
	if err != nil {
		return err
	}
	file := filepath.Join(programs.Root, programs.Licences)
	if !check {
		return os.WriteFile(file, want, 0o644)
	}
	if is, err := os.ReadFile(file); err != nil || !bytes.Equal(is, want) {
		return fmt.Errorf("%s is not that of the modules in go.mod: go -C tools run ./licenses writes it anew", programs.Licences)
	}
	return nil
}

// module is a module of which packages are in the programs.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

func (m module) String() string { return strings.TrimSpace(m.Path + " " + m.Version) }

// text is the whole file.
func text() ([]byte, error) {
	notice, err := os.ReadFile(filepath.Join(programs.Root, "NOTICE"))
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(programs.Root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	modules, err := linked()
	if err != nil {
		return nil, err
	}
	var out, table bytes.Buffer
	out.Write(notice)
	owners := map[string][]string{string(bytes.TrimSpace(licence)): {"aiperf"}} // by text
	for _, m := range modules {
		files, err := licencesOf(m.Dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		var kinds []string
		for _, f := range files {
			for _, match := range licensecheck.Scan(f).Match {
				if !match.IsURL && match.ID != "GooglePatentsFile" && !slices.Contains(kinds, match.ID) {
					kinds = append(kinds, match.ID)
				}
			}
			if bytes.Contains(bytes.Join(bytes.Fields(f), []byte(" ")), []byte("put into the public domain")) {
				kinds = append(kinds, "LicenseRef-public-domain")
			}
			text := string(bytes.TrimSpace(bytes.ReplaceAll(f, []byte("\r\n"), []byte("\n"))))
			owners[text] = append(owners[text], m.String())
		}
		slices.Sort(kinds)
		if len(kinds) == 0 {
			return nil, fmt.Errorf("%s: the licence is not known", m)
		}
		fmt.Fprintf(&table, "  %s: %s\n", m, strings.Join(kinds, " AND "))
	}
	fmt.Fprintf(&out, "\nModules in the programs, and their licences\n\n%s", table.Bytes())
	texts := make([]string, 0, len(owners))
	for t := range owners {
		texts = append(texts, t)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(owners[a][0], owners[b][0]), cmp.Compare(a, b)) })
	for _, t := range texts {
		fmt.Fprintf(&out, "\n%s\n%s\n%[1]s\n\n%[3]s\n", strings.Repeat("=", 80), strings.Join(owners[t], "\n"), t)
	}
	return out.Bytes(), nil
}

// linked returns the modules of the programs on all systems, and the standard library.
func linked() ([]module, error) {
	found := map[string]module{}
	for _, p := range programs.Released {
		c := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/...")
		c.Dir, c.Stderr = programs.Root, os.Stderr
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOWORK=off")
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var listed struct{ Module *module }
			if err := d.Decode(&listed); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if m := listed.Module; m != nil && !m.Main {
				if m.Replace != nil {
					m = m.Replace
				}
				found[m.Path] = *m
			}
		}
	}
	// The text is the same for each release of Go, whose version is that of the machine that builds.
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	modules := []module{{Path: "The Go standard library", Version: "", Dir: strings.TrimSpace(string(root))}}
	for _, m := range found {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return modules, nil
}

var named = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)(\.[a-z]+)?$`)

// licencesOf returns the texts in the folder of a module that licences ask to be handed on.
func licencesOf(dir string) ([][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, e := range entries {
		if e.IsDir() || !named.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, data)
	}
	if len(texts) == 0 {
		return nil, errors.New("there is no licence in " + dir)
	}
	return texts, nil
}

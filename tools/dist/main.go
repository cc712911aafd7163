// Command dist writes what a release consists of, reproducibly: the same source and the same release of Go give the same
// bytes.
//
//	go -C tools run ./dist -out DIR [-platforms linux/amd64,…] [-pgo FILE|off]
//
// For each platform: an archive, for Linux also a .deb and an .rpm, and a Python wheel; then the OCI image of the Linux
// platforms, the list of modules (SBOM) and the checksums of all.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/tools/programs"
)

func main() {
	out := flag.String("out", "", "folder of the files; it is written anew")
	only := flag.String("platforms", "", "some of the platforms, separated by commas or spaces [default: all]")
	profile := flag.String("pgo", programs.Profile, "profile for which the program is compiled, or off, which is built sooner")
	flag.Parse()
	if err := run(*out, *only, *profile, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(out, only, profile string, rest []string) error {
	if out == "" || len(rest) > 0 {
		return errors.New("usage: dist -out DIR [-platforms SYSTEM/ARCHITECTURE,…] [-pgo FILE|off]")
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "aiperf-dist-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	release, err := newRelease(work, profile)
	if err != nil {
		return err
	}
	if err := empty(out); err != nil {
		return err
	}
	if err := release.write(out, chosen); err != nil {
		return err
	}
	return list(out)
}

// choose returns the platforms of a list, all without one.
func choose(only string) ([]programs.Platform, error) {
	words := strings.FieldsFunc(only, func(r rune) bool { return r == ',' || r == ' ' })
	if len(words) == 0 {
		return programs.Released, nil
	}
	var chosen []programs.Platform
	for _, word := range words {
		p, err := programs.Parse(word)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(programs.Released, p) {
			return nil, fmt.Errorf("%s is not released; the platforms are %v", p, programs.Released)
		}
		if !slices.Contains(chosen, p) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// empty makes the folder anew. A folder that is not one of a release stays.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() != "image" && e.Name() != checksums && !strings.HasPrefix(e.Name(), "aiperf") {
			return fmt.Errorf("%s holds %s, which is no file of a release: name another folder, or remove it",
				dir, e.Name())
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}

// list prints the files with their sizes.
func list(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if !info.IsDir() {
			fmt.Printf("%7.1f MB  %s\n", float64(info.Size())/1e6, filepath.Join(filepath.Base(dir), e.Name()))
		}
	}
	return nil
}

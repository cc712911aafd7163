// Command image writes the OCI image of aiperf for linux/amd64 and linux/arm64 without a container engine:
//
//	go -C tools run ./image -out DIR [-check]
//
// DIR becomes an OCI layout; DIR.tar is the same as one file. With -check an existing layout is read back: its digests,
// its configuration and its files.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"aiperf/tools/oci"
	"aiperf/tools/programs"
)

var architectures = []string{"amd64", "arm64"}

func main() {
	out := flag.String("out", "", "folder of the OCI layout")
	check := flag.Bool("check", false, "read an existing layout back instead of writing one")
	flag.Parse()
	err := errors.New("usage: image -out DIR [-check]")
	if *out != "" {
		if *check {
			err = read(*out)
		} else {
			err = write(*out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write builds the program for each architecture and writes the layout.
func write(dir string) error {
	work, err := os.MkdirTemp("", "aiperf-image-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	// The program says its version; one for this machine is built if none of the image's runs here.
	asked := filepath.Join(work, runtime.GOARCH)
	if runtime.GOOS != "linux" || !slices.Contains(architectures, runtime.GOARCH) {
		here := programs.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
		asked = filepath.Join(work, "aiperf"+here.Exe())
		if err := programs.Build("aiperf", here, programs.Unprofiled, asked); err != nil {
			return err
		}
	}
	built := map[string][]byte{}
	for _, arch := range architectures {
		path := filepath.Join(work, arch)
		if err := programs.Build("aiperf", programs.Platform{OS: "linux", Arch: arch}, programs.Profile, path); err != nil {
			return err
		}
		if built[arch], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	version, err := programs.Version(asked)
	if err != nil {
		return err
	}
	digest, err := oci.Write(dir, dir+".tar", version, built)
	if err == nil {
		fmt.Printf("%s: %s\n", dir, digest)
	}
	return err
}

func read(dir string) error {
	found, err := oci.Check(dir)
	if err == nil && !slices.Equal(found, architectures) {
		err = fmt.Errorf("there are images for %v, want %v", found, architectures)
	}
	return err
}

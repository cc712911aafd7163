package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the packagers register themselves
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"

	"aiperf/tools/programs"
)

// systemPackage returns a package of a format, deb or rpm, and its name. It asks for nothing: the program is static.
func (r *release) systemPackage(format string, p programs.Platform, binaries []file) (string, []byte, error) {
	doc, licences, zsh := "usr/share/doc/aiperf", "usr/share/licenses/aiperf", "usr/share/zsh/site-functions"
	if format == "deb" {
		licences, zsh = doc, "usr/share/zsh/vendor-completions"
	}
	inside := in("usr/bin", binaries)
	for _, f := range r.texts {
		switch {
		case f.name == thirdParty && format == "deb":
			f.name = doc + "/copyright" // which has the licence and the notice, too
		case f.name == "LICENSE" && format == "deb":
			continue
		case f.name == "LICENSE" || f.name == thirdParty || f.name == "NOTICE":
			f.name = licences + "/" + f.name
		default:
			f.name = doc + "/" + f.name
		}
		inside = append(inside, f)
	}
	for _, f := range r.completions {
		switch f.name {
		case "aiperf.bash":
			f.name = "usr/share/bash-completion/completions/aiperf"
		case "_aiperf":
			f.name = zsh + "/_aiperf"
		case "aiperf.fish":
			f.name = "usr/share/fish/vendor_completions.d/aiperf.fish"
		default:
			continue
		}
		inside = append(inside, f)
	}
	for _, f := range r.manual {
		packed, err := gzipped(f.data)
		if err != nil {
			return "", nil, err
		}
		inside = append(inside, file{"usr/share/man/man1/" + f.name + ".gz", f.mode, packed})
	}
	// The packagers read files.
	root := filepath.Join(r.work, format+"-"+p.Arch)
	var contents files.Contents
	for _, f := range inside {
		path := filepath.Join(root, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", nil, err
		}
		if err := os.WriteFile(path, f.data, f.mode); err != nil {
			return "", nil, err
		}
		contents = append(contents, &files.Content{Source: path, Destination: "/" + f.name,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.date}})
	}
	info := nfpm.WithDefaults(&nfpm.Info{Name: "aiperf", Arch: p.Arch, Platform: "linux", Version: r.version, Release: "1",
		Section: "utils", Priority: "optional", Maintainer: maintainer, Description: description, Homepage: homepage,
		License: "Apache-2.0", MTime: r.date, DisableGlobbing: true,
		Overridables: nfpm.Overridables{Contents: contents, Umask: 0o022,
			Deb: nfpm.Deb{Compression: "gzip"}, RPM: nfpm.RPM{Compression: "gzip", BuildHost: "localhost", Summary: summary,
				Group: "Applications/System"}}})
	packager, err := nfpm.Get(format)
	if err != nil {
		return "", nil, err
	}
	info.Target = packager.ConventionalFileName(info)
	var out bytes.Buffer
	if err := packager.Package(info, &out); err != nil {
		return "", nil, fmt.Errorf("%s: %w", format, err)
	}
	return strings.ReplaceAll(info.Target, "~", "-"), out.Bytes(), os.RemoveAll(root)
}

func gzipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"

	"aiperf/tools/programs"
)

// distribution is the name of the Python package as files have it; on an index it is aiperf-go.
const distribution = "aiperf_go"

//go:embed all:python
var python embed.FS

// wheelTags are the platforms of Python on which the program of a platform runs. It is static on Linux, so any C library
// will do; manylinux_2_17 and musllinux_1_1 are the oldest that installers still know. Go's oldest macOS is 12.
var wheelTags = map[programs.Platform][]string{
	{OS: "linux", Arch: "amd64"}:   {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	{OS: "linux", Arch: "arm64"}:   {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	{OS: "darwin", Arch: "amd64"}:  {"macosx_12_0_x86_64"},
	{OS: "darwin", Arch: "arm64"}:  {"macosx_12_0_arm64"},
	{OS: "windows", Arch: "amd64"}: {"win_amd64"},
	{OS: "windows", Arch: "arm64"}: {"win_arm64"},
}

// wheel returns the wheel of a platform and its name: the program among the scripts, and the package aiperf_go.
func (r *release) wheel(p programs.Platform, code []byte) (string, []byte, error) {
	base := distribution + "-" + r.version
	tags := wheelTags[p]
	files := []file{{base + ".data/scripts/aiperf" + p.Exe(), 0o755, code},
		{distribution + "/_version.py", 0o644, fmt.Appendf(nil, "__version__ = %q\n", r.version)}}
	err := fs.WalkDir(python, "python/"+distribution, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".py") {
			return err
		}
		data, err := python.ReadFile(path)
		files = append(files, file{strings.TrimPrefix(path, "python/"), 0o644, data})
		return err
	})
	if err != nil {
		return "", nil, err
	}
	readme, err := python.ReadFile("python/README.md")
	if err != nil {
		return "", nil, err
	}
	var metadata, wheel bytes.Buffer
	fmt.Fprintf(&metadata, "Metadata-Version: 2.4\nName: aiperf-go\nVersion: %s\nSummary: %s\n", r.version, summary)
	fmt.Fprint(&metadata, "License-Expression: Apache-2.0\n")
	for _, f := range r.texts {
		if f.name != "README.md" && f.name != "CHANGELOG.md" {
			fmt.Fprintf(&metadata, "License-File: %s\n", f.name)
			files = append(files, file{base + ".dist-info/licenses/" + f.name, f.mode, f.data})
		}
	}
	if homepage != "" {
		fmt.Fprintf(&metadata, "Project-URL: Homepage, %s\n", homepage)
	}
	fmt.Fprint(&metadata, "Requires-Python: >=3.9\nProvides-Extra: pandas\nRequires-Dist: pandas; extra == \"pandas\"\n"+
		"Provides-Extra: polars\nRequires-Dist: polars; extra == \"polars\"\nDescription-Content-Type: text/markdown\n\n")
	metadata.Write(readme)
	fmt.Fprint(&wheel, "Wheel-Version: 1.0\nGenerator: aiperf-dist\nRoot-Is-Purelib: false\n")
	for _, tag := range tags {
		fmt.Fprintf(&wheel, "Tag: py3-none-%s\n", tag)
	}
	info := []file{{base + ".dist-info/METADATA", 0o644, metadata.Bytes()}, {base + ".dist-info/WHEEL", 0o644, wheel.Bytes()}}
	// The record of all files comes last, as the format recommends for what is in dist-info.
	files = append(sorted(files), info...)
	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%s.dist-info/RECORD,,\n", base)
	files = append(files, file{base + ".dist-info/RECORD", 0o644, record.Bytes()})
	data, err := zipped(files, r.date)
	return base + "-py3-none-" + strings.Join(tags, ".") + ".whl", data, err
}

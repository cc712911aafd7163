package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/tools/oci"
	"aiperf/tools/programs"
	"aiperf/tools/sbom"
)

// checksums is the name of the file of checksums, which sha256sum -c reads.
const checksums = "SHA256SUMS"

// thirdParty is the name of the file with the licences of all that is in the programs.
const thirdParty = "THIRD_PARTY_LICENSES.txt"

// file is a file of an archive or a package.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// release is what all files of a release share.
type release struct {
	// version is what the program prints for --version: the version in the source, and behind + the revision, if it is
	// not the tagged one.
	version string
	// date is the time of all files: that of the commit, or of SOURCE_DATE_EPOCH.
	date    time.Time
	profile string
	// texts are LICENSE, NOTICE, the licences of the modules, the readme; completions by the names that packages of
	// systems give them, and pages of the manual.
	texts, completions, manual []file
	work                       string
	host                       programs.Platform
}

// newRelease builds the program for this machine and asks it what every artifact needs.
func newRelease(work, profile string) (*release, error) {
	r := &release{work: work, profile: profile, host: programs.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}}
	var err error
	if r.date, err = sourceDate(); err != nil {
		return nil, err
	}
	program, err := r.program("aiperf", r.host)
	if err != nil {
		return nil, err
	}
	if r.version, err = programs.Version(program); err != nil {
		return nil, err
	}
	for name, path := range map[string]string{"LICENSE": "LICENSE", "NOTICE": "NOTICE", thirdParty: programs.Licences,
		"README.md": "README.md", "CHANGELOG.md": "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(programs.Root, path))
		if err != nil {
			return nil, err
		}
		r.texts = append(r.texts, file{name, 0o644, data})
	}
	r.texts = sorted(r.texts)
	if r.manual, err = manual(program, r.version, r.date); err != nil {
		return nil, err
	}
	for _, c := range []struct{ shell, name string }{{"bash", "aiperf.bash"}, {"zsh", "_aiperf"}, {"fish", "aiperf.fish"},
		{"powershell", "aiperf.ps1"}} {
		path := filepath.Join(work, c.name)
		if out, err := exec.Command(program, "--install-completion", "--shell", c.shell, "--output", path).
			CombinedOutput(); err != nil {
			return nil, fmt.Errorf("the completion of %s: %w: %s", c.shell, err, out)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		r.completions = append(r.completions, file{c.name, 0o644, data})
	}
	return r, nil
}

// sourceDate is the time that files get: SOURCE_DATE_EPOCH, else that of the commit, else the first of a zip file.
func sourceDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		c := exec.Command("git", "log", "-1", "--format=%ct")
		c.Dir = programs.Root
		out, err := c.Output()
		text = strings.TrimSpace(string(out))
		if err != nil || text == "" {
			return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), nil
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, not a number of seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// program builds a program, once, and returns its path.
func (r *release) program(name string, p programs.Platform) (string, error) {
	path := filepath.Join(r.work, p.OS+"-"+p.Arch, name+p.Exe())
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	start := time.Now()
	profile := r.profile
	if name != "aiperf" {
		profile = programs.Unprofiled
	}
	if err := programs.Build(name, p, profile, path); err != nil {
		return "", err
	}
	fmt.Printf("built %s for %s in %s\n", name, p, time.Since(start).Round(time.Second))
	return path, nil
}

// write writes all files of the platforms into a folder.
func (r *release) write(dir string, chosen []programs.Platform) error {
	images := map[string][]byte{}
	for _, p := range chosen {
		code, err := r.writePlatform(dir, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if p.OS == "linux" {
			images[p.Arch] = code
		}
	}
	if len(images) > 0 {
		digest, err := oci.Write(filepath.Join(r.work, "image"), filepath.Join(dir, "aiperf_"+r.version+"_image.tar"), r.version,
			images)
		if err != nil {
			return fmt.Errorf("the image: %w", err)
		}
		fmt.Printf("the image is %s\n", digest)
	}
	return r.writeSums(dir)
}

// writePlatform writes the archive, the packages, the wheel and the list of modules of a platform, and returns the program.
func (r *release) writePlatform(dir string, p programs.Platform) ([]byte, error) {
	path, err := r.program("aiperf", p)
	if err != nil {
		return nil, err
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	binaries := []file{{"aiperf" + p.Exe(), 0o755, code}}
	if p.OS == "linux" {
		// It loads the libraries of GPU drivers, which is why it is a program of its own; aiperf runs without it.
		path, err := r.program("aiperf-gpu", p)
		if err != nil {
			return nil, err
		}
		helper, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		binaries = append(binaries, file{"aiperf-gpu", 0o755, helper})
	}
	files := []func() (string, []byte, error){
		func() (string, []byte, error) { return r.archive(p, binaries) },
		func() (string, []byte, error) { return r.wheel(p, code) },
		func() (string, []byte, error) {
			list, err := sbom.Of(code, r.version)
			return r.name(p) + ".spdx.json", list, err
		},
	}
	if p.OS == "linux" {
		for _, format := range []string{"deb", "rpm"} {
			files = append(files, func() (string, []byte, error) { return r.systemPackage(format, p, binaries) })
		}
	}
	// Packing takes as long as building; each file is packed on a processor of its own.
	var packing sync.WaitGroup
	errs := make([]error, len(files))
	for i, f := range files {
		packing.Go(func() {
			name, data, err := f()
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
			}
			errs[i] = err
		})
	}
	packing.Wait()
	return code, errors.Join(errs...)
}

// name is what the names of the files of a platform begin with.
func (r *release) name(p programs.Platform) string {
	return "aiperf_" + r.version + "_" + p.OS + "_" + p.Arch
}

// writeSums writes the checksums of the files in the folder.
func (r *release) writeSums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, checksums), sums.Bytes(), 0o644)
}

// sorted returns files in the order of their names.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// in puts files into a folder.
func in(folder string, files []file) []file {
	out := make([]file, len(files))
	for i, f := range files {
		out[i] = file{folder + "/" + f.name, f.mode, f.data}
	}
	return out
}

// Package programs builds the programs of aiperf as they are released: static, without the paths and the time of the
// machine that builds them, so that the same source and the same release of Go give the same bytes.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Root is the folder of the repository, seen from that of the tools, in which they run.
const Root = ".."

// Licences is the file with the licences of all that is in the programs, which aiperf licenses prints.
const Licences = "internal/base/licenses/licenses.txt"

// Profile is the profile of its loads for which the program is compiled, and Unprofiled compiles for none, which takes the
// results of other builds.
const (
	Profile    = "cmd/aiperf/release.pgo"
	Unprofiled = "off"
)

// Platform is a system and an architecture, as the go command names them.
type Platform struct{ OS, Arch string }

// Released are the platforms of a release.
var Released = []Platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Exe is the ending of the name of a program.
func (p Platform) Exe() string {
	if p.OS == "windows" {
		return ".exe"
	}
	return ""
}

// Parse reads a platform such as linux/amd64.
func Parse(text string) (Platform, error) {
	system, arch, found := strings.Cut(text, "/")
	if !found || system == "" || arch == "" {
		return Platform{}, fmt.Errorf("%q is no platform, such as linux/amd64", text)
	}
	return Platform{system, arch}, nil
}

// Build compiles the command of the folder cmd/NAME into the file out. The revision of the source is in the program where
// the go command finds a repository.
func Build(name string, p Platform, profile, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-ldflags", "-s -w -buildid=", "-pgo", profile, "-o", out,
		"./cmd/"+name)
	c.Dir = Root
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s for %s: %w", name, p, err)
	}
	return nil
}

// Version asks a program of this machine for its version.
func Version(path string) (string, error) {
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	return strings.TrimSpace(string(out)), nil
}

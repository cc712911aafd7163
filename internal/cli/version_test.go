package cli

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"aiperf/internal/cli/command"
)

// TestTheVersionIsWrittenOnce compares what must repeat the version with it.
func TestTheVersionIsWrittenOnce(t *testing.T) {
	for file, want := range map[string]string{
		"CHANGELOG.md":                        "\n## " + command.Release + ", ",
		"deploy/helm/Chart.yaml":              "\nversion: " + command.Release + "\nappVersion: " + command.Release + "\n",
		"deploy/kustomize/kustomization.yaml": "\n    newTag: " + command.Release + "\n",
		"deploy/kustomize/operator.yaml":      "image: \"aiperf:" + command.Release + "\"\n",
	} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		// Of the headings of the changelog the first counts.
		if at := strings.Index(string(text), want); at < 0 || strings.Contains(string(text[:at]), "\n## ") {
			t.Errorf("%s lacks %q", file, want)
		}
	}
}

func TestVersionComesFromTheBuild(t *testing.T) {
	built := func(main string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Path: "aiperf", Version: main}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	const revision = "0123456789abcdef0123456789abcdef01234567"
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"unknown":                {nil, command.Release},
		"a test, or no checkout": {built("(devel)"), command.Release},
		"installed by version":   {built("v1.2.3"), "1.2.3"},
		"a checkout": {built("v0.0.0-20260102030405-0123456789ab", "vcs.revision", revision,
			"vcs.modified", "false"), command.Release + "+0123456789ab"},
		"a checkout with changes": {built("(devel)", "vcs.revision", revision, "vcs.modified", "true"),
			command.Release + "+0123456789ab.modified"},
		"the tagged checkout": {built("v"+command.Release, "vcs.revision", revision, "vcs.modified", "false"),
			command.Release},
		"the tagged checkout with changes": {built("v"+command.Release+"+dirty", "vcs.revision", revision, "vcs.modified",
			"true"), command.Release + "+0123456789ab.modified"},
		"a revision that is no hash": {built("", "vcs.revision", "7"), command.Release + "+7"},
	} {
		if got := command.VersionOf(c.info, c.info != nil); got != c.want {
			t.Errorf("%s: version %q, want %q", name, got, c.want)
		}
	}
}

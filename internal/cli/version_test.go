package cli

import (
	"runtime/debug"
	"testing"
)

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
		"unknown":                {nil, release},
		"a test, or no checkout": {built("(devel)"), release},
		"installed by version":   {built("v1.2.3"), "1.2.3"},
		"a checkout": {built("v0.0.0-20260102030405-0123456789ab", "vcs.revision", revision,
			"vcs.modified", "false"), release + "+0123456789ab"},
		"a checkout with changes": {built("(devel)", "vcs.revision", revision, "vcs.modified", "true"),
			release + "+0123456789ab.modified"},
		"a revision that is no hash": {built("", "vcs.revision", "7"), release + "+7"},
	} {
		if got := version(c.info, c.info != nil); got != c.want {
			t.Errorf("%s: version %q, want %q", name, got, c.want)
		}
	}
}

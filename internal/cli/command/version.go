package command

import (
	"runtime/debug"
	"strings"
)

// Release is the version of the source code.
const Release = "0.1.0"

// Version is the program's version: that of the module where the go command installed it by its version, else the
// version of the source code with the revision that it was built from, as in 0.1.0+1a2b3c4d5e6f, where that is known and
// is not the one with the tag of the version. ".modified" follows the revision of a checkout with changes.
var Version = VersionOf(debug.ReadBuildInfo())

// VersionOf returns the version of a build.
func VersionOf(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return Release
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision == "" { // installed from a module proxy, or built without version control
		if v, isVersion := strings.CutPrefix(info.Main.Version, "v"); isVersion {
			return v
		}
		return Release
	}
	if info.Main.Version == "v"+Release { // the tag of the revision; the go command adds +dirty if there are changes
		return Release
	}
	v := Release + "+" + revision[:min(len(revision), 12)]
	if settings["vcs.modified"] == "true" {
		v += ".modified"
	}
	return v
}

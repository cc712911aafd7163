package artifact

import (
	"strings"

	"aiperf/internal/base/pattern"
)

var device = pattern.New(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// IsDeviceName reports whether Windows keeps a file name for a device, with an extension or without.
func IsDeviceName(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	return device.MatchString(strings.TrimRight(stem, " "))
}

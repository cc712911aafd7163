package trust

import (
	"os"
	"strings"
)

func systemFacts() (model, kernel string) {
	if data, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel = strings.TrimSpace(string(data))
	}
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "", kernel
	}
	return modelOf(string(data)), kernel
}

// modelOf returns the name of the first processor; Arm has numbers instead of a name.
func modelOf(cpuinfo string) string {
	facts := map[string]string{}
	for line := range strings.Lines(cpuinfo) {
		name, value, _ := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if _, seen := facts[name]; !seen {
			facts[name] = strings.TrimSpace(value)
		}
	}
	if name := facts["model name"]; name != "" {
		return name
	}
	if part := facts["CPU part"]; part != "" {
		return strings.TrimSpace("implementer " + facts["CPU implementer"] + " part " + part)
	}
	return ""
}

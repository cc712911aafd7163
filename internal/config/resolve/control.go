package resolve

import (
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// Settings of a hook apart from its switch; a given one switches the hook on.
var (
	resetSettings    = []string{"reset-kv-cache-path", "reset-kv-cache-timeout-seconds"}
	profilerSettings = []string{"server-profiler-start-path", "server-profiler-stop-path",
		"server-profiler-timeout-seconds"}
)

// control decides what is asked of the server alongside the load.
type control struct{ *asked }

// hooked reports whether a hook is on: by its switch, else by one of its settings.
func (co *control) hooked(name string, settings []string) bool {
	if co.given(name) {
		return co.p.Bool(name)
	}
	return len(co.givenOf(settings...)) > 0
}

// fill fills in what is asked of the server alongside the load.
func (co *control) fill(e *config.Endpoint) {
	p := co.p
	if timeout := *p.Float("wait-for-model-timeout"); timeout > 0 {
		e.Ready = &config.Readiness{Mode: p.Text("wait-for-model-mode"), Timeout: option.Seconds(timeout),
			Interval: option.Seconds(*p.Float("wait-for-model-interval"))}
	}
	if co.hooked("reset-kv-cache", resetSettings) {
		e.ResetCache = &config.CacheReset{Path: p.Text("reset-kv-cache-path"),
			Timeout: option.Seconds(*p.Float("reset-kv-cache-timeout-seconds")),
			Retry:   option.Seconds(*p.Float("reset-kv-cache-retry-seconds"))}
	}
	if co.hooked("server-profiler", profilerSettings) {
		e.Profiler = &config.Profiler{StartPath: p.Text("server-profiler-start-path"),
			StopPath: p.Text("server-profiler-stop-path"),
			Timeout:  option.Seconds(*p.Float("server-profiler-timeout-seconds"))}
	}
}

// check checks the paths of hooks, and settings that contradict their switch.
func (co *control) check() {
	for _, name := range []string{"reset-kv-cache-path", "server-profiler-start-path", "server-profiler-stop-path"} {
		if path := co.p.Text(name); !strings.HasPrefix(path, "/") || strings.Contains(path, "://") ||
			strings.ContainsAny(path, " \r\n") {
			co.fault("", "%s %s: must be a path that starts with / and contains no host, such as %s", co.flag(name),
				fault.Shorten(path), option.Named(name).Default)
		}
	}
	for name, settings := range map[string][]string{"reset-kv-cache": resetSettings,
		"server-profiler": profilerSettings} {
		if flags := co.givenOf(settings...); len(flags) > 0 && co.given(name) && !co.p.Bool(name) {
			co.fault("", "%s has no effect with %s=false; omit one of them", flags[0], co.flag(name))
		}
	}
	if *co.p.Float("wait-for-model-timeout") == 0 {
		if flags := co.givenOf("wait-for-model-mode", "wait-for-model-interval"); len(flags) > 0 {
			co.warn("%s has no effect without --wait-for-model-timeout", strings.Join(flags, ", "))
		}
	}
}

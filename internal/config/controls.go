package config

import (
	"strings"
	"time"
)

// Settings of a hook beside its switch; giving one switches it on.
var (
	resetSettings    = []string{"reset-kv-cache-path", "reset-kv-cache-timeout-seconds"}
	profilerSettings = []string{"server-profiler-start-path", "server-profiler-stop-path",
		"server-profiler-timeout-seconds"}
)

// cacheResetRetry is how long a busy server is asked again to reset its cache.
const cacheResetRetry = 60 * time.Second

// hooked reports whether a hook is on: by its switch, else by one of its settings.
func (d *draft) hooked(name string, settings []string) bool {
	if d.given(name) {
		return d.p.Bool(name)
	}
	return len(d.givenOf(settings...)) > 0
}

// controls fills in what is asked of the server alongside the load.
func (d *draft) controls(e *Endpoint) {
	p := d.p
	if timeout := *p.Float("wait-for-model-timeout"); timeout > 0 {
		e.Ready = &Readiness{Mode: p.Text("wait-for-model-mode"), Timeout: secondsDuration(timeout),
			Interval: secondsDuration(*p.Float("wait-for-model-interval"))}
	}
	if d.hooked("reset-kv-cache", resetSettings) {
		e.ResetCache = &CacheReset{Path: p.Text("reset-kv-cache-path"),
			Timeout: secondsDuration(*p.Float("reset-kv-cache-timeout-seconds")), Retry: cacheResetRetry}
	}
	if d.hooked("server-profiler", profilerSettings) {
		e.Profiler = &Profiler{StartPath: p.Text("server-profiler-start-path"),
			StopPath: p.Text("server-profiler-stop-path"),
			Timeout:  secondsDuration(*p.Float("server-profiler-timeout-seconds"))}
	}
}

// checkControls checks the paths of hooks, and settings that contradict their switch.
func (d *draft) checkControls() {
	for _, name := range []string{"reset-kv-cache-path", "server-profiler-start-path", "server-profiler-stop-path"} {
		if path := d.p.Text(name); !strings.HasPrefix(path, "/") || strings.Contains(path, "://") ||
			strings.ContainsAny(path, " \r\n") {
			d.fault("", "%s %s: must be a path that starts with / and holds no host, such as %s", d.flag(name),
				shorten(path), option(name).Default)
		}
	}
	for name, settings := range map[string][]string{"reset-kv-cache": resetSettings,
		"server-profiler": profilerSettings} {
		if flags := d.givenOf(settings...); len(flags) > 0 && d.given(name) && !d.p.Bool(name) {
			d.fault("", "%s has no use with %s=false; leave one of them out", flags[0], d.flag(name))
		}
	}
	if *d.p.Float("wait-for-model-timeout") == 0 {
		if flags := d.givenOf("wait-for-model-mode", "wait-for-model-interval"); len(flags) > 0 {
			d.warn("%s has no effect without --wait-for-model-timeout", strings.Join(flags, ", "))
		}
	}
}

// controlConfig is what input_config says of the hooks.
func controlConfig(out Object, e *Endpoint) Object {
	if r := e.Ready; r != nil {
		out = append(out, Member{Key: "wait_for_model_timeout", Value: r.Timeout.Seconds()},
			Member{Key: "wait_for_model_mode", Value: r.Mode},
			Member{Key: "wait_for_model_interval", Value: r.Interval.Seconds()})
	}
	if r := e.ResetCache; r != nil {
		out = append(out, Member{Key: "reset_kv_cache",
			Value: Object{{Key: "path", Value: r.Path}, {Key: "timeout_seconds", Value: r.Timeout.Seconds()},
				{Key: "max_retry_seconds", Value: r.Retry.Seconds()}}})
	}
	if p := e.Profiler; p != nil {
		out = append(out, Member{Key: "server_profiler", Value: Object{
			{Key: "start_path", Value: p.StartPath}, {Key: "stop_path", Value: p.StopPath},
			{Key: "timeout_seconds", Value: p.Timeout.Seconds()}}})
	}
	return out
}

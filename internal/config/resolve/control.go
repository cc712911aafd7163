package resolve

import (
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// Settings of a hook apart from its switch; a given one switches the hook on.
func resetSettings(p *option.Tree) []option.Field {
	return []option.Field{&p.ResetKVCachePath, &p.ResetKVCacheTimeoutSeconds}
}

func profilerSettings(p *option.Tree) []option.Field {
	return []option.Field{&p.ServerProfilerStartPath, &p.ServerProfilerStopPath, &p.ServerProfilerTimeoutSeconds}
}

// control decides what is asked of the server alongside the load.
type control struct{ *asked }

// hooked reports whether a hook is on: by its switch, else by one of its settings.
func hooked(hook *option.Opt[bool], settings []option.Field) bool {
	if hook.Given() {
		return hook.Get()
	}
	return len(givenOf(settings...)) > 0
}

// fill fills in what is asked of the server alongside the load.
func (co *control) fill(e *config.Endpoint) {
	p := co.p
	if timeout := p.WaitForModelTimeout.Get(); timeout > 0 {
		e.Ready = &config.Readiness{Mode: p.WaitForModelMode.Get(), Timeout: option.Seconds(timeout),
			Interval: option.Seconds(p.WaitForModelInterval.Get())}
	}
	if hooked(&p.ResetKVCache, resetSettings(&p.Tree)) {
		e.ResetCache = &config.CacheReset{Path: p.ResetKVCachePath.Get(),
			Timeout: option.Seconds(p.ResetKVCacheTimeoutSeconds.Get()),
			Retry:   option.Seconds(p.ResetKVCacheRetrySeconds.Get())}
	}
	if hooked(&p.ServerProfiler, profilerSettings(&p.Tree)) {
		e.Profiler = &config.Profiler{StartPath: p.ServerProfilerStartPath.Get(),
			StopPath: p.ServerProfilerStopPath.Get(),
			Timeout:  option.Seconds(p.ServerProfilerTimeoutSeconds.Get())}
	}
}

// check checks the paths of hooks, and settings that contradict their switch.
func (co *control) check() {
	p := &co.p.Tree
	for _, o := range []*option.Opt[string]{&p.ResetKVCachePath, &p.ServerProfilerStartPath,
		&p.ServerProfilerStopPath} {
		if path := o.Get(); !strings.HasPrefix(path, "/") || strings.Contains(path, "://") ||
			strings.ContainsAny(path, " \r\n") {
			co.fault("", "%s %s: must be a path that starts with / and contains no host, such as %s", o.Flag(),
				fault.Shorten(path), o.Row().Default)
		}
	}
	for _, h := range []struct {
		hook     *option.Opt[bool]
		settings []option.Field
	}{{&p.ResetKVCache, resetSettings(p)}, {&p.ServerProfiler, profilerSettings(p)}} {
		if flags := givenOf(h.settings...); len(flags) > 0 && h.hook.Given() && !h.hook.Get() {
			co.fault("", "%s has no effect with %s=false; omit one of them", flags[0], h.hook.Flag())
		}
	}
	if co.p.WaitForModelTimeout.Get() == 0 {
		if flags := givenOf(&co.p.WaitForModelMode, &co.p.WaitForModelInterval); len(flags) > 0 {
			co.warn("%s has no effect without --wait-for-model-timeout", strings.Join(flags, ", "))
		}
	}
}

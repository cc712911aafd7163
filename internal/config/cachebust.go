package config

import (
	"strings"

	"aiperf/internal/wire/api"
)

// cacheBust is the target of the marks against caches, empty for none.
func (d *draft) cacheBust() string {
	if d.scenarioBust != "" {
		return d.scenarioBust
	}
	if target := d.p.Text("cache-bust"); target != "none" {
		return target
	}
	return ""
}

// checkCacheBust refuses marks where no message could bear them.
func (d *draft) checkCacheBust() {
	target := d.cacheBust()
	if target == "" {
		return
	}
	flag := d.flag("cache-bust") + " " + target
	if !d.facts.Marks {
		types := typesThat(func(f api.Descriptor) bool { return f.Marks })
		d.fault("", "%s can only be used with --endpoint-type %s, not with %s", flag, orList(types), d.endpointType)
	}
	if !strings.HasPrefix(target, "warmup_") {
		return
	}
	if !d.warmsUp() {
		d.warn("%s has no effect without a warm-up: give --warmup-request-count, --num-warmup-sessions or "+
			"--warmup-duration", flag)
	}
	system := len(d.givenOf("system-prompt", "system-prompt-file", "shared-system-prompt-length")) > 0
	if target == "warmup_isolation_system" && !system && !d.given("input-file") && d.publicName() == "" {
		d.fault("", "%s needs a system prompt: give --system-prompt, --system-prompt-file or "+
			"--shared-system-prompt-length", flag)
	}
}

package config

import (
	"slices"
	"strings"
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
	if !slices.Contains([]string{"chat", "responses"}, d.endpointType) {
		d.fault("", "%s can only be used with --endpoint-type chat or responses, not with %s", flag, d.endpointType)
	}
	if !strings.HasPrefix(target, "warmup_") {
		return
	}
	if !d.warmsUp() {
		d.warn("%s has no effect without a warm-up: give --warmup-request-count, --num-warmup-sessions or --warmup-duration", flag)
	}
	system := d.given("system-prompt") || d.given("system-prompt-file") || d.given("shared-system-prompt-length")
	if target == "warmup_isolation_system" && !system && !d.given("input-file") {
		d.fault("", "%s needs a system prompt: give --system-prompt, --system-prompt-file or --shared-system-prompt-length", flag)
	}
}

package config

import (
	"net"
	"net/url"
	"strings"
)

// sweepLengths are the lengths of all comma lists, by flag as typed, in the order of the table.
func (d *draft) sweeps() (flags []string, lengths []int) {
	for _, o := range table().options {
		if list := d.p.Swept(o.Name); list != nil {
			flags, lengths = append(flags, d.flag(o.Name)), append(lengths, len(list))
		}
	}
	return flags, lengths
}

func (d *draft) checkSweep() {
	flags, lengths := d.sweeps()
	variants := len(d.p.Texts("variant"))
	if d.given("variant") && variants < 2 {
		d.fault("", "%s must be given at least twice", d.flag("variant"))
	}
	sweeping := len(flags) > 0 || variants > 0
	if sweeping && d.mode == FixedSchedule {
		d.fault("V39", "%s: a sweep is incompatible with a fixed schedule",
			strings.Join(append(flags, d.givenOf("variant")...), ", "))
	}
	only := d.givenOf("parameter-sweep-mode", "parameter-sweep-cooldown-seconds", "parameter-sweep-same-seed",
		"sweep-type", "no-sweep-table")
	if !sweeping && len(only) > 0 {
		d.warn("no effect without a sweep: %s", strings.Join(only, ", "))
	}
	if d.p.Text("sweep-type") == "zip" {
		for _, n := range lengths {
			if n != lengths[0] {
				d.fault("V47", "%s zip needs lists of equal length: %s", d.flag("sweep-type"),
					strings.Join(flags, ", "))
				break
			}
		}
	}
	if search := d.givenOf("search-space", "search-recipe"); len(search) > 0 && len(flags) > 0 {
		d.fault("V47", "%s and the lists of %s are mutually exclusive", strings.Join(search, ", "),
			strings.Join(flags, ", "))
	}
	several := sweeping || *d.p.Int("num-profile-runs") > 1
	if several && d.given("ui-type") && d.p.Text("ui-type") == "dashboard" {
		d.fault("V44", "%s dashboard is not supported for several runs; use simple or none", d.flag("ui-type"))
	}
}

func (d *draft) checkSeries() {
	if runs := *d.p.Int("num-profile-runs"); runs == 1 {
		needed, idle := []string{"profile-run-disable-warmup-after-first", "profile-run-cooldown-seconds",
			"convergence-metric"}, []string{"confidence-level"}
		// A sweep of single runs takes its seed from the same option.
		if flags, _ := d.sweeps(); len(flags) == 0 && !d.given("variant") {
			needed, idle = append(needed, "set-consistent-seed"), append(idle, "vary-seed-per-trial")
		}
		if flags := d.givenOf(needed...); len(flags) > 0 {
			d.fault("V41", "%s only applies when --num-profile-runs is greater than 1", strings.Join(flags, ", "))
		}
		if flags := d.givenOf(idle...); len(flags) > 0 {
			d.warn("no effect without --num-profile-runs: %s", strings.Join(flags, ", "))
		}
	} else if runs == 2 && d.given("convergence-metric") {
		d.warn("%s can hardly show convergence in two runs; give --num-profile-runs 3 or more",
			d.flag("convergence-metric"))
	}
	if !d.given("convergence-metric") {
		if flags := d.givenOf("convergence-stat", "convergence-mode", "convergence-threshold"); len(flags) > 0 {
			d.warn("no effect without --convergence-metric: %s", strings.Join(flags, ", "))
		}
		return
	}
	if d.p.Text("convergence-mode") != ConvergeDistribution {
		return
	}
	if d.given("convergence-stat") {
		d.fault("V43", "%s is not applicable with --convergence-mode distribution", d.flag("convergence-stat"))
	}
	if d.p.Text("export-level") == "summary" {
		d.fault("V43", "%s distribution needs per-request records, which --export-level summary does not keep",
			d.flag("convergence-mode"))
	}
}

// isLoopback reports whether a URL names this machine.
func isLoopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

package judge

import (
	"fmt"

	"aiperf/internal/watch/gpu"
)

const (
	// held is the share of the time from which a GPU that was held back by its power is a cause, heated that by heat.
	held, heated = 0.2, 0.05
	// slowClock is the part of the highest clock below which a GPU that works is slow.
	slowClock = 0.8
	// fullMemory is the share of a GPU's memory from which it is full.
	fullMemory = 0.97
)

// worst returns the device with the largest of a figure, and the figure; nil where it is not known.
func (f *view) worst(of func(*gpu.Condition) *float64) (*gpu.Condition, float64) {
	var out *gpu.Condition
	most := 0.0
	for i := range f.Devices {
		if v := of(&f.Devices[i]); v != nil && (out == nil || *v > most) {
			out, most = &f.Devices[i], *v
		}
	}
	return out, most
}

// gpuHeat are GPUs that were too hot.
func (f *view) gpuHeat() (Finding, bool) {
	d, share := f.worst(func(c *gpu.Condition) *float64 { return c.HeatLimited })
	if d == nil || share < heated {
		return Finding{}, false
	}
	l := Finding{Code: CodeGPUHeat, Level: Warn, Title: "GPU too hot", Confidence: Certain,
		Text:     fmt.Sprintf("%s ran slower because of heat in %s of the time", d.Name, percent(share)),
		Brief:    fmt.Sprintf("heat: %s was slowed down in %s of the time", d.Name, percent(share)),
		Evidence: []Evidence{{Metric: "thermal violation", Value: 100 * share, Unit: "% of the time", Window: d.Name}},
		Advice:   "better cooling (fans, airflow, temperature of the room), or a lower power limit: nvidia-smi -pl",
		Confirm:  "nvidia-smi -q -d PERFORMANCE,TEMPERATURE while the load runs"}
	if d.Temperature != nil {
		l.Text += ", at up to " + short(*d.Temperature) + " °C"
		l.Evidence = append(l.Evidence, Evidence{Metric: "gpu_temperature", Value: *d.Temperature, Unit: "°C", Window: "at most"})
	}
	l.Text += "."
	return l, true
}

// gpuPower are GPUs at their limit of power.
func (f *view) gpuPower() (Finding, bool) {
	d, share := f.worst(func(c *gpu.Condition) *float64 { return c.PowerLimited })
	if d == nil || share < held {
		return Finding{}, false
	}
	l := Finding{Code: CodeGPUPower, Level: Warn, Title: "GPU at its power limit", Confidence: Certain,
		Text:     fmt.Sprintf("%s was held back by its limit of power in %s of the time", d.Name, percent(share)),
		Brief:    fmt.Sprintf("power: %s was at its limit in %s of the time", d.Name, percent(share)),
		Evidence: []Evidence{{Metric: "power_violation", Value: 100 * share, Unit: "% of the time", Window: d.Name}},
		Advice: "raise the power limit if the machine allows it (nvidia-smi -q -d POWER, nvidia-smi -pl), or take the lower " +
			"clocks as they are",
		Confirm: "nvidia-smi -q -d PERFORMANCE while the load runs"}
	if d.Power != nil {
		l.Text += ", at " + short(*d.Power) + " W on average"
		l.Evidence = append(l.Evidence, Evidence{Metric: "gpu_power_usage", Value: *d.Power, Unit: "W"})
	}
	l.Text += "."
	return l, true
}

// gpuClocks are GPUs whose clocks somebody set lower, or that are lower for no known reason.
func (f *view) gpuClocks() (Finding, bool) {
	for i := range f.Devices {
		d := &f.Devices[i]
		set := d.SettingsLimited != nil && *d.SettingsLimited >= held
		slow := d.Clock != nil && d.HighestClock != nil && *d.Clock < slowClock**d.HighestClock
		if !set && !slow {
			continue
		}
		l := Finding{Code: CodeGPUClocks, Level: Warn, Title: "GPU clocks are low", Confidence: Likely,
			Advice:  "reset what lowers the clocks: nvidia-smi -rgc, -rac, and limits of the machine's firmware or scheduler",
			Confirm: "nvidia-smi -q -d CLOCK,PERFORMANCE while the load runs"}
		switch {
		case slow:
			l.Text = fmt.Sprintf("%s worked at %s MHz on average, of %s MHz that it can have.", d.Name, short(*d.Clock),
				short(*d.HighestClock))
			l.Evidence = []Evidence{{Metric: "SM clock", Value: *d.Clock, Unit: "MHz", Window: d.Name},
				{Metric: "highest SM clock", Value: *d.HighestClock, Unit: "MHz", Window: d.Name}}
		default:
			l.Text = fmt.Sprintf("The clocks of %s were set lower in %s of the time.", d.Name, percent(*d.SettingsLimited))
			l.Evidence = []Evidence{{Metric: "clocks event reasons: applications clocks setting",
				Value: 100 * *d.SettingsLimited, Unit: "% of the time", Window: d.Name}}
		}
		if set {
			l.Confidence = Certain
		}
		l.Brief = "the GPU's clocks: " + lower(l.Text[:len(l.Text)-1])
		return l, true
	}
	return Finding{}, false
}

// gpuMemory are GPUs without memory to spare.
func (f *view) gpuMemory() (Finding, bool) {
	d, share := f.worst(func(c *gpu.Condition) *float64 { return c.MemoryUsed })
	if d == nil || share < fullMemory {
		return Finding{}, false
	}
	return Finding{Code: CodeGPUMemory, Level: Warn, Title: "GPU memory full", Confidence: Possible,
		Text:     fmt.Sprintf("%s of the memory of %s was in use: nothing is left for a larger batch or longer prompts.", percent(share), d.Name),
		Brief:    fmt.Sprintf("GPU memory: %s of %s in use", percent(share), d.Name),
		Evidence: []Evidence{{Metric: "gpu_memory_used", Value: 100 * share, Unit: "%", Window: "at most"}},
		Advice: "leave the server less of it (" + f.switchOf(needMemory) + "), use weights or a KV cache of fewer bits, or more " +
			"GPUs",
		Confirm: "the server's log: out of memory, swapping, recomputation"}, true
}

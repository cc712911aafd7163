package gpu

import (
	"encoding/json"
	"fmt"
)

// HelperLine is a line of the output of aiperf-gpu: exactly one of its members is set.
type HelperLine struct {
	// Ready comes first: how many GPUs there are, and how many of them measure their SMs by GPM.
	Ready *HelperReady `json:"ready,omitempty"`
	// Failed comes in its place, and nothing after it.
	Failed  string `json:"failed,omitempty"`
	Warning string `json:"warning,omitempty"`
	// GPU is a reading of one GPU, with Values by the plain names of the fields, in their units.
	GPU    *HelperGPU         `json:"gpu,omitempty"`
	Values map[string]float64 `json:"values,omitempty"`
	// Round ends the readings that one "read NUMBER" asked for.
	Round int64 `json:"round,omitempty"`
}

// HelperReady reports what the driver has.
type HelperReady struct {
	GPUs    int    `json:"gpus"`
	GPM     int    `json:"gpm,omitempty"`
	Library string `json:"library,omitempty"`
}

// HelperGPU identifies a GPU.
type HelperGPU struct {
	Index    int    `json:"index"`
	UUID     string `json:"uuid,omitempty"`
	Model    string `json:"model,omitempty"`
	PCIBusID string `json:"pci_bus_id,omitempty"`
	Device   string `json:"device,omitempty"`
}

// ParseHelperLine reads a line of aiperf-gpu.
func ParseHelperLine(text []byte) (HelperLine, error) {
	var l HelperLine
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("not a line of aiperf-gpu: %w", err)
	}
	return l, nil
}

// Reading returns the reading of a line with a GPU.
func (l *HelperLine) Reading(c *Catalog) Reading {
	r := Reading{Device: Device{
		Index: l.GPU.Index, UUID: l.GPU.UUID, Model: l.GPU.Model, PCIBusID: l.GPU.PCIBusID, Device: l.GPU.Device,
	}, Values: c.NewValues()}
	for name, v := range l.Values {
		c.Set(r.Values, name, v)
	}
	return r
}

package gpu

import (
	"math"

	"aiperf/internal/base/artifact"
)

// AppendLine appends a reading as a line of gpu_telemetry_export.jsonl, without its end. What is not known is left
// out.
func (c *Catalog) AppendLine(dst []byte, r *Reading) []byte {
	m := artifact.Members{Dst: dst}
	m.Open()
	m.Int("gpu_index", int64(r.Index))
	m.String("gpu_uuid", r.UUID)
	m.String("gpu_model_name", r.Model)
	for _, o := range []struct{ key, text string }{
		{"pci_bus_id", r.PCIBusID}, {"device", r.Device.Device}, {"hostname", r.Hostname}, {"namespace", r.Namespace},
		{"pod_name", r.Pod},
	} {
		if o.text != "" {
			m.String(o.key, o.text)
		}
	}
	m.Int("timestamp_ns", r.TimestampNS)
	m.String("dcgm_url", r.Source)
	m.Object("telemetry_data")
	for i, v := range r.Values {
		if !math.IsNaN(v) && !c.quiet[i] {
			m.Key(c.Field(i).Name)
			m.Dst = artifact.AppendFloat(m.Dst, v)
		}
	}
	m.Close()
	m.String("telemetry_source_url", r.Source)
	m.String("platform", r.Platform)
	if r.Instance != "" {
		m.String("gpu_instance_id", r.Instance)
	}
	m.Close()
	return m.Dst
}

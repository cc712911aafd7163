package gpu

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"aiperf/internal/base/bounded"
	"aiperf/internal/measure/timeline"
)

// Curves returns the fields of all devices over time, counters as rates.
func (s *Store) Curves() []timeline.Curve {
	var out []timeline.Curve
	for field := range s.catalog.fields {
		for _, d := range s.devices {
			if column := d.columns[field]; column != nil && !s.catalog.quiet[field] {
				out = append(out, d.curve(s.catalog.Field(field), column))
			}
		}
	}
	return out
}

func (d *Series) curve(f Field, column []float64) timeline.Curve {
	r := DeviceMetrics{Device: d.Device}
	c := timeline.Curve{Source: DisplaySource(d.Source), Name: f.Display, Labels: r.Title(), Unit: f.Unit}
	c.TimeNS, c.Values = d.times, column
	if f.Kind == Counter {
		c.What, c.Unit = timeline.Rate, f.Unit+"/s"
		c.Values = timeline.Rates(d.times, column)
		if f.Unit == "MJ" { // what grows by a MJ in a second is a MW, of which a GPU takes a thousandth
			c.Name, c.What, c.Unit = strings.Replace(f.Display, "Energy Consumption", "Power by Energy Counter", 1), "", "W"
			for i := range c.Values {
				c.Values[i] *= 1e6
			}
		}
	}
	return c
}

// ReadCurves reads the curves of a recording, as [ReadStore] does.
func ReadCurves(path string) ([]timeline.Curve, error) {
	store, err := ReadStore(path)
	if err != nil {
		return nil, err
	}
	return store.Curves(), nil
}

// ReadStore reads the recording of a run, gpu_telemetry_export.jsonl. Fields that are not built in are left out: the
// recording does not say what they are. So is a last line that is not whole.
func ReadStore(path string) (*Store, error) {
	file, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	catalog := NewCatalog(nil, false)
	byName := map[string]int{}
	for i := range catalog.Len() {
		f := catalog.fields[i]
		byName[f.Name] = i
		if f.Platform == NVIDIA {
			byName[NewCatalog(nil, true).Field(i).Name] = i
		}
	}
	store := NewStore(catalog)
	in := bufio.NewReaderSize(bounded.NewLines(file, bounded.MaxLine, ""), 1<<16)
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return store, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		r, err := ParseLine(text, byName, catalog.Len())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		store.Add(r)
	}
}

// ParseLine reads a line of the recording, as [Catalog.AppendLine] writes it. byName are the places of the fields among
// the values, of which there are as many as fields; a field that the line lacks is NaN, and one without a place is left
// out.
func ParseLine(text []byte, byName map[string]int, fields int) (Reading, error) {
	var line struct {
		Index    int                `json:"gpu_index"`
		UUID     string             `json:"gpu_uuid"`
		Model    string             `json:"gpu_model_name"`
		Hostname string             `json:"hostname"`
		TimeNS   int64              `json:"timestamp_ns"`
		Source   string             `json:"telemetry_source_url"`
		Platform string             `json:"platform"`
		Instance string             `json:"gpu_instance_id"`
		Data     map[string]float64 `json:"telemetry_data"`
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return Reading{}, err
	}
	r := Reading{TimestampNS: line.TimeNS, Values: make([]float64, fields)}
	r.Device = Device{Source: line.Source, Platform: line.Platform, Index: line.Index, UUID: line.UUID,
		Model:    line.Model,
		Hostname: line.Hostname, Instance: line.Instance}
	for i := range r.Values {
		r.Values[i] = math.NaN()
	}
	for name, v := range line.Data {
		if i, ok := byName[name]; ok {
			r.Values[i] = v
		}
	}
	return r, nil
}

package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// sidecarVersion is the version of the sidecar's layout.
const sidecarVersion = "1.0"

// Sidecar is what stands in server_metrics_recording.json: what the lines of a recording lack.
type Sidecar struct {
	Info
	// Complete is false while the run goes on, and stays so if it was killed: then nothing is known about its
	// window, and the endpoints' lists end early.
	Complete  bool
	Endpoints []Endpoint // in the order of the store
}

// Endpoint is what the lines lack about an endpoint. Its scrapes are numbered from 1 in the order of its lines.
type Endpoint struct {
	URL string
	// Scrapes is the number of lines that the rest covers.
	Scrapes int
	// Duplicates are the scrapes whose body was that of the one before.
	Duplicates Ranges
	// SeriesOrder holds, for the series that the lines bring, in their order there, the place at which each
	// appeared first. The places left out are those of the info series.
	SeriesOrder Ranges
	Families    []prom.Family // in order of first appearance
	Info        []InfoSeries
}

// InfoSeries is a series of an info family, none of which stands in the lines.
type InfoSeries struct {
	Name     string
	Labels   []prom.Label
	Position int // at which it appeared first, from 0
	Values   Values
}

// Ranges are ascending stretches of consecutive numbers, written [first, last].
type Ranges [][2]int

func (r Ranges) add(n int) Ranges {
	if i := len(r) - 1; i >= 0 && r[i][1] == n-1 {
		r[i][1] = n
		return r
	}
	return append(r, [2]int{n, n})
}

// Value is what an info series was from one scrape to another.
type Value struct {
	First, Last int
	Value       float64
}

// Values are ascending stretches of scrapes.
type Values []Value

func (v Values) add(n int, value float64) Values {
	i := len(v) - 1
	switch {
	case i >= 0 && v[i].Last == n: // of two samples of a series the last counts
		if v[i].First == n {
			v[i].Value = value
			return v
		} else if v[i].Value == value {
			return v
		}
		v[i].Last--
	case i >= 0 && v[i].Last == n-1 && v[i].Value == value:
		v[i].Last = n
		return v
	}
	return append(v, Value{n, n, value})
}

// Write writes the sidecar to w; lists of numbers and series stand on one line each.
func (s *Sidecar) Write(w io.Writer) error {
	d := &document{ctx: context.Background(), w: w}
	d.open('{')
	d.text("recording_version", sidecarVersion)
	d.value("complete", s.Complete)
	d.text("aiperf_version", s.AIPerfVersion)
	d.text("benchmark_id", s.BenchmarkID)
	if s.CLICommand != "" {
		d.text("cli_command", s.CLICommand)
	}
	d.text("hostname", s.Hostname)
	d.text("runtime_version", s.runtimeVersion())
	d.text("parquet_version", s.parquetVersion())
	if s.Complete {
		d.integer("export_time_ns", s.ExportTime.UnixNano())
		d.key("window")
		d.open('{')
		d.integer("start_ns", s.Window.StartNS)
		d.integer("end_ns", s.Window.EndNS)
		d.integer("start_utc_offset_seconds", utcOffset(s.Window.StartNS, s.startLocation()))
		d.integer("end_utc_offset_seconds", utcOffset(s.Window.EndNS, s.endLocation()))
		d.close('}')
	}
	if w := s.Warmup; s.Complete && w != (servermetrics.Window{}) {
		d.key("warmup_window")
		d.open('{')
		d.integer("start_ns", w.StartNS)
		d.integer("end_ns", w.EndNS)
		d.close('}')
	}
	d.integer("slice_ns", s.SliceNS)
	d.value("percentile_bounds", s.Bounds)
	d.texts("models", s.Models)
	if s.Concurrency != nil {
		d.integer("concurrency", int64(*s.Concurrency))
	}
	if s.RequestRate != nil {
		d.float("request_rate", *s.RequestRate)
	}
	d.texts("endpoints_configured", s.Configured)
	d.texts("endpoints_successful", s.Successful)
	d.key("endpoints")
	d.open('[')
	for i := range s.Endpoints {
		d.item()
		d.endpoint(&s.Endpoints[i])
	}
	d.close(']')
	d.value("input_config", s.InputConfig)
	d.close('}')
	return d.finish()
}

func utcOffset(ns int64, zone *time.Location) int64 {
	_, offset := time.Unix(0, ns).In(zone).Zone()
	return int64(offset)
}

// endpoint writes what the table of samples does not hold of an endpoint. [endpointJSON.endpoint] reads it.
func (d *document) endpoint(e *Endpoint) {
	d.open('{')
	d.text("endpoint_url", e.URL)
	d.integer("scrapes", int64(e.Scrapes))
	d.numbers("duplicates", e.Duplicates)
	d.numbers("series_order", e.SeriesOrder)
	d.key("families")
	d.open('[')
	for _, f := range e.Families {
		d.item()
		m := artifact.Members{Dst: d.buf}
		m.Open()
		m.String("name", f.Name)
		m.String("type", f.Type.String())
		m.String("description", f.Help)
		if unit := prom.InferUnit(f.Name, f.Help); unit != "" {
			m.String("unit", unit)
		}
		m.Close()
		d.buf = m.Dst
	}
	d.close(']')
	d.key("info_series")
	d.open('[')
	for _, s := range e.Info {
		d.item()
		d.infoSeries(&s)
	}
	d.close(']')
	d.close('}')
}

// infoSeries writes a series without a history: its labels in their order, and its values as runs of scrapes, [first,
// last, value].
func (d *document) infoSeries(s *InfoSeries) {
	m := artifact.Members{Dst: d.buf}
	m.Open()
	m.String("name", s.Name)
	m.Object("labels")
	for i, l := range s.Labels {
		if i > 0 {
			m.Dst = append(m.Dst, ',')
		}
		m.Dst = artifact.AppendString(append(artifact.AppendString(m.Dst, l.Name), ':'), l.Value)
	}
	m.Close()
	m.Int("position", int64(s.Position))
	m.Key("values")
	m.Dst = append(m.Dst, '[')
	for i, v := range s.Values {
		if i > 0 {
			m.Dst = append(m.Dst, ',')
		}
		m.Dst = strconv.AppendInt(append(m.Dst, '['), int64(v.First), 10)
		m.Dst = strconv.AppendInt(append(m.Dst, ','), int64(v.Last), 10)
		m.Dst = append(artifact.AppendFloat(append(m.Dst, ','), v.Value), ']')
	}
	m.Dst = append(m.Dst, ']')
	m.Close()
	d.buf = m.Dst
}

func (d *document) numbers(key string, r Ranges) {
	d.key(key)
	d.buf = append(d.buf, '[')
	for i, pair := range r {
		if i > 0 {
			d.buf = append(d.buf, ',', ' ')
		}
		d.buf = strconv.AppendInt(append(d.buf, '['), int64(pair[0]), 10)
		d.buf = append(strconv.AppendInt(append(d.buf, ',', ' '), int64(pair[1]), 10), ']')
	}
	d.buf = append(d.buf, ']')
}

// sidecarJSON is the sidecar as it is read.
type sidecarJSON struct {
	RecordingVersion string `json:"recording_version"`
	Complete         bool   `json:"complete"`
	AIPerfVersion    string `json:"aiperf_version"`
	BenchmarkID      string `json:"benchmark_id"`
	CLICommand       string `json:"cli_command"`
	Hostname         string `json:"hostname"`
	RuntimeVersion   string `json:"runtime_version"`
	ParquetVersion   string `json:"parquet_version"`
	ExportTimeNS     int64  `json:"export_time_ns"`
	Window           struct {
		StartNS        int64 `json:"start_ns"`
		EndNS          int64 `json:"end_ns"`
		StartUTCOffset int   `json:"start_utc_offset_seconds"`
		EndUTCOffset   int   `json:"end_utc_offset_seconds"`
	} `json:"window"`
	Warmup struct {
		StartNS int64 `json:"start_ns"`
		EndNS   int64 `json:"end_ns"`
	} `json:"warmup_window"`
	SliceNS     int64           `json:"slice_ns"`
	Bounds      bool            `json:"percentile_bounds"`
	Models      []string        `json:"models"`
	Concurrency *int            `json:"concurrency"`
	RequestRate *float64        `json:"request_rate"`
	Configured  []string        `json:"endpoints_configured"`
	Successful  []string        `json:"endpoints_successful"`
	Endpoints   []endpointJSON  `json:"endpoints"`
	InputConfig json.RawMessage `json:"input_config"`
}

type endpointJSON struct {
	URL         string `json:"endpoint_url"`
	Scrapes     int    `json:"scrapes"`
	Duplicates  Ranges `json:"duplicates"`
	SeriesOrder Ranges `json:"series_order"`
	Families    []struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Description string `json:"description"`
	} `json:"families"`
	Info []struct {
		Name     string          `json:"name"`
		Labels   json.RawMessage `json:"labels"`
		Position int             `json:"position"`
		Values   [][3]float64    `json:"values"`
	} `json:"info_series"`
}

// ParseSidecar reads a sidecar.
func ParseSidecar(data []byte) (*Sidecar, error) {
	var in sidecarJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("not the description of a recording: %w", err)
	}
	if in.RecordingVersion != sidecarVersion {
		return nil, fmt.Errorf("describes a recording of version %q; this program reads %q", in.RecordingVersion,
			sidecarVersion)
	}
	config, err := members(in.InputConfig)
	if err != nil {
		return nil, fmt.Errorf("input_config: %w", err)
	}
	s := &Sidecar{Complete: in.Complete, Info: Info{
		AIPerfVersion: in.AIPerfVersion, BenchmarkID: in.BenchmarkID, CLICommand: in.CLICommand, Hostname: in.Hostname,
		RuntimeVersion: in.RuntimeVersion, ParquetVersion: in.ParquetVersion,
		Configured: in.Configured, Successful: in.Successful,
		Window: servermetrics.Window{StartNS: in.Window.StartNS, EndNS: in.Window.EndNS},
		Warmup: servermetrics.Window(in.Warmup), InputConfig: config,
		Models: in.Models, Concurrency: in.Concurrency, RequestRate: in.RequestRate,
		SliceNS: in.SliceNS, Bounds: in.Bounds,
	}}
	if in.Complete {
		s.ExportTime = time.Unix(0, in.ExportTimeNS)
		s.Location = time.FixedZone("", in.Window.StartUTCOffset)
		s.EndLocation = time.FixedZone("", in.Window.EndUTCOffset)
	}
	for _, e := range in.Endpoints {
		endpoint, err := e.endpoint()
		if err != nil {
			return nil, fmt.Errorf("endpoint %s: %w", e.URL, err)
		}
		s.Endpoints = append(s.Endpoints, endpoint)
	}
	return s, nil
}

// endpoint checks what was read. Labels are decoded member by member, as their order is part of the identity of a
// series.
func (in *endpointJSON) endpoint() (Endpoint, error) {
	e := Endpoint{URL: in.URL, Scrapes: in.Scrapes, Duplicates: in.Duplicates, SeriesOrder: in.SeriesOrder}
	for _, f := range in.Families {
		kind, ok := ParseType(f.Type)
		if !ok {
			return e, fmt.Errorf("family %s has the unknown type %q", f.Name, f.Type)
		}
		e.Families = append(e.Families, prom.Family{Name: f.Name, Help: f.Description, Type: kind})
	}
	for _, s := range in.Info {
		labels, err := members(s.Labels)
		if err != nil {
			return e, fmt.Errorf("labels of %s: %w", s.Name, err)
		}
		series := InfoSeries{Name: s.Name, Position: s.Position}
		for _, m := range labels {
			var value string
			if err := json.Unmarshal(m.Value.(json.RawMessage), &value); err != nil {
				return e, fmt.Errorf("label %s of %s: %w", m.Key, s.Name, err)
			}
			series.Labels = append(series.Labels, prom.Label{Name: m.Key, Value: value})
		}
		for _, v := range s.Values {
			series.Values = append(series.Values, Value{int(v[0]), int(v[1]), v[2]})
		}
		e.Info = append(e.Info, series)
	}
	return e, nil
}

// ParseType reads the name of a type.
func ParseType(name string) (prom.Type, bool) {
	for _, t := range [...]prom.Type{prom.Unknown, prom.Gauge, prom.Counter, prom.Histogram} {
		if t.String() == name {
			return t, true
		}
	}
	return prom.Unknown, false
}

// members returns the members of an object, raw and in their order.
func members(text json.RawMessage) (artifact.Object, error) {
	if jsonscan.IsNull(text) {
		return nil, nil
	}
	if text[0] != '{' {
		return nil, errors.New("not an object")
	}
	object := artifact.Object{}
	for m := range jsonscan.Members(text) {
		object = append(object, artifact.Member{Key: string(m.Key), Value: json.RawMessage(m.Value)})
	}
	return object, nil
}

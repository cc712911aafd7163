package plot

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/chart"
)

// slice is a time slice of a run.
type slice struct {
	number int
	// seconds is its length, 0 if it is not known.
	seconds float64
	// stats are by metric and statistic.
	stats map[string]map[string]float64
}

// sliceTable are the time slices of a run. Metrics go by their tags, those without a tag by their headers.
type sliceTable struct {
	slices []slice
	units  map[string]string
}

// readSlices reads the time slices of a run: the JSON file, which has all digits, else the CSV file.
func readSlices(files config.Artifacts) (*sliceTable, error) {
	path := files.Path(config.TimeslicesJSON)
	data, err := bounded.ReadFile(path)
	if err == nil {
		t, err := parseSlices(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return t, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	path = files.Path(config.TimeslicesCSV)
	file, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := parseSliceTable(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func parseSlices(data []byte) (*sliceTable, error) {
	var file struct {
		Timeslices []map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	t := &sliceTable{units: map[string]string{}}
	for i, members := range file.Timeslices {
		s := slice{number: i, stats: map[string]map[string]float64{}}
		var start, end int64
		for key, to := range map[string]any{"timeslice_index": &s.number, "start_ns": &start, "end_ns": &end} {
			if raw, ok := members[key]; ok && json.Unmarshal(raw, to) != nil {
				return nil, fmt.Errorf("time slice %d: %s is not a whole number", i, key)
			}
		}
		s.seconds = float64(end-start) / 1e9
		for tag, raw := range members {
			var block map[string]any
			if json.Unmarshal(raw, &block) != nil {
				continue
			}
			unit, ok := block["unit"].(string)
			if !ok {
				continue
			}
			t.units[tag] = unit
			s.stats[tag] = map[string]float64{}
			for name, v := range block {
				if v, ok := v.(float64); ok {
					s.stats[tag][name] = v
				}
			}
		}
		t.slices = append(t.slices, s)
	}
	return t, nil
}

// sliceColumns are the columns of the CSV file by their names. The two of the bounds may be missing.
var sliceColumns = [...]string{sliceColumn, "Metric", "Unit", "Stat", "Value", "Start_NS", "End_NS"}

// parseSliceTable reads the CSV file, with or without the bounds of the slices. A file without a header has none.
func parseSliceTable(in io.Reader) (*sliceTable, error) {
	const needed = 5
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	t := &sliceTable{units: map[string]string{}}
	at := map[int]int{}
	columns := [len(sliceColumns)]int{0, 1, 2, 3, 4, -1, -1}
	for number := 1; ; number++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		if number == 1 && len(row) > 0 && row[0] == sliceColumn {
			for i, name := range sliceColumns {
				columns[i] = slices.Index(row, name)
				if columns[i] < 0 && i < needed {
					return nil, fmt.Errorf("the header has no column %s", name)
				}
			}
			continue
		}
		if last := slices.Max(columns[:]); len(row) <= last {
			return nil, fmt.Errorf("line %d has %d columns, not %d", number, len(row), last+1)
		}
		cell := func(i int) string { return row[columns[i]] }
		index, errIndex := strconv.Atoi(cell(0))
		value, errValue := strconv.ParseFloat(cell(4), 64)
		if errIndex != nil || errValue != nil {
			continue // a cell without a value
		}
		place, ok := at[index]
		if !ok {
			place = len(t.slices)
			at[index] = place
			s := slice{number: index, stats: map[string]map[string]float64{}}
			if columns[5] >= 0 && columns[6] >= 0 {
				start, errStart := strconv.ParseInt(cell(5), 10, 64)
				end, errEnd := strconv.ParseInt(cell(6), 10, 64)
				if errStart == nil && errEnd == nil {
					s.seconds = float64(end-start) / 1e9
				}
			}
			t.slices = append(t.slices, s)
		}
		tag := headerTag(cell(1))
		if tag == "" {
			tag = cell(1)
		}
		if t.slices[place].stats[tag] == nil {
			t.slices[place].stats[tag] = map[string]float64{}
		}
		t.slices[place].stats[tag][cell(3)], t.units[tag] = value, cell(2)
	}
}

// duration returns the length of a slice in seconds: that of the first one, else that of the configuration.
func (t *sliceTable) duration(r *Run) float64 {
	if len(t.slices) > 0 && t.slices[0].seconds > 0 {
		return t.slices[0].seconds
	}
	for _, key := range [...]string{"artifacts.slice_duration", "output.slice_duration"} {
		if v, err := strconv.ParseFloat(r.columns[key], 64); err == nil && v > 0 {
			return v
		}
	}
	return 0
}

// names returns the numbers of the slices where they count from 0 on, nil where some are missing.
func (t *sliceTable) names() []string {
	var out []string
	for i, s := range t.slices {
		if s.number != i {
			return nil
		}
		out = append(out, strconv.Itoa(i))
	}
	return out
}

// timeslices draws the averages of a metric in the time slices with their spread, beside the average of the run.
func (m *maker) timeslices(p *Preset) (*chart.Figure, error) {
	s := m.one
	tag := p.Y.Metric
	if of := headerTag(tag); of != "" {
		tag = of
	}
	if s.slices == nil || len(s.slices.slices) == 0 {
		return nil, s.lacking(FromSlices, p.Y.Metric)
	}
	stat := p.Y.Stat
	if stat == "" {
		stat = standardStat
	}
	width := s.slices.duration(s.run)
	inSeconds := p.UseSliceDuration && width > 0
	unit := s.slices.units[tag]
	label := title(tag)
	if stat != standardStat {
		label += ", " + statWords(stat)
	}
	f := m.frame(p, "Time slice", withUnit(label, unit))
	if inSeconds {
		f.X.Label = fmt.Sprintf("Time since the start (s), slices of %g s", width)
	}
	if p.XLabel != "" {
		f.X.Label = p.XLabel
	}
	if p.YLabel != "" {
		f.Y.Label = p.YLabel
	}
	run := s.run.metrics[tag]
	average, std := math.NaN(), 0.0
	if q, ok := run[stat]; ok && stat == standardStat {
		average = q.value
	}
	if q, ok := run["std"]; ok {
		std = q.value
	}
	if names := s.slices.names(); !inSeconds && names != nil {
		f.X.Zero, f.X.Categories = false, names
	}
	good := chart.Layer{Kind: chart.Points, Name: "Slice " + statWords(stat), Look: chart.Look{Series: 1, Size: 8}}
	bad := chart.Layer{Kind: chart.Points, Name: "Outlier", Look: chart.Look{Colour: "#E74C3C", Size: 9}}
	bars := chart.Layer{Kind: chart.Errors, Name: "± 1 std dev within the slice", Look: chart.Look{Series: 1, Width: 1.5}}
	start, end := 0.0, 0.0
	for _, at := range s.slices.slices {
		v, ok := at.stats[tag][stat]
		if !ok {
			continue
		}
		x := float64(at.number)
		if inSeconds {
			x = x*width + width/2
			end = max(end, x+width/2)
		} else {
			start, end = min(start, x-0.5), max(end, x+0.5)
		}
		spread := at.stats[tag]["std"]
		to := &good
		if !math.IsNaN(average) && Outlier(tag, v, average, std, spread) {
			to = &bad
		}
		to.X, to.Y = append(to.X, x), append(to.Y, v)
		if spread > 0 && stat == standardStat {
			bars.X, bars.Y = append(bars.X, x), append(bars.Y, v)
			bars.Low, bars.High = append(bars.Low, v-spread), append(bars.High, v+spread)
		}
	}
	if len(good.X)+len(bad.X) == 0 {
		return nil, s.lacking(FromSlices, p.Y.Metric)
	}
	if !math.IsNaN(average) {
		if std > 0 {
			f.Layers = append(f.Layers, chart.Layer{Kind: chart.Band, Name: fmt.Sprintf("Run ± 1 std dev: %.4g %s", std, unit),
				X: []float64{start, end}, Low: []float64{average - std, average - std},
				High: []float64{average + std, average + std}, Look: chart.Look{Colour: "#999999", Fill: 0.15}})
		}
		f.Layers = append(f.Layers, chart.Layer{Kind: chart.Level, Name: fmt.Sprintf("Run average: %.4g %s", average, unit),
			Y: []float64{average}, Look: chart.Look{Colour: "#808080"}})
	}
	for _, l := range [...]chart.Layer{bars, good, bad} {
		if len(l.X) > 0 {
			f.Layers = append(f.Layers, l)
		}
	}
	if isThroughput(tag) && s.requests != nil {
		for _, of := range [...]struct{ tag, name string }{{"input_sequence_length", "input"},
			{"output_sequence_length", "output"}} {
			if low, high, ok := rangeOf(s.requests.metrics[of.tag]); ok && low != high {
				m.note("The %s length differs between requests (%g to %g tokens): slices with longer requests complete fewer.",
					of.name, low, high)
			}
		}
	}
	return f, nil
}

// Outlier reports whether the average of a slice is far from that of the run: above it by more than both deviations, a
// throughput below it.
func Outlier(tag string, v, average, std, spread float64) bool {
	if std+spread == 0 { // without deviations nothing is far
		return false
	}
	if isThroughput(tag) {
		return v < average-std-spread
	}
	return v > average+std+spread
}

func isThroughput(tag string) bool {
	d, ok := metrics.Lookup(tag)
	return ok && d.LargerIsBetter()
}

// rangeOf returns the smallest and the largest number of a column.
func rangeOf(column []float64) (low, high float64, ok bool) {
	numbers := slices.DeleteFunc(slices.Clone(column), func(v float64) bool { return !isNumber(v) })
	if len(numbers) == 0 {
		return 0, 0, false
	}
	return slices.Min(numbers), slices.Max(numbers), true
}

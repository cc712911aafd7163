package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
)

// A line of the per-request file holds the facts of its request in three places, each fact in one of
// them: the instants of its metadata, the metrics that are a fact in another unit, and, for the rest,
// an object of facts by name. Together they are the whole row, exactly.

// gapsKey is the member of the facts with the gaps that follow from no metric.
const gapsKey = "gaps"

// inMetadata are the facts that stand in the metadata of a line or follow from the line as a whole.
var inMetadata = [record.NumFields]bool{
	record.StartWall: true, record.CreditIssued: true, record.IntendedSend: true, record.Ack: true,
	record.Cancelled: true,
	record.Good:      true, record.Failed: true,
	// It follows from the line's record of speculative decoding.
	record.SpecMeanLength: true,
}

// mirror is a record metric whose value is one fact as it is.
type mirror struct {
	field      record.Field
	toInternal float64
}

// mirrors are such metrics by tag.
var mirrors = func() map[string]mirror {
	out := map[string]mirror{}
	for i := range table {
		d := &table[i]
		if field, ok := d.mirrored(); ok {
			out[d.Tag] = mirror{field, d.toInternal()}
		}
	}
	return out
}()

// mirrored reports which fact a metric repeats: one that reads no other and yields it unchanged.
func (d *Definition) mirrored() (record.Field, bool) {
	if d.Kind != KindRecord || d.integer == nil || len(d.reads) != 1 || d.Flags.Has(NoIndividualRecords) ||
		d.Flags.Has(ErrorOnly) {
		return 0, false
	}
	for _, probe := range [...]int64{1, 987_654_321} {
		f := record.NewFacts()
		f[d.reads[0]] = probe
		if v, ok := d.integer(&f); !ok || v != probe {
			return 0, false
		}
	}
	return d.reads[0], true
}

// AppendRecordFacts appends, as a compact JSON object, the facts of a request that neither the metadata
// nor the metrics of its line tell; {} when there is none.
func (s *Set) AppendRecordFacts(dst []byte, rec *record.Record) []byte {
	dst = append(dst, '{')
	start := len(dst)
	member := func(name string) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(artifact.AppendString(dst, name), ':')
	}
	listed := !rec.IsError() && s.listsGaps && usable(rec.GapsNS)
	for i := range record.NumFields {
		v, ok := rec.Get(i)
		if !ok || inMetadata[i] || s.impliesFact(i, rec, v) {
			continue
		}
		if i == record.Contents && listed && v == int64(len(rec.GapsNS))+1 {
			continue
		}
		member(i.String())
		dst = strconv.AppendInt(dst, v, 10)
	}
	if len(rec.GapsNS) > 0 && !listed {
		member(gapsKey)
		dst = append(dst, '[')
		for i, ns := range rec.GapsNS {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, ns, 10)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// impliesFact reports whether the fact follows from a metric of the line.
func (s *Set) impliesFact(field record.Field, rec *record.Record, v int64) bool {
	m := s.mirrors[field]
	if m == nil || rec.IsError() {
		return false
	}
	value, ok := m.integer(&rec.Facts)
	if !ok || value != v {
		return false
	}
	return m.Unit == m.Display || int64(math.Round(float64(v)*m.ratio*m.toInternal())) == v
}

// bindMirrors finds the metrics of the lines that are facts.
func (s *Set) bindMirrors() {
	for i := range s.lines {
		l := &s.lines[i]
		if l.list {
			s.listsGaps = true
		}
		if m, ok := mirrors[l.Tag]; ok {
			s.mirrors[m.field] = l.metric
		}
	}
}

// RestoreMetric adds the facts that follow from a metric of a line to a record. Metrics from which none follows are
// passed over.
func RestoreMetric(rec *record.Record, tag string, value []byte) error {
	if tag == listTag {
		return restoreGaps(rec, value)
	}
	m, ok := mirrors[tag]
	if !ok {
		return nil
	}
	if m.toInternal == 1 { // a count, which is exact beyond what a float holds
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			rec.Facts[m.field] = n
			return nil
		}
	}
	v, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.Abs(v*m.toInternal) >= math.MaxInt64 {
		return fmt.Errorf("metric %s has the value %.40s, which is not a number of its kind", tag, value)
	}
	rec.Facts[m.field] = int64(math.Round(v * m.toInternal))
	return nil
}

// listTag is the metric of the chunk gaps, listToInternal the way back from its display unit.
var listTag, listToInternal = func() (string, float64) {
	d := &table[slices.IndexFunc(table, func(d Definition) bool { return d.list })]
	return d.Tag, d.toInternal()
}()

func restoreGaps(rec *record.Record, value []byte) error {
	list, ok := numbers(value)
	if !ok {
		if err := json.Unmarshal(value, &list); err != nil {
			return fmt.Errorf("metric %s: %w", listTag, err)
		}
	}
	rec.GapsNS = make([]int64, len(list))
	for i, v := range list {
		rec.GapsNS[i] = int64(math.Round(v * listToInternal))
	}
	if len(list) > 0 {
		rec.Facts[record.Contents] = int64(len(list)) + 1
	}
	return nil
}

// numbers reads a compact JSON array of numbers; false where it is anything else.
func numbers(text []byte) ([]float64, bool) {
	if len(text) < 3 || text[0] != '[' || text[len(text)-1] != ']' {
		return nil, false
	}
	inner := text[1 : len(text)-1]
	list := make([]float64, 0, bytes.Count(inner, []byte{','})+1)
	for len(inner) > 0 {
		end := bytes.IndexByte(inner, ',')
		if end < 0 {
			end = len(inner)
		}
		v, err := strconv.ParseFloat(string(inner[:end]), 64)
		if err != nil {
			return nil, false
		}
		list = append(list, v)
		inner = inner[min(end+1, len(inner)):]
	}
	return list, true
}

// RestoreFact takes a member of the facts of a line into a record. One that this program does not know
// is passed over: a later version wrote it.
func RestoreFact(rec *record.Record, name string, value []byte) error {
	if name == gapsKey {
		if err := json.Unmarshal(value, &rec.GapsNS); err != nil {
			return fmt.Errorf("fact %s: %w", name, err)
		}
		return nil
	}
	field, ok := record.FieldNamed(name)
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return fmt.Errorf("fact %s has the value %.40s, which is not a whole number", name, value)
	}
	rec.Facts[field] = n
	return nil
}

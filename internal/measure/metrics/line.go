package metrics

import (
	"slices"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
)

// line is a metric's part of a per-request line: the JSON before and after the value.
type line struct {
	*metric
	before, after []byte
}

func newLine(m *metric) line {
	before := artifact.AppendString(nil, m.Tag)
	before = append(before, `:{"value":`...)
	after := artifact.AppendString([]byte(`,"unit":`), string(m.Display))
	return line{m, before, append(after, '}')}
}

// AppendRecordMetrics appends the metrics of one request as a compact JSON object, tag → value and
// unit, in display units; {} when there is none. Integers that need no conversion stay integers.
func (s *Set) AppendRecordMetrics(dst []byte, rec *record.Record) []byte {
	dst = append(dst, '{')
	start := len(dst)
	failed := rec.IsError()
	for i := range s.lines {
		l := &s.lines[i]
		if l.Flags.Has(ErrorOnly) != failed {
			continue
		}
		mark := len(dst)
		if mark > start {
			dst = append(dst, ',')
		}
		dst = append(dst, l.before...)
		value := len(dst)
		if dst = l.appendValue(dst, s, rec); len(dst) == value {
			dst = dst[:mark]
			continue
		}
		dst = append(dst, l.after...)
	}
	return append(dst, '}')
}

// AppendRecordValues appends the metrics of some tags of one request as a compact JSON object, tag → number
// in its display unit, in the order of tags; {} when there is none.
func (s *Set) AppendRecordValues(dst []byte, rec *record.Record, tags ...string) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for _, tag := range tags {
		i := slices.IndexFunc(s.lines, func(l line) bool { return l.Tag == tag })
		if i < 0 || s.lines[i].Flags.Has(ErrorOnly) != rec.IsError() {
			continue
		}
		mark := len(dst)
		if mark > start {
			dst = append(dst, ',')
		}
		dst = append(artifact.AppendString(dst, tag), ':')
		value := len(dst)
		if dst = s.lines[i].appendValue(dst, s, rec); len(dst) == value {
			dst = dst[:mark]
		}
	}
	return append(dst, '}')
}

// appendValue appends nothing when the request has no value.
func (l *line) appendValue(dst []byte, s *Set, rec *record.Record) []byte {
	switch {
	case l.increment != nil:
		if v, ok := l.increment(&occurrence{&rec.Facts, rec.Err, s}); ok {
			return strconv.AppendInt(dst, v, 10)
		}
	case l.list:
		return l.appendList(dst, rec.GapsNS)
	case l.integer != nil:
		v, ok := l.integer(&rec.Facts)
		switch {
		case !ok:
		case l.Unit == l.Display:
			return strconv.AppendInt(dst, v, 10)
		default:
			return artifact.AppendFloat(dst, float64(v)*l.ratio)
		}
	default:
		if v, ok := l.float(&rec.Facts); ok {
			return artifact.AppendFloat(dst, v*l.ratio)
		}
	}
	return dst
}

func (l *line) appendList(dst []byte, gaps []int64) []byte {
	if !usable(gaps) {
		return dst
	}
	dst = append(dst, '[')
	for i, ns := range gaps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = artifact.AppendFloat(dst, float64(ns)*l.ratio)
	}
	return append(dst, ']')
}

// usable reports whether gaps are a list of chunk latencies: one negative gap spoils it.
func usable(gaps []int64) bool {
	return len(gaps) > 0 && slices.Min(gaps) >= 0
}

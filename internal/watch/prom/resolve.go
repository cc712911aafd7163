package prom

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// declaredType is a type as a TYPE line names it.
type declaredType uint8

const (
	wordUnknown declaredType = iota
	wordGauge
	wordCounter
	wordHistogram
	wordSummary
	wordInfo
	wordGaugeHistogram
)

// words are the types with a meaning of their own; all others are unknown.
var words = map[string]declaredType{
	"gauge": wordGauge, "counter": wordCounter, "histogram": wordHistogram,
	"summary": wordSummary, "info": wordInfo, "gaugehistogram": wordGaugeHistogram,
}

// parts are the sample names that belong to a declared family of another name.
var parts = [...]struct {
	suffix string
	word   declaredType
	role   role
}{
	{"_total", wordCounter, roleValue},
	{"_bucket", wordHistogram, roleBucket},
	{"_sum", wordHistogram, roleSum},
	{"_count", wordHistogram, roleCount},
	{"_info", wordInfo, roleOne},
	{"_sum", wordSummary, roleSum},
	{"_count", wordSummary, roleCount},
	{"_bucket", wordGaugeHistogram, roleValue},
}

// kinds are the exported types of the words.
var kinds = map[declaredType]Type{wordGauge: Gauge, wordCounter: Counter, wordHistogram: Histogram, wordInfo: Gauge,
	wordSummary: Summary}

// declare reads all HELP and TYPE lines of a body; the first one for a name counts.
func (p *Parser) declare(body []byte, openMetrics bool) {
	declared := map[string]declaredType{}
	p.help = map[string]string{}
	for i := 0; i < len(body); {
		line := body[i:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		i += len(line) + 1
		what, name, rest := comment(line)
		switch what {
		case "HELP":
			if _, ok := p.help[name]; !ok {
				p.help[name] = unescape(string(rest), openMetrics)
			}
		case "TYPE":
			if _, ok := declared[name]; !ok {
				declared[name] = words[strings.ToLower(string(rest))]
			}
		}
	}
	if p.declared == nil || !maps.Equal(p.declared, declared) {
		p.declared = declared
		p.epoch++
	}
}

// comment takes a line apart if it is a HELP or TYPE line; else what is "".
func comment(line []byte) (what, name string, rest []byte) {
	line = bytes.Trim(line, " \t\r\v\f")
	after, ok := bytes.CutPrefix(line, []byte{'#'})
	if !ok || len(after) == 0 || !isSpace(after[0]) {
		return "", "", nil
	}
	after = after[skipBlank(after, 0):]
	switch {
	case bytes.HasPrefix(after, []byte("HELP")):
		what = "HELP"
	case bytes.HasPrefix(after, []byte("TYPE")):
		what = "TYPE"
	default:
		return "", "", nil
	}
	i := skipBlank(after, 4)
	if i == 4 || i == len(after) {
		return "", "", nil
	}
	end := i
	if after[i] == '"' {
		var err error
		if name, end, err = unquote(after, i); err != nil {
			return "", "", nil
		}
	} else {
		for end < len(after) && !isSpace(after[end]) {
			end++
		}
		name = string(after[i:end])
	}
	rest = after[skipBlank(after, end):]
	if what == "TYPE" && len(rest) == 0 {
		return "", "", nil
	}
	return what, name, rest
}

// sampleRole is what a sample name stands for.
type sampleRole struct {
	declared string // the name in its TYPE line
	name     string // of the family, as exported
	kind     Type
	role     role
	word     declaredType
}

// resolve returns the family of a sample name among all TYPE lines of the body. A line with the very
// name comes before one for which the name is a part of a family.
func (p *Parser) resolve(sample string) sampleRole {
	if w, ok := p.declared[sample]; ok {
		m := sampleRole{declared: sample, name: sample, kind: kinds[w], role: roleValue, word: w}
		switch w {
		case wordCounter:
			m.name = p.counterName(sample)
		case wordInfo:
			m.name = strings.TrimSuffix(sample, "_info") + "_info"
			m.role = roleOne
		case wordHistogram:
			m.role = roleSkip
		case wordSummary:
			m.role = roleBucket
		}
		return m
	}
	for _, part := range parts {
		base, ok := strings.CutSuffix(sample, part.suffix)
		if !ok {
			continue
		}
		if w, ok := p.declared[base]; ok && w == part.word {
			m := sampleRole{declared: base, name: base, kind: kinds[w], role: part.role, word: w}
			switch w {
			case wordCounter:
				m.name = p.counterName(base)
			case wordInfo:
				m.name = strings.TrimSuffix(base, "_info") + "_info"
			}
			return m
		}
	}
	return sampleRole{declared: sample, name: sample, role: roleValue}
}

// counterName returns the exported name of a counter: without _total, unless that is the name of another family of the
// body, as with go_memstats_alloc_bytes of every Go program. A counter keeps the name of its first body.
func (p *Parser) counterName(declared string) string {
	base, ok := strings.CutSuffix(declared, "_total")
	if !ok {
		return declared
	}
	if f := p.families[declared]; f != nil && f.Type == Counter {
		return declared
	}
	if f := p.families[base]; f != nil && f.Type == Counter && p.declared[base] != wordCounter {
		return base
	}
	if p.exports(base) {
		return declared
	}
	return base
}

// exports reports whether a TYPE line of the body stands for a family with this exported name.
func (p *Parser) exports(name string) bool {
	if w, ok := p.declared[name]; ok && w != wordSummary && w != wordInfo {
		return true
	}
	info, ok := strings.CutSuffix(name, "_info")
	return ok && (p.declared[name] == wordInfo || p.declared[info] == wordInfo)
}

// isSkipped reports whether a family or sample of this name is never kept: times of creation and uptimes.
func isSkipped(name string) bool {
	return strings.HasSuffix(name, "_created") || strings.HasSuffix(name, "_uptime") ||
		strings.Contains(name, "_uptime_")
}

// classify determines what a line means among the declarations of the body.
func (p *Parser) classify(l *line) error {
	l.epoch, l.state, l.slot, l.role = p.epoch, nil, slotUnset, roleSkip
	if l.raw[0] == '#' {
		l.role = roleComment
		if what, _, _ := comment([]byte(l.raw)); what == "TYPE" {
			l.role = roleType
		}
		return nil
	}
	sample, labels, err := p.parseKey(l.raw)
	if err != nil {
		return err
	}
	m := p.resolve(sample)
	switch {
	case isSkipped(m.name) || isSkipped(sample):
		return nil
	case m.word == wordSummary && !p.keepSummaries:
		p.note(SkippedSummary, m.declared, "Skipping unsupported summary metric: "+m.declared)
		return nil
	case m.role == roleSkip:
		p.note(Incompatible, m.declared,
			fmt.Sprintf("Metric %s is a histogram but has a sample that is not a bucket, sum or count; it is ignored",
				m.declared))
		return nil
	}
	labels, le := ownLabels(labels, bucketLabels[m.kind])
	if m.role == roleBucket {
		_, _, ok := bound(le)
		if m.kind == Summary && (le == "" || !ok) {
			return nil
		}
		if !ok {
			p.note(BucketsChanged, m.name, fmt.Sprintf(
				"Histogram %s has a bucket whose bound le=%q is not a number; it is ignored", m.name, le))
			return nil
		}
		l.le = le
	}
	if l.state = p.seriesOf(m, sample, labels); l.state != nil {
		l.role = m.role
	}
	return nil
}

// bucketLabels are the labels that tell the numbers of one series apart.
var bucketLabels = map[Type]string{Histogram: "le", Summary: "quantile"}

// ownLabels sorts labels by name, keeps the last of each name and takes out that of a bucket; "" is none.
func ownLabels(labels []Label, ofBucket string) (own []Label, le string) {
	slices.SortStableFunc(labels, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
	own = labels[:0]
	for i, l := range labels {
		switch {
		case i+1 < len(labels) && labels[i+1].Name == l.Name:
		case ofBucket != "" && l.Name == ofBucket:
			le = l.Value
		default:
			own = append(own, l)
		}
	}
	return own, le
}

// seriesOf returns the series with these labels, nil if it cannot be kept.
func (p *Parser) seriesOf(m sampleRole, sample string, labels []Label) *state {
	f := p.families[familyKey(m.name, m.kind)]
	if f != nil && !compatible(f.Type, m.kind) {
		p.note(Incompatible, f.Name, fmt.Sprintf(
			"Metric %s was a %s at first and is a %s now; the %s samples are ignored", f.Name, f.Type, m.kind, m.kind))
		return nil
	}
	p.key = p.key[:0]
	for _, l := range labels {
		p.key = appendText(appendText(p.key, l.Name), l.Value)
	}
	if f != nil {
		if st := f.series[string(p.key)]; st != nil {
			return st
		}
	}
	if len(p.series) >= p.maxSeries || p.text+len(p.key) > p.maxText {
		p.note(TooManySeries, "", fmt.Sprintf("The page has more than %d series, or more labels and buckets than can "+
			"be kept; further series are ignored", len(p.series)))
		return nil
	}
	if f == nil {
		f = &family{Family: Family{Name: strings.Clone(m.name), Type: m.kind}, series: map[string]*state{}}
		f.Help = cmp.Or(p.help[m.declared], p.help[m.name], p.help[sample])
		p.families[familyKey(f.Name, f.Type)] = f
		p.order = append(p.order, &f.Family)
	}
	st := &state{Series: Series{Family: &f.Family, Labels: cloneLabels(labels)}, family: f, key: string(p.key)}
	if m.kind.Bucketed() {
		st.layout = &layout{}
	}
	f.series[st.key] = st
	p.series, p.states = append(p.series, &st.Series), append(p.states, st)
	p.text += len(st.key)
	return st
}

// compatible reports whether samples of one type may go on in a family that began with another. A page
// that only lost or gained its TYPE line goes on; a gauge does not become a counter.
func compatible(first, now Type) bool {
	return first == now || (first == Unknown || now == Unknown) && !first.Bucketed() && !now.Bucketed()
}

// familyKey returns a family among those of the parser. Summaries take no name from others.
func familyKey(name string, kind Type) string {
	if kind == Summary {
		return "\xff" + name // in no UTF-8 text
	}
	return name
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func cloneLabels(labels []Label) []Label {
	if len(labels) == 0 {
		return nil
	}
	out := make([]Label, len(labels))
	for i, l := range labels {
		out[i] = Label{Name: strings.Clone(l.Name), Value: strings.Clone(l.Value)}
	}
	return out
}

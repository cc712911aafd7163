package recordfile

import "strconv"

// Row is what a line of the per-request file, of this program or of the original, says of a request and its metrics.
type Row struct {
	Conversation string
	Turn         int
	Phase        string
	// StartNS and EndNS are of the wall clock; 0 if they are not there.
	StartNS, EndNS int64
	Failed         bool
	// Values are the metrics that are a number, Lists the tags of those that are a list.
	Values []Value
	Lists  []string
}

// Value is a value of a metric.
type Value struct {
	Tag    string
	Number float64
}

// RowParser reads lines as rows.
type RowParser struct {
	tags map[string]string // those seen so far, so that each is one string
	row  Row
}

// Parse reads a line; the row is valid until the next one.
func (p *RowParser) Parse(line []byte) (*Row, error) {
	if p.scan(line) {
		return &p.row, nil
	}
	return &p.row, p.parse(line)
}

// scan reads a usual line, see scanRecord.
func (p *RowParser) scan(line []byte) bool {
	s := newLineScanner(line)
	r := &p.row
	*r = Row{Values: r.Values[:0], Lists: r.Lists[:0]}
	return s.usual(func() {
		s.object(func(key []byte) {
			switch string(key) {
			case "conversation_id":
				r.Conversation = s.string()
			case "turn_index":
				r.Turn = int(s.Int())
			case "benchmark_phase":
				r.Phase = s.string()
			case "request_start_ns":
				r.StartNS = s.Int()
			case "request_end_ns":
				r.EndNS = s.Int()
			default:
				s.Value()
			}
		})
	}, func(tag, value []byte) bool { return p.add(p.tag(tag), value) })
}

// tag returns the string of a tag.
func (p *RowParser) tag(text []byte) string {
	tag, known := p.tags[string(text)]
	if !known {
		if p.tags == nil {
			p.tags = map[string]string{}
		}
		tag = string(text)
		p.tags[tag] = tag
	}
	return tag
}

// add adds a metric; false if its value is neither a list nor a number.
func (p *RowParser) add(tag string, value []byte) bool {
	if len(value) > 0 && value[0] == '[' {
		p.row.Lists = append(p.row.Lists, tag)
		return true
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err == nil {
		p.row.Values = append(p.row.Values, Value{tag, n})
	}
	return err == nil
}

// parse reads a line of any shape.
func (p *RowParser) parse(text []byte) error {
	l, err := parseLine(text)
	if err != nil {
		return err
	}
	m, r := &l.Metadata, &p.row
	*r = Row{
		Conversation: m.ConversationID, Turn: m.TurnIndex, Phase: m.Phase, Failed: l.Error != nil,
		StartNS: max(0, m.StartNS), EndNS: max(0, m.EndNS), Values: r.Values[:0], Lists: r.Lists[:0],
	}
	for tag, metric := range l.Metrics {
		p.add(tag, metric.Value)
	}
	return nil
}

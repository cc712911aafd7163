package compare

import (
	"math"

	"aiperf/internal/measure/recordfile"
)

// requestKey names a request by what it asked, so that two runs of one dataset can be paired: the turn
// of a conversation, and which time it was asked.
type requestKey struct {
	conversation string
	turn, time   int
}

// requestValues are the metrics of the successful requests of a run, one number each.
type requestValues struct {
	keys []requestKey
	// starts and ends are when each was sent and when its last content came, in ns of the wall clock.
	starts, ends []int64
	// byTag holds for each metric the values of the requests, in the order of keys.
	byTag map[string]*column
}

// column holds the values of one metric; present reports which requests have one.
type column struct {
	values  []float64
	present []bool
}

// readValues reads the metrics of a per-request file. Requests of a warm-up are left out.
func readValues(path string) (*requestValues, error) {
	v := &requestValues{byTag: map[string]*column{}}
	times := map[requestKey]int{}
	var rows recordfile.RowParser
	for line, err := range recordfile.Lines(path) {
		if err != nil {
			return nil, err
		}
		row, err := rows.Parse(line.Text)
		switch {
		case err != nil:
			return nil, line.Fault(err)
		case row.Phase != "warmup" && !row.Failed:
			v.add(row, times)
		}
	}
	return v, nil
}

func (v *requestValues) add(row *recordfile.Row, times map[requestKey]int) {
	key := requestKey{conversation: row.Conversation, turn: row.Turn}
	times[key]++
	v.keys = append(v.keys, requestKey{row.Conversation, row.Turn, times[key] - 1})
	v.starts, v.ends = append(v.starts, row.StartNS), append(v.ends, row.EndNS)
	at := len(v.keys) - 1
	for _, m := range row.Values {
		if m.Tag == "request_latency" && row.StartNS > 0 {
			v.ends[at] = row.StartNS + int64(math.Round(m.Number*1e6))
		}
		c := v.byTag[m.Tag]
		if c == nil {
			c = &column{}
			v.byTag[m.Tag] = c
		}
		for len(c.values) < at {
			c.values, c.present = append(c.values, 0), append(c.present, false)
		}
		c.values, c.present = append(c.values, m.Number), append(c.present, true)
	}
}

package loader

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recipe"
)

// asksOfBaseten reports whether anything was asked for that only this format knows.
func asksOfBaseten(b recipe.Baseten) bool { return b != recipe.Baseten{SessionColumn: b.SessionColumn} }

// The columns that name sessions, in the order of preference.
var sessionColumns = []string{"provided_session_id", "poor_man_session_id"}

// basetenRow is one recorded request.
type basetenRow struct {
	startMS    float64
	durationMS float64
	session    [2]string // by column
	line       int
	turn       dataset.Turn
}

var basetenKeys = append([]string{
	"type", "timestamp_start_unix_ms", "prompt", "input_tokens", "output_tokens", "total_hashes", "block_size",
	"request_canceled", "duration_e2e_ms", "duration_ttft_ms", "output_text",
}, sessionColumns...)

// basetenReader collects the requests of a trace, to be put in order.
type basetenReader struct {
	*load
	rows []basetenRow
}

// readBaseten reads a trace in Parquet, in Arrow or in JSON Lines.
func readBaseten(from *load) error {
	l := &basetenReader{load: from}
	switch strings.ToLower(filepath.Ext(l.path)) {
	case ".parquet", ".arrow", ".ipc", ".feather":
		err := eachTypedRow(l.ctx, l.path, func(number int, o *object) {
			l.line = number
			if number == 1 {
				l.checkKeys(o, basetenKeys)
			}
			l.add(o)
		})
		if err != nil {
			return err
		}
	default:
		err := l.eachLine(func(line []byte) {
			if o, _, ok := l.object(line, basetenKeys); ok {
				l.add(o)
			}
		})
		if err != nil {
			return err
		}
	}
	if l.mistaken > 0 || len(l.rows) == 0 {
		return nil
	}
	return l.group(l.order())
}

// add adds a row unless filters leave it out. Lengths of answers are asked for with min_tokens as well, so that they
// are those of the recording.
func (l *basetenReader) add(o *object) {
	r, tokens, err := readBasetenRow(&l.options.Baseten, o)
	if err != nil {
		l.errorf("%v", err)
		return
	}
	n := max(1, *r.turn.MaxTokens)
	if keep, _ := l.admits(tokens, 0, n); !keep {
		return
	}
	if most := l.options.MaxOSL; most > 0 {
		n = min(n, most)
	}
	r.turn.MaxTokens = &n
	if !l.options.Baseten.NoMinTokens {
		r.turn.Extra = append([]dataset.Field{{Name: "min_tokens", Value: json.RawMessage(strconv.Itoa(n))}},
			r.turn.Extra...)
	}
	r.line = l.line
	l.rows = append(l.rows, r)
}

// readBasetenRow reads a request and the length of its input.
func readBasetenRow(b *recipe.Baseten, o *object) (r basetenRow, tokens int, err error) {
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	number := func(key string, needed bool) float64 {
		var x float64
		switch {
		case o.has(key):
			if json.Unmarshal(o.members[key], &x) != nil || x < 0 {
				keep(o.wrong(key, "a number of at least 0"))
			}
		case needed:
			keep(fmt.Errorf("field %q is missing", key))
		}
		return x
	}
	r.startMS = number("timestamp_start_unix_ms", true)
	tokens = int(min(number("input_tokens", true), math.MaxInt32))
	output := int(min(number("output_tokens", true), math.MaxInt32))
	r.durationMS = number("duration_e2e_ms", false)
	r.turn.MaxTokens = &output
	prompt, e := o.text("prompt")
	keep(e)
	if e == nil && prompt == "" {
		keep(errors.New(`field "prompt": want a text that is not empty`))
	}
	r.turn.Texts = textMedia(prompt)
	for i, key := range sessionColumns {
		if o.has(key) {
			r.session[i] = sessionText(o.members[key])
		}
	}
	if b.NoHints {
		return r, tokens, err
	}
	hashes, e := o.blockIDs("total_hashes")
	keep(e)
	if hashes != nil {
		r.turn.Extra = append(r.turn.Extra, dataset.Field{Name: "hash_ids", Value: o.members["total_hashes"]})
	}
	if o.has("block_size") {
		if size, e := o.positive("block_size"); e != nil {
			keep(e)
		} else {
			r.turn.Extra = append(r.turn.Extra,
				dataset.Field{Name: "block_size", Value: json.RawMessage(strconv.Itoa(*size))})
		}
	}
	return r, tokens, err
}

// sessionText returns a session id, which may be a text or a number.
func sessionText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// order returns the rows in the order of their times, which are adjusted as asked.
func (l *basetenReader) order() *memoryRows {
	b, rows := &l.options.Baseten, l.rows
	slices.SortStableFunc(rows, func(x, y basetenRow) int { return cmp.Compare(x.startMS, y.startMS) })
	column := sessionColumn(b, rows)
	rows = sampleSessions(b.Share, rows, column, l.options.Seed)
	ordered := &memoryRows{}
	if len(rows) == 0 {
		return ordered
	}
	zero, speed := rows[0].startMS, b.Speedup
	if speed == 0 {
		speed = 1
	}
	shift, before := 0.0, 0.0
	last := map[string]*basetenRow{}
	for i := range rows {
		r := &rows[i]
		at := (r.startMS - zero) / speed
		if idle := at - before; b.IdleCapMS > 0 && idle > b.IdleCapMS {
			shift += idle - b.IdleCapMS
		}
		before = at
		at -= shift
		session := r.session[column]
		if b.Alone {
			session = ""
		}
		previous := last[session]
		if b.ThinkTimes && session != "" && previous != nil {
			think := max(0, r.startMS-previous.startMS-previous.durationMS) / speed
			if b.IdleCapMS > 0 {
				think = min(think, b.IdleCapMS)
			}
			if b.DelayCapMS != nil {
				think = min(think, *b.DelayCapMS)
			}
			r.turn.DelayMS = &think
		} else {
			r.turn.TimestampMS = &at
		}
		last[session] = r
		ordered.add(row{line: r.line, session: session, kind: givenText, turn: r.turn})
	}
	return ordered
}

// sessionColumn returns the place of the column that groups the rows: the usual one only if a row has it.
func sessionColumn(b *recipe.Baseten, rows []basetenRow) int {
	if i := slices.Index(sessionColumns, b.SessionColumn); i > 0 {
		return i
	}
	for _, r := range rows {
		if r.session[0] != "" {
			return 0
		}
	}
	return 1
}

// sampleSessions keeps a share of the sessions, drawn in the order of their first rows; 0 keeps all.
func sampleSessions(share float64, rows []basetenRow, column int, seed random.Seed) []basetenRow {
	if share == 0 || share >= 1 {
		return rows
	}
	stream := seed.Stream("dataset.loader.baseten")
	kept, left := map[string]bool{}, rows[:0]
	for _, r := range rows {
		id := r.session[column]
		if id == "" {
			id = fmt.Sprintf("\x00%d", r.line)
		}
		keep, seen := kept[id]
		if !seen {
			draw := stream.At(uint64(len(kept)))
			keep = draw.Float64() < share
			kept[id] = keep
		}
		if keep {
			left = append(left, r)
		}
	}
	return left
}

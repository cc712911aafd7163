package loader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recording"
)

const recordingFormat = "aiperf_recording"

// Played says how a recording of aiperf record is played.
type Played struct {
	// Endpoint is the type of the requests that are played; "" plays all.
	Endpoint string
	// MaxTokens reports that requests limit their replies, ForceLength that they ask for the recorded length.
	MaxTokens, ForceLength bool
	// Fixed are the members of all requests: those of a recording do not replace them.
	Fixed []string
	// Model replaces the model in recorded bodies; "" leaves it.
	Model string
}

// recordedRow is a request of a recording.
type recordedRow struct {
	row
	// begun and ended are milliseconds since the recorder began.
	begun, ended float64
	order        int
	model        string
}

// recordingReader reads the rows of a recording, session by session in the order of their first rows.
type recordingReader struct {
	*load
	head recording.Head
	// untimed reports that rows have an order and no times.
	untimed  bool
	sessions map[string]int
	rows     [][]*recordedRow
	count    int
	// What is left out, and why.
	failed, cut, empty, others, bodiless, images int
	endpoints                                    map[string]int
}

// readRecording reads the rows that aiperf record wrote: a file, or all parts in a folder. Every request carries its
// whole prompt, so that each turn is sent alone. A session begins at its recorded time; a later turn waits after the
// reply before as long as in the recording.
func readRecording(from *load) error {
	r := &recordingReader{load: from, sessions: map[string]int{}, endpoints: map[string]int{}}
	parts, err := recording.Parts(r.path)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return fmt.Errorf("%s holds no %s: name the folder that aiperf record wrote, or one of its files", r.path,
			recording.TrafficName)
	}
	for i, part := range parts {
		if err := r.part(part, i == 0); err != nil {
			return err
		}
	}
	if r.mistaken > 0 {
		return nil
	}
	r.note()
	if err := r.reshape(); err != nil {
		return err
	}
	r.play()
	return nil
}

// part reads a file.
func (r *recordingReader) part(path string, first bool) error {
	headed := false
	return r.eachFile([]string{path}, func(line []byte) {
		if head, ok := recording.ReadHead(line); ok {
			headed = true
			if r.begin(head, first); first {
				r.untimed = head.Untimed
			}
			return
		}
		if !headed {
			headed = true
			r.errorf("the first line does not say what was recorded (aiperf_recording): this is no file of aiperf record")
		}
		if r.mistaken > 0 {
			return
		}
		r.add(line)
	})
}

// begin takes what the first line of a part says.
func (r *recordingReader) begin(head recording.Head, first bool) {
	switch {
	case head.Recording > recording.Version:
		r.errorf("the recording has the format %d, and this aiperf reads up to %d: use a newer one", head.Recording,
			recording.Version)
	case !first && !head.StartedAt.Equal(r.head.StartedAt):
		r.errorf("this part belongs to another recording than the ones before it (started_at)")
	case head.BlockSize > 0 && r.options.BlockSize > 0 && head.BlockSize != r.options.BlockSize:
		r.errorf("the recording has blocks of %d tokens, --isl-block-size says %d", head.BlockSize, r.options.BlockSize)
	case first:
		r.head, r.countedBy = head, head.Tokenizer
		r.blockSize = cmp.Or(head.BlockSize, r.blockSize)
	}
}

// add reads a line. The last one of a recorder that was killed may be cut off.
func (r *recordingReader) add(line []byte) {
	var recorded recording.Row
	if err := json.Unmarshal(line, &recorded); err != nil {
		if !bytes.HasSuffix(line, []byte("}")) {
			r.cut++
			return
		}
		r.errorf("%v", jsonError(err))
		return
	}
	r.count++
	if !recorded.OK() {
		r.failed++
		return
	}
	if want := r.options.Played.Endpoint; want != "" && recorded.Endpoint != want {
		r.others++
		r.endpoints[recorded.Endpoint]++
		return
	}
	q, err := r.read(&recorded)
	if err != nil {
		r.errorf("%v", err)
		return
	}
	if q == nil || !r.keeps(q) {
		return
	}
	at, known := r.sessions[q.session]
	if !known {
		at = len(r.rows)
		r.sessions[q.session] = at
		r.rows = append(r.rows, nil)
	}
	r.rows[at] = append(r.rows[at], q)
}

// keeps applies the filters of lengths and of times.
func (r *recordingReader) keeps(q *recordedRow) bool {
	if !r.admit(&q.row) || q.absent {
		return false
	}
	if !r.untimed && !r.options.Window.Holds(q.begun) {
		r.dropped.outside++
		return false
	}
	return true
}

// read makes a row; nil for one that cannot be sent.
func (r *recordingReader) read(from *recording.Row) (*recordedRow, error) {
	switch {
	case from.TimestampMS < 0 || from.TimestampMS > maxMS || from.LatencyMS < 0 || from.LatencyMS > maxMS:
		return nil, errors.New(`fields "timestamp_ms" and "latency_ms": want milliseconds of at least 0`)
	case from.InputLength < 0 || from.InputLength > math.MaxInt32 || from.ReplyTokens() < 0 ||
		from.ReplyTokens() > math.MaxInt32:
		return nil, errors.New(`fields "input_length" and "output_length": want whole numbers of at least 0`)
	case len(from.HashIDs) > 0 && r.head.BlockSize <= 0:
		return nil, errors.New(`field "hash_ids": the first line of the file has no "block_size"`)
	case from.SessionID == "":
		return nil, errors.New(`field "session_id" is missing`)
	}
	q := &recordedRow{begun: from.TimestampMS, ended: from.TimestampMS + from.LatencyMS, order: from.Turn,
		model: from.Model}
	q.line, q.session = r.count, from.SessionID
	q.turn = dataset.Turn{TimestampMS: new(from.TimestampMS), Recorded: recordedOf(from)}
	if r.options.Played.MaxTokens && from.ReplyKnown() {
		q.turn.MaxTokens = new(max(1, from.ReplyTokens()))
	}
	if r.untimed {
		q.begun, q.ended = float64(r.count), float64(r.count)
		q.turn.TimestampMS, q.turn.Recorded.AtMS = nil, q.begun
	}
	if r.head.Keep == recording.KeepText {
		return r.body(q, from)
	}
	if from.InputLength == 0 {
		r.empty++
		return nil, nil
	}
	if from.Images > 0 {
		r.images++
	}
	q.tokens, q.ids = from.InputLength, from.HashIDs
	q.turn.Extra = r.members(from)
	return q, nil
}

// recordedOf is what was recorded of a request.
func recordedOf(from *recording.Row) *dataset.Recorded {
	of := &dataset.Recorded{AtMS: from.TimestampMS, TookMS: from.LatencyMS, Input: from.InputLength,
		Output: from.ReplyTokens(), Cached: -1}
	if !from.ReplyKnown() {
		of.Output = -1
	}
	if n := from.UsagePrompt; n != nil && *n >= 0 && *n <= math.MaxInt32 {
		of.Prompt = int(*n)
	}
	if n := from.UsageCached; n != nil && *n >= 0 && *n <= math.MaxInt32 {
		of.Cached = int(*n)
	}
	return of
}

// body makes a request that is sent with its recorded text.
func (r *recordingReader) body(q *recordedRow, from *recording.Row) (*recordedRow, error) {
	body := bytes.TrimSpace(from.Request)
	if len(body) == 0 || body[0] != '{' || from.Incomplete != "" {
		r.bodiless++
		return nil, nil
	}
	text, err := r.rewritten(body)
	if err != nil {
		return nil, fmt.Errorf(`field "request": %w`, err)
	}
	q.kind, q.turn.RawPayload = wholePayload, text
	return q, nil
}

// rewritten is a recorded body for this run: with its model, and as a stream or not.
func (r *recordingReader) rewritten(body []byte) ([]byte, error) {
	o, err := parseObject(body)
	if err != nil {
		return nil, err
	}
	replace := map[string]string{}
	if name := r.options.Played.Model; name != "" && o.has("model") {
		text, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		replace["model"] = string(text)
	}
	if o.has("stream") || r.options.Stream {
		replace["stream"] = strconv.FormatBool(r.options.Stream)
		if !r.options.Stream && o.has("stream_options") { // which servers refuse without a stream
			replace["stream_options"] = ""
		}
	}
	var out bytes.Buffer
	member := func(key, value string) {
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(key)
		out.Write(name)
		out.WriteByte(':')
		out.WriteString(value)
	}
	for _, key := range o.keys {
		value, changed := replace[key]
		delete(replace, key)
		switch {
		case !changed:
			member(key, string(o.members[key]))
		case value != "":
			member(key, value)
		}
	}
	if value := replace["stream"]; value != "" {
		member("stream", value)
	}
	return slices.Concat([]byte("{"), out.Bytes(), []byte("}")), nil
}

// lengthMembers are the names of limits of replies, which the endpoint writes itself.
var lengthMembers = []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "min_tokens",
	"ignore_eos"}

// members are those with which a reply is asked for as in the recording, in the order of their names.
func (r *recordingReader) members(from *recording.Row) (fields []dataset.Field) {
	var names []string
	for name := range from.Sampling {
		if !slices.Contains(lengthMembers, name) && !slices.Contains(r.options.Played.Fixed, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fields = append(fields, dataset.Field{Name: name, Value: from.Sampling[name]})
	}
	if !r.options.Played.ForceLength || !from.ReplyKnown() {
		return fields
	}
	least := max(1, from.ReplyTokens())
	if most := r.options.MaxOSL; most > 0 {
		least = min(least, most)
	}
	for _, f := range []dataset.Field{{Name: "ignore_eos", Value: json.RawMessage("true")},
		{Name: "min_tokens", Value: json.RawMessage(strconv.Itoa(least))}} {
		if !slices.Contains(r.options.Played.Fixed, f.Name) {
			fields = append(fields, f)
		}
	}
	return fields
}

// note says what is played and what is not.
func (r *recordingReader) note() {
	for _, x := range []struct {
		n    int
		text string
	}{
		{r.failed, "%d recorded requests failed and are not played"},
		{r.cut, "%d rows are cut off and left out: the recorder was killed while it wrote them"},
		{r.empty, "%d recorded requests have no text of a prompt and are not played"},
		{r.bodiless, "%d recorded requests have no whole body and are not played"},
		{r.images, "%d recorded requests had images, which are not sent: the recording does not hold them"},
	} {
		if x.n > 0 {
			r.notef(x.text, x.n)
		}
	}
	if r.others > 0 {
		r.notef("%d recorded requests are of other endpoint types and are not played: %s; --endpoint-type plays another one",
			r.others, strings.Join(recording.Most(r.endpoints), ", "))
	}
	if r.untimed {
		r.notef("the recording has no times: its sessions are played in their order, without think times")
	}
	if r.head.Keep == recording.KeepLengths {
		r.notef("the recording keeps lengths alone: prompts have the recorded lengths and share nothing")
	}
}

// reshape changes prompts as asked for.
func (r *recordingReader) reshape() error {
	var prompts []*prompt
	for i, rows := range r.rows {
		slices.SortStableFunc(rows, func(a, b *recordedRow) int {
			return cmp.Or(cmp.Compare(a.begun, b.begun), cmp.Compare(a.order, b.order))
		})
		for _, q := range rows {
			if q.session, q.prompt.session = rows[0].session, i; q.tokens > 0 {
				prompts = append(prompts, &q.prompt)
			}
		}
	}
	if err := r.options.Reshape.prompts(prompts, r.blockSize, r.options.Seed); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}

// play makes a conversation of each session, in the order of their times.
func (r *recordingReader) play() {
	slices.SortStableFunc(r.rows, func(a, b []*recordedRow) int { return cmp.Compare(a[0].begun, b[0].begun) })
	countRecorded(r.rows)
	overlapping, tree := 0, newTree(r.load)
	for _, rows := range r.rows {
		shareTails(rows, r.blockSize)
		r.line = rows[0].line
		c := r.conversation(rows[0].session)
		c.ContextMode = dataset.MessageArrayWithResponses
		end := rows[0].begun
		for i, q := range rows {
			if i > 0 {
				if q.begun < end {
					overlapping++
				}
				q.turn.TimestampMS = nil
				if !r.untimed {
					q.turn.DelayMS = new(max(0, q.begun-end))
				}
			}
			end = max(end, q.ended)
			r.options.Reshape.scaleTurn(&q.turn)
			if cap := r.options.MaxDelayMS; cap != nil && q.turn.DelayMS != nil {
				q.turn.DelayMS = new(min(*q.turn.DelayMS, *cap))
			}
			if q.kind != wholePayload {
				q.turn.Model = tree.modelNamed(q.model)
			}
			c.Turns = q.turns(c.Turns)
		}
	}
	if overlapping > 0 {
		r.notef("%d recorded turns began before the one ahead of them ended: each is sent when that one is answered",
			overlapping)
	}
}

// shareTails gives prompts the block in which they end, where the next one of the session goes on with it: what of a
// prompt is no whole block has no id of its own, and is the beginning of a block of the prompt that extends it. Prompts
// that extend each other have their ids in one place.
func shareTails(rows []*recordedRow, size int) {
	for i := len(rows) - 2; i >= 0; i-- {
		q, next := rows[i], rows[i+1]
		whole := len(q.ids)
		if whole == 0 || !extends(q.ids, next.ids) {
			continue
		}
		if q.tokens > whole*size && len(next.ids) > whole {
			whole++
		}
		q.ids = next.ids[:whole:whole]
	}
}

// countRecorded counts the known blocks of all prompts, in the order in which they came.
func countRecorded(sessions [][]*recordedRow) {
	var all []*recordedRow
	for _, rows := range sessions {
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b *recordedRow) int { return cmp.Compare(a.begun, b.begun) })
	var sent PrefixCache
	for _, q := range all {
		q.turn.Prefix = sent.Take(q.ids)
	}
}

// isRecording reports whether a line is the first of a part of a recording.
func isRecording(o *object) bool { return o.has("aiperf_recording") }

package loader

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recipe"
)

func roundRow(session string, index, prefix, added, output int, events string) string {
	return fmt.Sprintf(`{"provider":"claude","session_id":%q,"round_index":%d,"model":"m","input_tokens_total":%d,"prefix_tokens":%d,"newly_append_tokens":%d,"output_tokens":%d,"tools":[],"timing_events":[%s]}`+"\n",
		session, index, prefix+added, prefix, added, output, events)
}

func event(kind, at string) string {
	return fmt.Sprintf(`{"event_type":%q,"timestamp":"2026-03-01T00:00:%sZ"}`, kind, at)
}

// lab is a row of a recording; times are seconds of one minute.
type lab struct {
	session, provider, user, project, model string
	index, total, prefix, output, reasoning int
	events, tools                           []string
}

func (r lab) String() string {
	return fmt.Sprintf(`{"provider":%q,"session_id":%q,"user":%q,"project":%q,"round_index":%d,"model":%q,"input_tokens_total":%d,"prefix_tokens":%d,`+
		`"newly_append_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d,"tools":[%s],"timing_events":[%s]}`+
		"\n",
		r.provider, r.session, r.user, r.project, r.index, r.model, r.total, r.prefix, r.total-r.prefix, r.output,
		r.reasoning,
		strings.Join(r.tools, ","), strings.Join(r.events, ","))
}

// called is a call of a tool from one second to another.
func called(name, from, to string) string {
	stamp := func(at string) time.Time {
		s, err := time.Parse("05.999", at)
		if err != nil {
			panic(err)
		}
		return s
	}
	return fmt.Sprintf(`{"tool_name":%q,"emitted_at":"2026-03-01T00:00:%sZ","result_at":"2026-03-01T00:00:%sZ","tool_wall_latency_ms":%v}`,
		name, from, to, stamp(to).Sub(stamp(from)).Milliseconds())
}

// rounded is a row with one input and one output.
func rounded(session string, from, to string, tools ...string) lab {
	return lab{
		session: session, total: 128, output: 5, events: []string{event("user_message", from), event("text", to)},
		tools: tools,
	}
}

func labFile(rows ...lab) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.String())
	}
	return b.String()
}

func joined() recipe.TraceLab {
	return recipe.TraceLab{Join: true, JoinCodex: true, MinSpawn: 10 * time.Second}
}

func loadLab(t *testing.T, o Options, rows ...lab) *Result {
	t.Helper()
	if o.TraceLab == (recipe.TraceLab{}) {
		o.TraceLab = joined()
	}
	return loadWith(t, labFile(rows...), "tracelab", o)
}

// plays are the conversations with the children of their turns.
func plays(d *dataset.Dataset) string {
	var all []string
	for i := range d.All() {
		c := d.At(i)
		var b strings.Builder
		fmt.Fprintf(&b, "%s:", c.SessionID)
		for _, turn := range c.Turns {
			fmt.Fprintf(&b, " @%v", *turn.TimestampMS)
			if turn.DelayMS != nil {
				fmt.Fprintf(&b, "+%.6g", *turn.DelayMS)
			}
			for _, branch := range turn.Branches {
				for _, child := range branch.Children {
					fmt.Fprintf(&b, "→%s", d.At(child).SessionID)
				}
				fmt.Fprintf(&b, "(%d)", branch.JoinAt)
			}
		}
		all = append(all, b.String())
	}
	return strings.Join(all, "; ")
}

// A round's prompt begins with the whole blocks of the one before as far as its prefix goes.
func TestTraceLabBlocksGoOnFromThoseOfTheRoundBefore(t *testing.T) {
	at := func(index, total, prefix int, second string) lab {
		return lab{session: "a", index: index, total: total, prefix: prefix, output: 1,
			events: []string{event("user_message", second)}}
	}
	r := loadLab(t, Options{Scheduled: true}, at(0, 200, 0, "01"), at(1, 300, 200, "02"), at(2, 100, 90, "03"))
	same(t, "chains", shape(r.Dataset), "a(200[1 2 3]→1@0 300[1 2 3 4]→1@1000 100[1]→1@2000)")
	r = loadLab(t, Options{Scheduled: true, BlockSize: 100}, at(0, 200, 0, "01"), at(1, 300, 200, "02"),
		at(2, 100, 90, "03"), at(3, 0, 0, "04"))
	same(t, "blocks of 100", shape(r.Dataset), "a(200[1 2]→1@0 300[1 2 3]→1@1000 100[4]→1@2000 1[]→1@3000)")
	if c := r.Dataset.At(0); r.Dataset.Mode(c) != dataset.MessageArrayWithResponses {
		t.Errorf("mode %s", r.Dataset.Mode(c))
	}
}

// A round is submitted with its last input, else with its first output; rounds stand in the order of their times.
func TestTraceLabTimes(t *testing.T) {
	row := func(index int, events ...string) lab {
		return lab{session: "a", index: index, total: 64 * (index + 1), prefix: 64 * index, output: 2, reasoning: 3,
			events: events}
	}
	rows := []lab{
		row(2, event("text", "16"), event("reasoning", "15")), // no input
		row(0, event("user_message", "10"), event("user_message", "09"), event("text", "10.2"), event("text", "11")),
		row(1, event("tool_result", "12")), // no output
		row(3),                             // no time
		row(4, event("text", "20"), event("tool_result", "21")),
	}
	r := loadLab(t, Options{}, rows...)
	same(t, "delays", plays(r.Dataset), "a: @0 @2000+1000 @5000+3000 @11000+5000")
	same(t, "note", strings.Join(r.Notes, "; "), "1 rounds without a time left out")
	same(t, "limit", fmt.Sprint(*r.Dataset.At(0).Turns[0].MaxTokens), "5")
	r = loadLab(t, Options{ThinkOnly: true, MaxDelayMS: &[]float64{2000}[0]}, rows...)
	same(t, "capped", plays(r.Dataset), "a: @0 @2000+1000 @5000+2000 @11000+2000")
}

// A session that ran within a call of an agent is a child of the session that called; its ends may be those of the
// call.
func TestTraceLabChildrenAreJoinedByTheirTimes(t *testing.T) {
	parent := []lab{
		rounded("claude:p", "00", "01"),
		rounded("claude:p", "02", "03", called("Task", "03", "20"), called("Read", "03", "20")),
		rounded("claude:p", "21", "22"),
	}
	for name, c := range map[string]struct {
		rows []lab
		want string
	}{
		"the ends of the call": {[]lab{rounded("k", "03", "20")},
			"claude_p: @0 @2000+1000→claude_p::sa:k(2) @21000+1000; claude_p::sa:k: @3000+0"},
		"a moment too long": {[]lab{rounded("k", "03", "20.001")},
			"claude_p: @0 @2000+1000 @21000+18000; k: @0"},
		"two rounds": {[]lab{rounded("k", "05", "06"), rounded("k", "08", "09")},
			"claude_p: @0 @2000+1000→claude_p::sa:k(2) @21000+12000; claude_p::sa:k: @5000+2000 @8000+2000"},
		"a tool of the child goes on": {[]lab{rounded("k", "05", "06", called("Bash", "06", "20.5"))},
			"claude_p: @0 @2000+1000 @21000+18000; k: @0"},
		"another user": {[]lab{func() lab { r := rounded("k", "05", "06"); r.user = "v"; return r }()},
			"claude_p: @0 @2000+1000 @21000+18000; k: @0"},
		"another project": {[]lab{func() lab { r := rounded("k", "05", "06"); r.project = "v"; return r }()},
			"claude_p: @0 @2000+1000 @21000+18000; k: @0"},
	} {
		r := loadLab(t, Options{}, append(slices.Clone(parent), c.rows...)...)
		same(t, name, plays(r.Dataset), c.want)
		if nested := strings.Contains(c.want, "::sa:"); nested != (len(r.Dataset.Roots) == 1) {
			t.Errorf("%s: roots %v", name, r.Dataset.Roots)
		}
	}
	r := loadLab(t, Options{TraceLab: recipe.TraceLab{MinSpawn: 1}},
		append(slices.Clone(parent), rounded("k", "05", "06"))...)
	same(t, "not joined", plays(r.Dataset), "claude_p: @0 @2000+1000 @21000+18000; k: @0")
	r = loadLab(t, Options{TraceLab: recipe.TraceLab{Join: true, MinSpawn: 18 * time.Second}},
		append(slices.Clone(parent), rounded("k", "05", "06"))...)
	same(t, "short calls", plays(r.Dataset), "claude_p: @0 @2000+1000 @21000+18000; k: @0")
}

// Blocks of parent and children are numbered together, and the children's known blocks are those of their trace.
func TestTraceLabChildrenShareTheNumbersOfBlocks(t *testing.T) {
	r := loadLab(t, Options{}, rounded("p", "00", "01", called("Agent", "01", "20")), rounded("k", "05", "06"),
		rounded("p", "21", "22"), rounded("q", "00", "01"))
	same(t, "blocks", shape(r.Dataset),
		"p(128[1 2]→5@0 128[3 4]→5@21000+15000) p::sa:k(128[5 6]→5@5000+4000) q(128[7 8]→5@0)")
}

// Codex records the first call and the last wait: one window holds all agents of the session.
func TestTraceLabChildrenOfCodex(t *testing.T) {
	codex := func(r lab) lab { r.provider = "codex"; return r }
	rows := []lab{
		codex(rounded("x", "00", "01", called("spawn_agent", "01", "01.1"), called("spawn_agent", "02", "02.1"))),
		codex(rounded("x", "03", "04", called("wait_agent", "04", "09"), called("wait_agent", "09", "11"))),
		codex(rounded("x", "12", "13")), codex(rounded("y", "02", "05")), codex(rounded("z", "06", "11")),
		codex(rounded("late", "06", "11.5")),
	}
	o := Options{}
	r := loadLab(t, o, rows...)
	same(t, "joined", plays(r.Dataset),
		"x: @0→x::sa:y→x::sa:z(1) @3000+0 @12000+8000; x::sa:y: @2000+1000; x::sa:z: @6000+5000; late: @0")
	o.TraceLab = recipe.TraceLab{Join: true}
	r = loadLab(t, o, rows...)
	same(t, "not joined", plays(r.Dataset), "x: @0 @3000+2000 @12000+8000; y: @0; z: @0; late: @0")
}

// The shortest call wins, then the earliest, then the first parent by id.
func TestTraceLabOfSeveralCallsTheShortestHoldsTheChild(t *testing.T) {
	outer, inner := rounded("a", "00", "01", called("Task", "01", "30")),
		rounded("b", "00", "01", called("Task", "02", "20"))
	r := loadLab(t, Options{}, outer, inner, rounded("k", "05", "06"))
	same(t, "shortest", plays(r.Dataset), "a: @0; b: @0→b::sa:k(0); b::sa:k: @5000+4000")
	r = loadLab(t, Options{}, rounded("b", "00", "01", called("Task", "02", "20")),
		rounded("a", "00", "01", called("Task", "03", "21")), rounded("k", "05", "06"))
	same(t, "earliest", plays(r.Dataset), "b: @0→b::sa:k(0); b::sa:k: @5000+4000; a: @0")
	r = loadLab(t, Options{}, rounded("b", "00", "01", called("Task", "02", "20")),
		rounded("a", "00", "01", called("Task", "02", "20")), rounded("k", "05", "06"))
	same(t, "first id", plays(r.Dataset), "b: @0; a: @0→a::sa:k(0); a::sa:k: @5000+4000")
}

// Only one level is joined.
func TestTraceLabChildOfAChildIsARoot(t *testing.T) {
	r := loadLab(t, Options{}, rounded("p", "00", "01", called("Task", "01", "40")),
		rounded("c", "05", "06", called("Task", "07", "30")), rounded("g", "08", "09"))
	same(t, "roots", plays(r.Dataset), "p: @0→p::sa:c(0); p::sa:c: @5000+4000; g: @0")
}

// A child that was called before the first round of its parent has nothing to stand behind.
func TestTraceLabChildCalledBeforeTheFirstRoundIsPlayedAlone(t *testing.T) {
	parent := rounded("p", "20", "21", called("Task", "01", "19"))
	r := loadLab(t, Options{}, parent, rounded("c", "05", "06"))
	same(t, "alone", plays(r.Dataset), "p: @0; c: @0")
	same(t, "warning", strings.Join(r.Warnings, "; "),
		r.Warnings[0][:strings.Index(r.Warnings[0], "trace.jsonl")]+
			`trace.jsonl:2: the session "c" was called before the first round of "p" and is played alone`)
}

// In a fixed schedule children begin at their recorded times, by themselves.
func TestTraceLabScheduledChildrenKeepTheirTimes(t *testing.T) {
	rows := []lab{rounded("p", "10", "11", called("Task", "11", "30")), rounded("c", "15", "16"),
		rounded("c", "17", "18"), rounded("p", "31", "32")}
	o := Options{Scheduled: true}
	r := loadLab(t, o, rows...)
	same(t, "schedule", plays(r.Dataset), "p: @0 @21000; p::sa:c: @5000 @7000")
	if r.Dataset.Roots != nil || r.Dataset.Branches() {
		t.Errorf("roots %v", r.Dataset.Roots)
	}
	start, end := int64(5000), int64(6000)
	o.Window = Window{StartMS: &start, EndMS: &end}
	r = loadLab(t, o, rows...)
	same(t, "window", plays(r.Dataset), "p::sa:c: @5000")
	o.Window, o.Reshape = Window{}, &Reshape{Speedup: 2, PrefixLen: 1, PromptLen: 1, OutputLen: 1, PrefixRoots: 1}
	r = loadLab(t, o, rows...)
	same(t, "twice as fast", plays(r.Dataset), "p: @0 @10500; p::sa:c: @2500 @3500")
}

// Recordings with a long context are left out first, then the first ones are taken.
func TestTraceLabSelection(t *testing.T) {
	long := rounded("a", "00", "01")
	long.total = 1000
	rows := []lab{long, rounded("b", "00", "01"), rounded("c", "00", "01"), rounded("d", "00", "01")}
	r := loadLab(t, Options{MaxContext: 1000, Entries: 2}, rows...)
	same(t, "chosen", plays(r.Dataset), "b: @0; c: @0")
	same(t, "note", strings.Join(r.Notes, "; "),
		"1 recordings with a context longer than --max-context-length left out")
	child := rounded("k", "02", "03")
	child.total = 2000
	r = loadLab(t, Options{MaxContext: 1100}, rounded("p", "00", "01", called("Task", "01", "20")), child,
		rounded("q", "00", "01"))
	same(t, "long child", plays(r.Dataset), "q: @0")
	r = loadLab(t, Options{MaxISL: 500}, rows...)
	same(t, "filtered", plays(r.Dataset), "b: @0; c: @0; d: @0")
}

// A round that goes on with nothing of the rounds before it is taken apart as in other recordings.
func TestTraceLabContextsAreTakenApart(t *testing.T) {
	rows := []lab{rounded("a", "00", "01"), rounded("a", "03", "04")}
	same(t, "together", plays(loadLab(t, Options{}, rows...).Dataset), "a: @0 @3000+2000")
	same(t, "apart", plays(loadLab(t, Options{Weka: defaultWeka()}, rows...).Dataset),
		"a: @0→a::fa:000(0); a::fa:000: @3000+2000")
}

func TestTraceLabNames(t *testing.T) {
	r := loadLab(t, Options{}, rounded("claude:a/ b", "00", "01"), rounded(strings.Repeat("x", 200), "00", "01"))
	same(t, "names", plays(r.Dataset), "claude_a_b: @0; "+strings.Repeat("x", 150)+": @0")
	_, err := LoadWith(context.Background(),
		write(t, "t.jsonl", labFile(rounded("a:b", "00", "01"), rounded("a/b", "00", "01"))), "tracelab", Options{})
	if err == nil || !strings.Contains(err.Error(), `t.jsonl:2: the sessions "a:b" and "a/b" are both called "a_b"`) {
		t.Errorf("%v", err)
	}
}

func TestTraceLabIsDetectedAlsoPacked(t *testing.T) {
	rows := labFile(rounded("a", "00", "01"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(rows))
	z.Close()
	for name, content := range map[string]string{"t.jsonl": rows, "t.jsonl.gz": packed.String()} {
		r, err := LoadWith(context.Background(), write(t, name, content), "", Options{})
		if err != nil || r.Format != "tracelab" || r.BlockSize != 64 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
	if _, err := LoadWith(context.Background(), t.TempDir(), "tracelab", Options{}); err == nil ||
		!strings.Contains(err.Error(), "is a directory") {
		t.Errorf("folder: %v", err)
	}
}

func TestTraceLabFaults(t *testing.T) {
	good := rounded("a", "10.3", "11").String()
	for row, want := range map[string]string{
		strings.Replace(good, "2026-03-01T00:00:10.3Z", "yesterday",
			1): `:1: field "timing_events": "yesterday" is not a time`,
		strings.Replace(good, `"round_index":0`, `"round_index":-1`,
			1): `:1: field "round_index": want a whole number of at least 0`,
		strings.Replace(good, `"input_tokens_total":128`, `"input_tokens_total":"many"`,
			1): `:1: field "input_tokens_total": want a whole number`,
		good + `{"session_id":`:                                         `:2: not valid JSON`,
		strings.Replace(good, `"tools":[]`, `"tools":3`, 1):             `:1: field "tools": want a list`,
		strings.Replace(good, `"session_id":"a"`, `"session_id":""`, 1): `none of its 1 rows is a request: see line 1`,
		lab{session: "a", total: 5}.String():                            `contains no records`,
		`{"text":"hello"}`:                                              `:1: this looks like a single_turn record`,
	} {
		if _, err := LoadWith(context.Background(), write(t, "t.jsonl", row), "tracelab", Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	r := loadLab(t, Options{}, rounded("", "00", "01"), rounded("a", "00", "01"))
	same(t, "anonymous", strings.Join(r.Notes, "; "), "1 rows without session_id left out")
}

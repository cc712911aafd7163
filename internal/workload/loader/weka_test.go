package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recipe"
)

// ask is a request of a recording: when, how long it took, input tokens and blocks.
func ask(at, took float64, model string, in int, ids ...int) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = fmt.Sprint(id)
	}
	return fmt.Sprintf(`{"t":%v,"type":"s","model":%q,"in":%d,"out":7,"hash_ids":[%s],"input_types":["text"],"output_types":["text"],"stop":"end","api_time":%v,"think_time":0.25,"ttft":0.1}`,
		at, model, in, strings.Join(list, ","), took)
}

func agent(at float64, id string, requests ...string) string {
	return fmt.Sprintf(`{"t":%v,"type":"subagent","agent_id":%q,"subagent_type":"x","duration_ms":1,"total_tokens":1,"tool_use_count":1,"status":"ok","requests":[%s],"models":[],"tool_tokens":0,"system_tokens":0}`,
		at, id, strings.Join(requests, ","))
}

func recordingOf(id string, entries ...string) string {
	return fmt.Sprintf(`{"id":%q,"models":["big"],"block_size":16,"hash_id_scope":"local","tool_tokens":1,"system_tokens":2,"totals":{},"requests":[%s]}`,
		id, strings.Join(entries, ",\n"))
}

func wekaOptions(change func(*Options)) Options {
	o := Options{Weka: defaultWeka(), Models: []string{"m1", "m2"}}
	if change != nil {
		change(&o)
	}
	return o
}

func loadWeka(t *testing.T, o Options, content string) *Result {
	t.Helper()
	r, err := LoadWith(context.Background(), write(t, "data.json", content), "", o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shape lists the conversations as "id: turn@ms+delay→children(join)".
func shapeOf(d *dataset.Dataset) (lines []string) {
	for i := range d.All() {
		c := d.At(i)
		var b strings.Builder
		fmt.Fprintf(&b, "%s:", c.SessionID)
		for _, turn := range c.Turns {
			fmt.Fprintf(&b, " %s@%v", turn.Model, *turn.TimestampMS)
			if turn.DelayMS != nil {
				fmt.Fprintf(&b, "+%v", *turn.DelayMS)
			}
			for _, branch := range turn.Branches {
				for _, child := range branch.Children {
					fmt.Fprintf(&b, "→%s", d.At(child).SessionID)
				}
				if branch.Background {
					b.WriteString("(background)")
				} else {
					fmt.Fprintf(&b, "(%d)", branch.JoinAt)
				}
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}

func TestWekaAgentsAreChildrenOfTheTurnBefore(t *testing.T) {
	r := loadWeka(t, wekaOptions(nil), recordingOf("r",
		agent(0, "early", ask(0, 1, "small", 20)),
		ask(1, 0.5, "big", 40, 1, 2, 3),
		agent(2, "a", ask(2.5, 1, "small", 30, 8, 9), ask(4, 0.5, "small", 40, 8, 9, 10)),
		agent(2.2, "b", ask(3, 2, "small", 20, 5)),
		ask(6, 1, "big", 60, 1, 2, 3, 4),
		ask(9, 1, "big", 70, 1, 2, 3, 4, 5),
		agent(10.5, "last", ask(0.5, 1, "small", 20, 6)),
		agent(11, "empty"),
	))
	want := []string{
		"r: m1@1000→r::sa:a→r::sa:b(1) m1@6000+1000 m1@9000+2000→r::sa:last(background)",
		"r::sa:a: m2@2500+1000 m2@4000+500",
		"r::sa:b: m2@3000+1500",
		"r::sa:last: m2@11000+1000",
	}
	if got := shapeOf(r.Dataset); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if !reflect.DeepEqual(r.Dataset.Roots, []int{0}) || r.Format != "weka_trace" || r.BlockSize != 16 {
		t.Errorf("roots %v, %s, blocks of %d", r.Dataset.Roots, r.Format, r.BlockSize)
	}
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "2 agents") {
		t.Errorf("notes %q", r.Notes)
	}
	turn := r.Dataset.At(0).Turns[0]
	if turn.Prompt.Tokens != 40 || len(turn.Prompt.Blocks) != 3 || *turn.MaxTokens != 7 {
		t.Errorf("turn %+v, prompt %+v", turn, turn.Prompt)
	}
	if mode := r.Dataset.Mode(r.Dataset.At(1)); mode != dataset.MessageArrayWithResponses {
		t.Errorf("requests hold their whole context: %s", mode)
	}
}

func TestWekaRequestsOfSeveralAgentsInOneListAreTakenApart(t *testing.T) {
	flat := func(entries ...string) []string {
		return shapeOf(loadWeka(t, wekaOptions(nil), recordingOf("r", entries...)).Dataset)
	}
	for _, c := range []struct {
		name    string
		entries []string
		want    []string
	}{
		{"one agent alone", []string{ask(0, 1, "big", 40, 1, 2, 3), ask(2, 1, "big", 60, 1, 2, 3, 4),
			ask(4, 1, "big", 70, 1, 2, 3, 4, 5)},
			[]string{"r: m1@0 m1@2000+1000 m1@4000+1000"}},
		{"the last block was not full", []string{ask(0, 1, "big", 40, 1, 2, 3), ask(2, 1, "big", 60, 1, 2, 30, 4)},
			[]string{"r: m1@0 m1@2000+1000"}},
		{"a fan-out of two", []string{ask(0, 1, "big", 30, 1, 2), ask(2, 3, "big", 60, 1, 2, 7, 8),
			ask(2.5, 1, "big", 60, 1, 2, 9, 10), ask(6, 1, "big", 70, 1, 2, 7, 8, 11)},
			[]string{"r: m1@0 m1@2000+1000→r::fa:000(2) m1@6000+1000", "r::fa:000: m1@2500+0"}},
		{"a group of workers", []string{ask(0, 1, "big", 30, 1, 2), ask(2, 5, "big", 60, 1, 2, 7, 8),
			ask(3, 2, "big", 60, 1, 2, 9, 10), ask(3.1, 2, "big", 60, 1, 2, 11, 12),
			ask(3.2, 2, "big", 60, 1, 2, 13, 14)},
			[]string{"r: m1@0 m1@2000+1000→r::wg:0_0→r::wg:0_1→r::wg:0_2(background)", "r::wg:0_0: m1@3000+0",
				"r::wg:0_1: m1@3100+0", "r::wg:0_2: m1@3200+0"}},
		{"another model looks on", []string{ask(0, 1, "big", 30, 1, 2), ask(1.5, 0.25, "small", 20, 5),
			ask(2, 1, "big", 60, 1, 2, 3)},
			[]string{"r: m1@0→r::aux:000(1) m1@2000+250", "r::aux:000: m2@1500+500"}},
		{"a summary of the context", []string{ask(0, 1, "big", 320, 1, 2), ask(0.5, 0.1, "big", 160, 1, 2, 3)},
			[]string{"r: m1@0→r::aux:red:000(background)", "r::aux:red:000: m1@500+0"}},
		{"the context was edited", []string{ask(0, 1, "big", 60, 1, 2, 3, 4), ask(2, 1, "big", 60, 1, 2, 7, 8)},
			[]string{"r: m1@0 m1@2000+1000"}},
		{"something else long after", []string{ask(0, 1, "big", 60, 1, 2, 3, 4), ask(4000, 1, "big", 60, 1, 2, 7, 8)},
			[]string{"r: m1@0→r::fa:000(background)", "r::fa:000: m1@4e+06+3.999e+06"}},
	} {
		if got := flat(c.entries...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
	o := wekaOptions(func(o *Options) { o.Weka.Split = false })
	r := loadWeka(t, o, recordingOf("r", ask(0, 1, "big", 30, 1, 2), ask(0.5, 3, "small", 60, 7, 8)))
	if got := shapeOf(r.Dataset); !reflect.DeepEqual(got, []string{"r: m1@0 m2@500+0"}) {
		t.Errorf("not taken apart: %v", got)
	}
}

func TestWekaDelays(t *testing.T) {
	two := recordingOf("r", ask(0, 1, "big", 40, 1, 2, 3), ask(10, 1, "big", 60, 1, 2, 3, 4))
	seven := 7000.0
	for name, c := range map[string]struct {
		change func(*Options)
		want   []string
	}{
		"from the end of the answer": {nil, []string{"r: m1@0 m1@10000+9000"}},
		"think time":                 {func(o *Options) { o.ThinkOnly = true }, []string{"r: m1@0 m1@10000+250"}},
		"capped":                     {func(o *Options) { o.MaxDelayMS = &seven }, []string{"r: m1@0 m1@10000+7000"}},
	} {
		if got := shapeOf(loadWeka(t, wekaOptions(c.change), two).Dataset); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	turns := loadWeka(t, wekaOptions(func(o *Options) { o.IgnoreTimes = true }), two).Dataset.At(0).Turns
	if turns[1].DelayMS != nil || turns[1].TimestampMS != nil {
		t.Error("times are kept although they are to be ignored")
	}
}

func TestWekaFoldersHoldARecordingPerFile(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"b.json": recordingOf("b", ask(0, 1, "big", 20, 1)),
		"a.json": "\ufeff" + recordingOf("a", ask(0, 1, "other", 20, 1)),
		"sub/c.jsonl": recordingOf("c", ask(0, 1, "big", 20, 1)) + "\n" + recordingOf("d", ask(0, 1, "big", 20, 1)) +
			"\n\n", "notes.txt": "no recording",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := LoadWith(context.Background(), dir, "weka_trace", wekaOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	blocks := map[int64]bool{}
	for _, c := range r.Dataset.All() {
		ids = append(ids, c.SessionID+" "+c.Turns[0].Model)
		blocks[c.Turns[0].Prompt.Blocks[0]] = true
	}
	if got := strings.Join(ids, ", "); got != "a m1, b m1, c m1, d m1" {
		t.Errorf("got %s", got)
	}
	if len(blocks) != 4 {
		t.Error("block 1 of one recording is block 1 of another")
	}
	r, err = LoadWith(context.Background(), dir, "weka_trace", wekaOptions(func(o *Options) { o.Entries = 3 }))
	if err != nil || r.Dataset.Len() != 3 {
		t.Errorf("the first three: %v, %v", r, err)
	}
}

func TestWekaFilters(t *testing.T) {
	two := recordingOf("long", ask(0, 1, "big", 90, 1)) + recordingOf("short", ask(0, 1, "big", 20, 1),
		ask(2, 1, "big", 50, 1, 2))
	r := loadWeka(t, wekaOptions(func(o *Options) { o.MaxContext, o.MaxOSL = 60, 3 }), two)
	if got := shapeOf(r.Dataset); len(got) != 1 || *r.Dataset.At(0).Turns[0].MaxTokens != 3 {
		t.Errorf("got %v", got)
	}
	_, err := LoadWith(context.Background(), write(t, "data.json", two), "",
		wekaOptions(func(o *Options) { o.MaxContext = 5 }))
	if err == nil || !strings.Contains(err.Error(),
		"all 2 recordings have a context longer than --max-context-length 5") {
		t.Errorf("error %v", err)
	}
}

func TestWekaMistakesNameTheirLine(t *testing.T) {
	good := ask(0, 1, "big", 20, 1)
	for _, c := range []struct{ name, content, want string }{
		{"unknown key of a recording", strings.Replace(recordingOf("r", good), `"totals"`, `"totalz"`, 1),
			`:1: the key "totalz" is unknown`},
		{"unknown key of a request", recordingOf("r", good, strings.Replace(good, `"stop"`, `"stopp"`, 1)),
			`:2: requests[1]: the key "stopp" is unknown`},
		{"unknown key of an agent", recordingOf("r", good, good,
			strings.Replace(agent(1, "a"), `"status"`, `"state"`, 1)), `:3: requests[2]: the key "state" is unknown`},
		{"request of an agent", recordingOf("r", good, agent(1, "a", strings.Replace(good, `"in":20`, `"in":-1`, 1))),
			`:2: requests[1]: requests[0]: field "in"`},
		{"other scope", strings.Replace(recordingOf("r", good), `"local"`, `"global"`, 1),
			`field "hash_id_scope": want "local"`},
		{"no id", recordingOf("", good), `field "id" is missing`},
		{"two of an id", recordingOf("r", good) + "\n\n" + recordingOf("r", good),
			`:3: field "id": "r" occurs in an earlier recording`},
		{"two sizes of blocks", recordingOf("r", good) + "\n" +
			strings.Replace(recordingOf("s", good), `"block_size":16`, `"block_size":32`, 1), `:2: field "block_size"`},
		{"no requests", recordingOf("r"), `field "requests"`},
		{"kind", recordingOf("r", strings.Replace(good, `"s"`, `"x"`, 1)), `:1: requests[0]: field "type"`},
		{"time", recordingOf("r", strings.Replace(good, `"t":0`, `"t":-1`, 1)), `field "t": want a number of seconds`},
		{"too many blocks", recordingOf("r", ask(0, 1, "big", 16, 1, 2)),
			`2 ids of 16 tokens do not fit into an input of 16`},
		{"cut off", recordingOf("r", good)[:80], `not valid JSON`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "data.json", c.content)
			_, err := LoadWith(context.Background(), path, "weka_trace", wekaOptions(nil))
			if err == nil || !strings.Contains(err.Error(), path+":") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Whatever is read: children begin after their parents, joins wait for turns that exist, every conversation belongs to
// one tree.
func FuzzWeka(f *testing.F) {
	f.Add(recordingOf("r", ask(1, 0.5, "big", 40, 1, 2, 3), agent(2, "a", ask(2.5, 1, "small", 30, 8, 9)),
		ask(6, 1, "big", 60, 1, 2, 3, 4)))
	f.Add(recordingOf("r", ask(0, 1, "big", 30, 1, 2), ask(0.5, 1, "big", 30, 1, 7), ask(0.5, 1, "big", 30, 1, 8),
		ask(0.6, 1, "big", 30, 1, 9)))
	f.Add("{}{}")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content string) {
		path := filepath.Join(dir, "fuzz.json")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := LoadWith(context.Background(), path, "weka_trace", wekaOptions(nil))
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		parents := make([]int, r.Dataset.Len())
		for _, root := range r.Dataset.Roots {
			parents[root]++
		}
		for i := range r.Dataset.All() {
			c := r.Dataset.At(i)
			for turn := range c.Turns {
				for _, b := range c.Turns[turn].Branches {
					if b.JoinAt != 0 && (b.JoinAt <= turn || b.JoinAt >= len(c.Turns)) {
						t.Errorf("turn %d of %d is waited for by turn %d", turn, len(c.Turns), b.JoinAt)
					}
					for _, child := range b.Children {
						parents[child]++
					}
				}
			}
		}
		for i, n := range parents {
			if n != 1 {
				t.Errorf("conversation %q has %d parents", r.Dataset.At(i).SessionID, n)
			}
		}
	})
}

// defaultWeka are those of the command line.
func defaultWeka() recipe.Weka {
	return recipe.Weka{
		Split: true, SeamSeconds: 3600, SeamOverlap: 0.5, AuxRequests: 1, AuxFloor: 16384, ReductionOutput: 4000,
		AuxShare: 0.1, ReductionRatio: 20, AuxCrossModel: true, GroupSize: 3,
	}
}

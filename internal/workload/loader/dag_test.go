package loader

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

const said = `"messages":[{"role":"user","content":"x"}]`

// session is a line with a session of one turn and further members of that turn.
func session(id, members string) string {
	return `{"session_id":"` + id + `","turns":[{` + said + members + `}]}` + "\n"
}

func TestDAGForks(t *testing.T) {
	r := load1(t, session("a", "")+session("r",
		`,"forks":["a","b"],"model":"big","max_tokens":7,"tools":[{"type":"function"}],"extra":{"z":1}`)+
		`{"session_id":"b","context_mode":"deltas_with_responses","turns":[{`+said+`,"delay":250},{`+said+`}]}`, "")
	d := r.Dataset
	if r.Format != "dag_jsonl" || d.Sampling != dataset.Sequential || d.Len() != 3 ||
		len(r.Warnings) != 0 {
		t.Fatalf("%+v", r)
	}
	if !reflect.DeepEqual(d.Roots, []int{1}) || d.RootCount() != 1 || d.RootAt(0) != 1 {
		t.Errorf("roots %v", d.Roots)
	}
	root, b := d.At(1).Turns[0], d.At(2)
	if !reflect.DeepEqual(root.Branches, []dataset.Branch{{Children: []int{0, 2}, Fork: true}}) {
		t.Errorf("branches %+v", root.Branches)
	}
	if root.Model != "big" || *root.MaxTokens != 7 || len(root.RawTools) != 1 || string(root.Extra[0].Value) != "1" ||
		len(root.RawMessages) != 1 {
		t.Errorf("turn %+v", root)
	}
	if *b.Turns[0].DelayMS != 250 || d.Mode(b) != dataset.DeltasWithResponses ||
		d.Mode(d.At(0)) != dataset.DeltasWithoutResponses {
		t.Errorf("child %+v", b)
	}
	if !d.At(1).Branching() || b.Branching() {
		t.Error("the wrong conversation branches")
	}
}

func TestDAGJoins(t *testing.T) {
	turn := `{` + said
	d := load1(t, `{"session_id":"r","pre_session_spawns":["p"],"turns":[`+
		turn+`,"spawns":["a",{"children":["b","a"],"join_at":2},"c",{"children":["c"]}],"forks":[{"child":"f","background":true}]},`+
		turn+`},`+turn+`,"spawns":["a"],"forks":["g"]}]}`+"\n"+
		session("a", "")+session("b", "")+session("c", "")+session("f", "")+session("g", "")+session("p", ""),
		"").Dataset
	root := d.At(0)
	for _, c := range []struct {
		turn int
		want []dataset.Branch
	}{
		{0, []dataset.Branch{
			{Children: []int{1, 3}, JoinAt: 1},
			{Children: []int{2, 1}, JoinAt: 2},
			{Children: []int{3}, JoinAt: 1},
			{Children: []int{4}, Fork: true, Background: true},
		}},
		{1, nil},
		{2, []dataset.Branch{{Children: []int{1}}, {Children: []int{5}, Fork: true}}},
	} {
		if got := root.Turns[c.turn].Branches; !reflect.DeepEqual(got, c.want) {
			t.Errorf("turn %d: %+v, want %+v", c.turn, got, c.want)
		}
	}
	if !reflect.DeepEqual(root.Before, []int{6}) || !reflect.DeepEqual(d.Roots, []int{0}) {
		t.Errorf("before %v, roots %v", root.Before, d.Roots)
	}
}

func TestDAGDelaysAreCapped(t *testing.T) {
	content := `{"session_id":"r","turns":[{` + said + `},{` + said + `,"delay":900},{` + said + `,"delay":100}]}`
	most := 250.0
	r, err := LoadWith(context.Background(), write(t, "data.jsonl", content), "", Options{MaxDelayMS: &most})
	if err != nil {
		t.Fatal(err)
	}
	turns := r.Dataset.At(0).Turns
	if turns[0].DelayMS != nil || *turns[1].DelayMS != 250 || *turns[2].DelayMS != 100 {
		t.Errorf("delays %v, %v, %v", turns[0].DelayMS, *turns[1].DelayMS, *turns[2].DelayMS)
	}
}

func TestDAGOrchestrators(t *testing.T) {
	for _, c := range []struct {
		name, members string
		want          []dataset.Turn
	}{
		{"one round", `"spawns":["a"]`,
			[]dataset.Turn{{Silent: true, Branches: []dataset.Branch{{Children: []int{1}}}}}},
		{"rounds wait for each other and think in between",
			`"spawns":["a","b"],"rounds":2,"think_time_ms":50,"think_time_sigma":0.5,"think_time_min_ms":10,"think_time_max_ms":90`, []dataset.Turn{
				{Silent: true, Branches: []dataset.Branch{{Children: []int{1, 2}, JoinAt: 1}}},
				{Silent: true, Branches: []dataset.Branch{{Children: []int{1, 2}}},
					Think: &dataset.Think{MedianMS: 50, Sigma: 0.5, MinMS: new(10.0), MaxMS: new(90.0)}},
			}},
		{"a round's own think time wins",
			`"rounds":[{"spawns":["a"],"think_time_ms":5},{"spawns":["b"]}],"think_time_ms":50`, []dataset.Turn{
				{Silent: true, DelayMS: new(5.0), Branches: []dataset.Branch{{Children: []int{1}, JoinAt: 1}}},
				{Silent: true, Think: &dataset.Think{MedianMS: 50}, Branches: []dataset.Branch{{Children: []int{2}}}},
			}},
	} {
		d := load1(t, `{"session_id":"r","orchestrator":true,`+c.members+"}\n"+session("a", "")+session("b", ""),
			"").Dataset
		if got := d.At(0).Turns; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if n := d.Turns(); n != 2 {
			t.Errorf("%s: %d requests, want those of the children", c.name, n)
		}
	}
}

func TestDAGMistakesNameTheirLine(t *testing.T) {
	ok := session("a", "")
	system := `{"session_id":"%","turns":[{"messages":[{"role":"system","content":"s"}]}]}`
	for _, c := range []struct{ name, content, want string }{
		{"bad JSON", ok + `{"session_id":`, ":2: not valid JSON"},
		{"no session id", ok + `{"turns":[{` + said + `}]}`, `:2: field "session_id" is missing`},
		{"two of an id", ok + "\n" + ok, `:3: field "session_id": "a" is already used on line 1`},
		{"empty turns", `{"session_id":"r","turns":[]}`, `:1: field "turns": want a list of at least one turn`},
		{"unknown key", `{"session_id":"r","turnz":1,"turns":[{` + said + `}]}`, `:1: the key "turnz" is unknown`},
		{"unknown key of a turn", session("r", `,"text":"x"`), `:1: turns[0]: the key "text" is unknown`},
		{"unknown key of an orchestrator", `{"session_id":"r","orchestrator":true,"turns":[]}`,
			`the key "turns" is unknown`},
		{"no messages", `{"session_id":"r","turns":[{"model":"m"}]}`, `turns[0]: field "messages" is missing`},
		{"message without a role", `{"session_id":"r","turns":[{"messages":[{"content":"x"}]}]}`,
			`:1: turns[0]: messages[0]: field "role" is missing`},
		{"system on a later turn", `{"session_id":"r","turns":[{` + said +
			`},{"messages":[{"role":"system","content":"s"}]}]}`, `:1: turns[1]: a system message`},
		{"system of a fork", session("r", `,"forks":["b"]`) + strings.Replace(system, "%", "b", 1),
			`:2: turns[0]: a system message`},
		{"unknown child", ok + session("r", `,"forks":["nobody"]`), `:2: session "nobody" is unknown`},
		{"cycle", session("r", `,"spawns":["s"]`) + session("s", `,"spawns":["t"]`) + session("t", `,"spawns":["s"]`),
			`the sessions form a cycle: `},
		{"cycle of one", session("r", `,"spawns":["r"]`), `:1: the sessions form a cycle: r → r`},
		{"two fork parents", session("r", `,"forks":["a"]`) + session("s", `,"forks":["a"]`) + ok,
			`:2: session "a" is forked on line 1 already`},
		{"foreground fork in the middle",
			`{"session_id":"r","turns":[{` + said + `,"forks":["a"]},{` + said + `}]}` + "\n" + ok,
			`:1: turns[0]: forks[0]: "a" is forked in the foreground by a turn that is not the last`},
		{"pre-session spawn of a fork",
			`{"session_id":"r","pre_session_spawns":["a"],"turns":[{` + said + `,"forks":["a"]}]}` + "\n" + ok,
			`:2: session "a" is spawned before a session and forked on line 1`},
		{"join in the past", `{"session_id":"r","turns":[{` + said + `,"spawns":[{"children":["a"],"join_at":0}]},{` +
			said + `}]}` + "\n" + ok, `:1: turns[0]: spawns[0]: field "join_at"`},
		{"join behind the end", `{"session_id":"r","turns":[{` + said +
			`,"spawns":[{"children":["a"],"join_at":2}]},{` + said + `}]}` + "\n" + ok, `above 0 and below 2`},
		{"unsupported context mode", `{"session_id":"r","context_mode":"message_array_without_responses","turns":[{` +
			said + `}]}`, `field "context_mode"`},
		{"orchestrator without children", `{"session_id":"r","orchestrator":true}`, `field "spawns" is missing`},
		{"spread without a median", `{"session_id":"r","orchestrator":true,"spawns":["a"],"think_time_sigma":1}` +
			"\n" + ok, `"think_time_ms" is missing`},
		{"limits crossed", `{"session_id":"r","orchestrator":true,"spawns":["a"],"think_time_ms":1,"think_time_min_ms":5,"think_time_max_ms":4}`, `"think_time_max_ms"`},
		{"rounds twice", `{"session_id":"r","orchestrator":true,"spawns":["a"],"rounds":[{"spawns":["a"]}]}`,
			`exclude each other`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "data.jsonl", c.content)
			_, err := Load(context.Background(), path, "dag_jsonl")
			if err == nil || !strings.Contains(err.Error(), path+":") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Each session spawns the next one ten times: without a bound the tree would not fit into memory.
func TestDAGThatGrowsWithoutMeasureIsRefused(t *testing.T) {
	var lines strings.Builder
	ids := "abcdefgh"
	for i, id := range ids {
		members := ""
		if i < len(ids)-1 {
			next := `"` + ids[i+1:i+2] + `"`
			members = `,"spawns":[` + strings.Repeat(next+",", 9) + next + `]`
		}
		lines.WriteString(session(string(id), members))
	}
	_, err := Load(context.Background(), write(t, "data.jsonl", lines.String()), "")
	if err == nil || !strings.Contains(err.Error(), ":1: more than 1000000 sessions grow out of session \"a\"") {
		t.Errorf("error %v", err)
	}
}

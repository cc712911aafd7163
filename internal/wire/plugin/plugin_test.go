package plugin_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/plugin"
	"aiperf/internal/workload/dataset"
)

// TestMain lets the test binary be the plugin too: with AIPERF_TEST_PLUGIN it behaves as that says.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("AIPERF_TEST_PLUGIN"); behaviour != "" {
		behave(behaviour)
		return
	}
	goleak.VerifyTestMain(m)
}

// flood is how many lines a plugin that floods its standard error writes.
const flood = 20_000

// behave is a plugin. Its behaviours are words separated by blanks.
func behave(behaviour string) {
	is := func(word string) bool { return slices.Contains(strings.Fields(behaviour), word) }
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	switch {
	case is("answers"):
		answers(os.Getenv("AIPERF_TEST_RESULTS"))
		return
	case is("words"): // its name is what it was started with
		words, _ := json.Marshal(strings.Join(os.Args[1:], "|"))
		fmt.Printf(`{"aiperf_plugin":1,"name":%s}`+"\n", words)
	case is("exporter"):
		fmt.Println(`{"aiperf_plugin":1,"category":"data_exporter"}`)
	case is("silent"):
		time.Sleep(time.Minute)
	case is("gone"):
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(3)
	case is("floods"):
		for i := range flood {
			fmt.Fprintln(os.Stderr, "line", i)
		}
		fmt.Println(`{"aiperf_plugin":1}`)
	case is("talks"):
		fmt.Println("Welcome to the plugin!")
	case is("future"):
		fmt.Println(`{"aiperf_plugin":2}`)
	case is("stranger"):
		fmt.Println(`{"hello":1}`)
	default:
		fmt.Println(`{"aiperf_plugin":1,"name":"t","path":"/x","streams":true}`)
	}
	in.Scan()
	var out sync.Mutex
	for in.Scan() {
		var call struct {
			ID     uint64
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(in.Bytes(), &call) != nil {
			os.Exit(9)
		}
		text := string(call.Params)
		switch {
		case strings.Contains(text, "crash"):
			fmt.Fprintln(os.Stderr, "it hurts")
			os.Exit(4)
		case strings.Contains(text, "hang"):
			continue
		case strings.Contains(text, "garbage"):
			fmt.Println("oh no")
			continue
		case strings.Contains(text, "refuse"):
			fmt.Printf(`{"id":%d,"error":"not this one"}`+"\n", call.ID)
			continue
		}
		go func() {
			// Replies in another order than the calls.
			time.Sleep(time.Duration(call.ID%3) * time.Millisecond)
			out.Lock()
			defer out.Unlock()
			if call.Method == "encode" {
				fmt.Printf(`{"id":%d,"result":{"body":%s}}`+"\n", call.ID, call.Params)
				return
			}
			var p struct{ Events []struct{ Data string } }
			_ = json.Unmarshal(call.Params, &p)
			fmt.Printf(`{"id":%d,"result":%s}`+"\n", call.ID, p.Events[len(p.Events)-1].Data)
		}()
	}
}

// start starts this binary as a plugin.
func start(t *testing.T, behaviour string, set func(*plugin.Options)) (*plugin.Host, error) {
	t.Helper()
	t.Setenv("AIPERF_TEST_PLUGIN", behaviour)
	o := plugin.Options{Command: "'" + os.Args[0] + "'", StartLimit: time.Minute, CallLimit: time.Minute}
	if set != nil {
		set(&o)
	}
	h, err := plugin.Start(t.Context(), o)
	if err == nil {
		t.Cleanup(h.Close)
	}
	return h, err
}

func said(text string) *endpoint.Context {
	return &endpoint.Context{Turns: []endpoint.Turn{{Turn: &dataset.Turn{Texts: []dataset.Media{{Contents: []string{text}}}}}}}
}

func TestProgramsThatAreNoPlugins(t *testing.T) {
	for behaviour, fault := range map[string]string{
		"silent": "wrote nothing within 200ms", "gone": "exit status 3", "talks": "not JSON", "future": "version 2",
		"stranger": "aiperf_plugin",
	} {
		t.Run(behaviour, func(t *testing.T) {
			_, err := start(t, behaviour, func(o *plugin.Options) {
				if behaviour == "silent" {
					o.StartLimit = 200 * time.Millisecond
				}
			})
			if err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("%v", err)
			}
		})
	}
	for command, fault := range map[string]string{"": "empty", "  ": "empty", "'a b": "quote",
		"/nowhere/at/all x": "cannot be started"} {
		if _, err := plugin.Start(t.Context(), plugin.Options{Command: command}); err == nil ||
			!strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v", command, err)
		}
	}
}

func TestCallsInParallel(t *testing.T) {
	h, err := start(t, "ok", nil)
	if err != nil {
		t.Fatal(err)
	}
	api := plugin.New(h, endpoint.Options{Model: "m", Streaming: true})
	if d := api.Descriptor(); d.Path != "/x" || !d.Streams || !d.ProducesTokens {
		t.Errorf("%+v", d)
	}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			body, err := api.Encode(said(fmt.Sprintf("text %d\nof two lines", i)))
			want := fmt.Sprintf(`{"model":"m","streaming":true,"turns":[{"role":"user","texts":[{"contents":["text %d\nof two lines"]}]}]}`, i)
			if err != nil || string(body.Bytes) != want || !body.Stream {
				t.Errorf("%v %s", err, body.Bytes)
			}
		})
	}
	wg.Wait()
}

// What goes wrong is an error of the calls that waited, and the next one is answered.
func TestTrapPluginFailuresAreThoseOfTheirRequests(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{"crash", "plugin ended"}, {"garbage", "not a reply: oh no"}, {"hang", "did not reply within 300ms"},
		{"refuse", "not this one"},
	} {
		t.Run(c.text, func(t *testing.T) {
			var mu sync.Mutex
			var told []string
			hangs := false
			h, err := start(t, "ok", func(o *plugin.Options) {
				o.CallLimit = 300 * time.Millisecond
				o.After = func(limit time.Duration) <-chan time.Time {
					if !hangs { // the other calls are answered, however long that takes here
						limit = time.Minute
					}
					return time.After(limit)
				}
				o.Log = func(line string) { mu.Lock(); told = append(told, line); mu.Unlock() }
			})
			if err != nil {
				t.Fatal(err)
			}
			api := plugin.New(h, endpoint.Options{Model: "m"})
			for range 3 {
				hangs = c.text == "hang"
				_, err := api.Encode(said(c.text))
				hangs = false
				known, ok := err.(*endpoint.EncodeError)
				if !ok || known.Type != "PluginError" || !strings.Contains(known.Message, c.fault) {
					t.Errorf("%v", err)
				}
				if _, err := api.Encode(said("fine")); err != nil {
					t.Errorf("the call after it: %v", err)
				}
			}
			h.Close()
			mu.Lock()
			defer mu.Unlock()
			if c.text == "crash" && !slices.Equal(told, []string{"it hurts", "it hurts", "it hurts"}) {
				t.Errorf("the log got %q", told)
			}
			if _, err := api.Encode(said("late")); err == nil {
				t.Error("a call after the end is answered")
			}
		})
	}
}

func TestAFloodOfStandardErrorIsBounded(t *testing.T) {
	var mu sync.Mutex
	shown, left, notices := 0, 0, 0
	begun := time.Now()
	h, err := start(t, "floods", func(o *plugin.Options) {
		o.Log = func(line string) {
			mu.Lock()
			defer mu.Unlock()
			var n int
			if _, err := fmt.Sscanf(line, "(%d further lines are left out", &n); err == nil {
				left += n
				notices++
			} else {
				shown++
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	seconds := int(time.Since(begun)/time.Second) + 1
	mu.Lock()
	defer mu.Unlock()
	if shown+left != flood || shown > 50*(seconds+1) || notices > seconds+1 {
		t.Errorf("%d lines are shown and %d left out in %d s, with %d notices", shown, left, seconds, notices)
	}
}

func TestPluginThatFailsAgainAndAgainIsGivenUp(t *testing.T) {
	h, err := start(t, "ok", nil)
	if err != nil {
		t.Fatal(err)
	}
	api := plugin.New(h, endpoint.Options{})
	const most = 5 // in a row
	for range most - 1 {
		api.Encode(said("crash"))
	}
	if _, err := api.Encode(said("fine")); err != nil {
		t.Errorf("after %d failures: %v", most-1, err)
	}
	for range most {
		api.Encode(said("crash"))
	}
	if _, err := api.Encode(said("fine")); err == nil || !strings.Contains(err.Error(), "not called again") {
		t.Errorf("%v", err)
	}
}

func TestDecoding(t *testing.T) {
	h, err := start(t, "ok", nil)
	if err != nil {
		t.Fatal(err)
	}
	api := plugin.New(h, endpoint.Options{Streaming: true})
	for _, c := range []struct {
		name, result string
		content      []int64
		firstOutput  int64
		output       string
		fault        string
	}{
		{"texts and reasoning", `{"responses":[{"event":0,"reasoning":"r"},{"event":1,"text":"a"},{"event":1,"text":"b"}],"usage":{"completion_tokens":7}}`, []int64{10, 20, 20}, 20, "ab", ""},
		{"content that is no text", `{"responses":[{"event":1,"content":true}]}`, []int64{20}, 20, "", ""},
		{"nothing", `{"responses":[]}`, nil, 0, "", ""},
		{"an error of the server", `{"error":{"code":503,"type":"Busy","message":"later"}}`, nil, 0, "", "Busy: later"},
		{"an event that there is not", `{"responses":[{"event":3,"text":"a"}]}`, nil, 0, "", "PluginError"},
		{"a negative event", `{"responses":[{"event":-1,"text":"a"}]}`, nil, 0, "", "PluginError"},
		{"out of order", `{"responses":[{"event":1,"text":"a"},{"event":0,"text":"b"}]}`, []int64{20}, 20, "a",
			"PluginError"},
		{"of another kind", `{"responses":7}`, nil, 0, "", "PluginError"},
		{"not at all", `"refuse"`, nil, 0, "", "not this one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := api.NewDecoder()
			heard := 0
			d.OnFirstContent(func() { heard++ })
			d.Event(nil, []byte(" "), 5)
			if heard != 0 {
				t.Error("an empty event is content")
			}
			d.Release()
			d = api.NewDecoder()
			d.OnFirstContent(func() { heard++ })
			d.Event(nil, []byte("first"), 10)
			d.Event([]byte("e"), []byte(c.result), 20)
			if heard != 1 {
				t.Errorf("first content was heard %d times before decoding", heard)
			}
			r := d.Reply()
			fault := ""
			if r.Err != nil {
				fault = r.Err.Type + ": " + r.Err.Message
			}
			if !slices.Equal(r.ContentNS, c.content) || r.FirstOutputNS != c.firstOutput ||
				string(r.Output) != c.output || !strings.Contains(fault, c.fault) || c.fault == "" && fault != "" {
				t.Errorf("%+v %s", r, fault)
			}
			if r != d.Reply() {
				t.Error("the second question asks again")
			}
			d.Release()
		})
	}
	if r := api.NewDecoder().Reply(); r.Err != nil || len(r.ContentNS) != 0 {
		t.Errorf("an exchange without responses: %+v", r)
	}
}

func TestCommandsAreSplitIntoWords(t *testing.T) {
	for words, want := range map[string]string{
		`PROGRAM`:                       "",
		`PROGRAM python3 a.py`:          "python3|a.py",
		` PROGRAM sh  -c 'echo "x y"' `: `sh|-c|echo "x y"`,
		`PROGRAM a "b c"'d' e\ f ""`:    "a|b cd|e f|",
		`PROGRAM "\"" '\'`:              `"|\`,
		`PROGRAM "" ''`:                 "|",
	} {
		h, err := start(t, "words", func(o *plugin.Options) {
			o.Command = strings.ReplaceAll(words, "PROGRAM", o.Command)
		})
		if err != nil {
			t.Errorf("%s: %v", words, err)
		} else if got := h.Manifest().Name; got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}

func FuzzReplies(f *testing.F) {
	f.Add([]byte(`{"responses":[{"event":0,"text":"a"}],"usage":{"prompt_tokens":1},"error":null}`))
	f.Add([]byte(`{"responses":[{"event":1,"reasoning":"a"}],"usage":[],"finished":false}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r plugin.DecodeResult
		if json.Unmarshal(text, &r) != nil {
			return
		}
		reply := r.Reply([]int64{10, 20})
		if !slices.IsSorted(reply.ContentNS) {
			t.Fatalf("%v", reply.ContentNS)
		}
	})
}

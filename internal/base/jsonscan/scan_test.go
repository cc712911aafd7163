package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
)

var seeds = []string{
	"", "{", "null", `{"a":[1,2.5e-3,-0,true,false,null,"\u00e9"]}`, `{"a":01}`, `{"a":1.}`, "{\"a\":\"\x01\"}",
	"{\"a\":\"\xff\"}", "[DONE]", `"\ud83d\ude00\ud800\u0041\udc00"`, `{"c\u006fntent":"esc"}`, `{}}`, `{"a":1}x`,
	"{\"object\":\"chat\"\n,\t\"choices\" : [ { \"delta\" : { \"content\" : \"sp\" } } ] } ", "\u00a0{}", "[1 2]",
	`{"a":1,}`, `[1,]`, `[{}]`, `[[]`, `"a`, `"\`, `"\u00`, `-`, `1e+`, `tru`,
}

// FuzzScan compares the scanner with encoding/json: what is accepted, what strings and members say, and what the
// compact form of a value means.
func FuzzScan(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		valid := json.Valid(data)
		end := jsonscan.Document(data, 0)
		if jsonscan.Valid(data) != valid || end >= 0 != valid {
			t.Fatalf("%q: read to %d, encoding/json %v", data, end, valid)
		}
		start := jsonscan.Space(data, 0)
		skimmed := jsonscan.Skim(data, start)
		if !valid {
			if at, _ := jsonscan.FaultOf(end); at < 0 || at > len(data) {
				t.Fatalf("%q: a fault at %d", data, at)
			}
			return
		}
		if want := jsonscan.Value(data, start, 0); skimmed != want {
			t.Fatalf("%q: skimmed to %d, passed over to %d", data, skimmed, want)
		}
		raw := bytes.Trim(data, " \t\r\n")
		var before, after any
		if err := json.Unmarshal(raw, &before); err != nil {
			return // a number that no float64 holds
		}
		wire := jsonscan.AppendCompact(nil, raw)
		if err := json.Unmarshal(wire, &after); err != nil || fmt.Sprint(before) != fmt.Sprint(after) {
			t.Fatalf("%q became %q: %v", raw, wire, err)
		}
		switch want := before.(type) {
		case string:
			if got := string(jsonscan.AppendText(nil, raw)); got != want {
				t.Fatalf("%q: text %q, encoding/json %q", raw, got, want)
			}
		case map[string]any:
			if !utf8.Valid(raw) {
				return
			}
			n := map[string]bool{}
			for m := range jsonscan.Members(raw) {
				n[string(m.Key)] = true
				if sub, ok := want[string(m.Key)]; !ok || !same(jsonscan.Find(raw, string(m.Key)), sub) {
					t.Fatalf("%q: %q is %q, encoding/json %v", raw, m.Key, m.Value, sub)
				}
			}
			if len(n) != len(want) {
				t.Fatalf("%q: %d keys, encoding/json %d", raw, len(n), len(want))
			}
		case []any:
			n := 0
			for e := range jsonscan.Elements(raw) {
				if !same(e, want[n]) {
					t.Fatalf("%q: element %d is %q, encoding/json %v", raw, n, e, want[n])
				}
				n++
			}
			if n != len(want) {
				t.Fatalf("%q: %d elements, encoding/json %d", raw, n, len(want))
			}
		}
	})
}

func same(raw []byte, want any) bool {
	var got any
	return json.Unmarshal(raw, &got) == nil && fmt.Sprint(got) == fmt.Sprint(want)
}

func TestDepthLimit(t *testing.T) {
	for _, depth := range []int{jsonscan.MaxDepth, jsonscan.MaxDepth + 1} {
		for _, pair := range []string{"[]", "{}"} {
			data := strings.Repeat(pair[:1], depth) + strings.Repeat(pair[1:], depth)
			if pair == "{}" {
				data = strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
			}
			if got, want := jsonscan.Valid([]byte(data)), json.Valid([]byte(data)); got != want {
				t.Errorf("depth %d of %s: read %v, encoding/json %v", depth, pair, got, want)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		want jsonscan.Fault
	}{
		{``, 0, jsonscan.WantValue}, {`{`, 1, jsonscan.WantKey}, {`[`, 1, jsonscan.WantValue}, {`{"a"1}`, 4, jsonscan.WantColon}, {`{"a":1,}`, 7, jsonscan.WantKey},
		{`[1,]`, 3, jsonscan.WantValue}, {`[1 2]`, 3, jsonscan.WantBracket}, {`{"a":1]`, 6, jsonscan.WantBrace}, {`{} x`, 3, jsonscan.WantEnd},
		{`01`, 1, jsonscan.WantEnd}, {`[-]`, 2, jsonscan.MalformedNumber}, {`1.`, 2, jsonscan.MalformedNumber}, {`1e+`, 3, jsonscan.MalformedNumber},
		{`"\x"`, 1, jsonscan.InvalidEscape}, {`"\u12"`, 1, jsonscan.InvalidEscape}, {`"\`, 1, jsonscan.InvalidEscape},
		{"\"\n\"", 1, jsonscan.ControlCharacter},
		{`"abc`, 4, jsonscan.UnterminatedString}, {`nul`, 0, jsonscan.WantValue},
		{strings.Repeat("[", jsonscan.MaxDepth+1), jsonscan.MaxDepth + 1, jsonscan.TooDeep},
	} {
		if at, got := jsonscan.FaultOf(jsonscan.Document([]byte(c.text), 0)); at != c.at || got != c.want {
			t.Errorf("%.20q: fault %d at %d, want %d at %d", c.text, got, at, c.want, c.at)
		}
	}
}

func TestSkimLooksForTheEnd(t *testing.T) {
	for text, want := range map[string]int{
		`{"a":[tru,,01}]}`: 15, `NaN,`: 3, `"a}",`: 4, `12 3`: 2, `[[]`: -1, `]`: -1, `,1`: -1, ``: -1, `{"a`: -1,
	} {
		if got := max(jsonscan.Skim([]byte(text), 0), -1); got != want {
			t.Errorf("%s: skimmed to %d, want %d", text, got, want)
		}
	}
}

func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-7,": -7, "9223372036854775807]": math.MaxInt64} {
		if got, end := jsonscan.Int([]byte(text), 0); got != want || end < 0 {
			t.Errorf("%s: %d, %d", text, got, end)
		}
	}
	for _, text := range []string{"", "-", "x", "01", "1.0", "1e3", "9223372036854775808", "99999999999999999999"} {
		if got, end := jsonscan.Int([]byte(text), 0); end >= 0 {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func TestScanningDoesNotAllocate(t *testing.T) {
	text := []byte(`{"a":[1,2.5e-3,true,null,"\u00e9",{"b":"c"}],"d":"` + strings.Repeat("é", 50) + `"}`)
	n := testing.AllocsPerRun(20, func() {
		for m := range jsonscan.Members(text) {
			for e := range jsonscan.Elements(m.Value) {
				jsonscan.Find(e, "b")
			}
		}
		if !jsonscan.Valid(text) {
			t.Error("not valid")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkValid(b *testing.B) {
	text := []byte(`{"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk",` +
		`"created":1700000000,"choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null}],"n":12}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if !jsonscan.Valid(text) {
			b.Fatal("not valid")
		}
	}
}

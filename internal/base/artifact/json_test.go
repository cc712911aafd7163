package artifact_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
)

func TestAppendFloat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0.0"},
		{math.Copysign(0, -1), "-0.0"},
		{20, "20.0"},
		{-3, "-3.0"},
		{0.1, "0.1"},
		{4.10958904109589, "4.10958904109589"},
		{0.7300000000000001, "0.7300000000000001"},
		{1e-4, "0.0001"},
		{1e-5, "1e-05"},
		{1.5e-7, "1.5e-07"},
		{9999999999999998, "9999999999999998.0"},
		{1e15, "1000000000000000.0"},
		{1e16, "1e+16"},
		{1.2345e22, "1.2345e+22"},
		{1e100, "1e+100"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
		{math.SmallestNonzeroFloat64, "5e-324"},
		{math.NaN(), "null"},
		{math.Inf(-1), "null"},
	} {
		if got := string(artifact.AppendFloat(nil, c.v)); got != c.want {
			t.Errorf("AppendFloat(%g) = %s, want %s", c.v, got, c.want)
		}
	}
}

// The short way of [AppendFloat] writes what strconv does: for nanoseconds as milliseconds, by division and by product,
// for the floats next to them, and for any others.
func TestAppendFloatWritesTheShortestDecimal(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	check := func(v float64) {
		want := strconv.FormatFloat(v, 'f', -1, 64)
		if abs := math.Abs(v); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
			want = strconv.FormatFloat(v, 'e', -1, 64)
		} else if !strings.Contains(want, ".") {
			want += ".0"
		}
		if got := string(artifact.AppendFloat(nil, v)); got != want {
			t.Fatalf("%b: %s, want %s", v, got, want)
		}
	}
	short := 0
	for range 30_000 {
		n := random.Int64N(1 << (1 + random.IntN(53)))
		for _, v := range []float64{float64(n) / 1e6, float64(n) * 1e-6, float64(n), random.ExpFloat64()} {
			check(v)
			check(math.Nextafter(v, 0))
			check(-v)
			check(math.Nextafter(v, math.Inf(1)))
			if _, ok := artifact.AppendMillionths(nil, v); ok {
				short++
			}
		}
	}
	if short < 30_000 {
		t.Errorf("only %d were written the short way", short)
	}
}

func BenchmarkAppendFloat(b *testing.B) {
	var buf []byte
	for name, v := range map[string]float64{"millionths": 34.463302, "others": 10.499910999999999} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				buf = artifact.AppendFloat(buf[:0], v)
			}
		})
	}
}

func TestTrapIntegralFloatsKeepPointZero(t *testing.T) {
	out, err := artifact.AppendJSON(nil, artifact.Object{{"float", 105.0}, {"integer", 105},
		{"list", []float64{50, 60.5}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out), `{"float":105.0,"integer":105,"list":[50.0,60.5]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAppendString(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `""`},
		{`a"b\c`, `"a\"b\\c"`},
		{"<b>&</b>", `"<b>&</b>"`},
		{"Zürich 東京 🙂", `"Zürich 東京 🙂"`},
		{"\b\f\n\r\t\x00\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\""},
		{"a\xffb\xc3", "\"a\uFFFDb\uFFFD\""},
		{"\xed\xa0\x80", "\"\uFFFD\uFFFD\uFFFD\""}, // a lone surrogate is not UTF-8
		{"\uFFFD", "\"\uFFFD\""},
	} {
		if got := string(artifact.AppendString(nil, c.in)); got != c.want {
			t.Errorf("AppendString(%q) = %s, want %s", c.in, got, c.want)
		}
		if got := string(artifact.AppendString(nil, []byte(c.in))); got != c.want {
			t.Errorf("AppendString([]byte(%q)) = %s, want %s", c.in, got, c.want)
		}
	}
}

type named string

func TestAppendIndentedLaysOutLikeOtherTools(t *testing.T) {
	seed, none := uint64(math.MaxUint64), (*uint64)(nil)
	doc := artifact.Object{
		{"text", "Zürich <1>"},
		{"empty object", artifact.Object{}},
		{"empty list", []any{}},
		{"nothing", nil},
		{"absent pointer", none},
		{"absent number", math.NaN()},
		{"pointer", &seed},
		{"named", named("x")},
		{"list", []any{1, 2.0, artifact.Object{{"k", true}}, []string{"a"}}},
		{"raw", json.RawMessage(`{"a":[1,{"b":[]}],"c":{}}` + "\n")},
		{"map", map[string]int{"b": 2, "a": 1}},
	}
	want := `{
  "text": "Zürich <1>",
  "empty object": {},
  "empty list": [],
  "nothing": null,
  "pointer": 18446744073709551615,
  "named": "x",
  "list": [
    1,
    2.0,
    {
      "k": true
    },
    [
      "a"
    ]
  ],
  "raw": {
    "a": [
      1,
      {
        "b": []
      }
    ],
    "c": {}
  },
  "map": {
    "a": 1,
    "b": 2
  }
}
`
	var out bytes.Buffer
	if err := artifact.WriteIndented(&out, doc); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	compact, err := artifact.AppendJSON(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	if wantCompact := `{"text":"Zürich <1>","empty object":{},"empty list":[],"nothing":null,"pointer":18446744073709551615,` +
		`"named":"x","list":[1,2.0,{"k":true},["a"]],"raw":{"a":[1,{"b":[]}],"c":{}},"map":{"a":1,"b":2}}`; string(compact) != wantCompact {
		t.Errorf("got\n%s\nwant\n%s", compact, wantCompact)
	}
}

func TestTrapAbsentValuesAreLeftOut(t *testing.T) {
	out, _ := artifact.AppendJSON(nil, artifact.Object{{"a", math.Inf(1)}, {"b", (*float64)(nil)},
		{"c", float32(math.NaN())}, {"d", 1}})
	if string(out) != `{"d":1}` {
		t.Errorf("got %s", out)
	}
}

func TestUnwritableValuesAreErrors(t *testing.T) {
	for _, v := range []any{struct{}{}, make(chan int), map[int]int{1: 1}, json.RawMessage("{"),
		artifact.Object{{"k", func() {}}}} {
		if _, err := artifact.AppendJSON(nil, v); err == nil {
			t.Errorf("%T was written", v)
		}
	}
}

func TestMembersMatchesAppendJSON(t *testing.T) {
	var m artifact.Members
	m.Open()
	m.Int("a", -1)
	m.Object("empty")
	m.Close()
	m.Object("o")
	m.String("s", "x\n")
	m.Bool("b", false)
	m.Close()
	m.Int("z", 2)
	m.Close()
	if got, want := string(m.Dst), `{"a":-1,"empty":{},"o":{"s":"x\n","b":false},"z":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"\\\x00\x1f", "é\u2028🙂", "\xff\xc3\x28", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ours := artifact.AppendString(nil, s)
		theirs, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var a, b string
		if err := json.Unmarshal(ours, &a); err != nil {
			t.Fatalf("%q became %s: %v", s, ours, err)
		}
		if err := json.Unmarshal(theirs, &b); err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Fatalf("%q reads back as %q, not %q", s, a, b)
		}
		if bytes.ContainsAny(ours, "\n\r") {
			t.Fatalf("%q spans lines: %s", s, ours)
		}
	})
}

func FuzzAppendFloat(f *testing.F) {
	for _, v := range []float64{0, 1, 0.1, 1e16, 1e-5, -123456.789, 5e-324, 9007199254740993} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		if !artifact.Finite(v) {
			t.Skip()
		}
		text := artifact.AppendFloat(nil, v)
		var back float64
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if math.Float64bits(back) != math.Float64bits(v) {
			t.Fatalf("%g became %s", v, text)
		}
		if _, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			t.Fatalf("%g became the integer %s", v, text)
		}
	})
}

func BenchmarkAppendString(b *testing.B) {
	text := bytes.Repeat([]byte("the quick brown fox "), 50)
	var dst []byte
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		dst = artifact.AppendString(dst[:0], text)
	}
}

// A document that is written to a file in pieces is the one that is made in memory, with lists that are made late.
func TestWriteObjectWritesLongDocumentsInPieces(t *testing.T) {
	var list, late []any
	for i := range 5000 {
		o := artifact.Object{{Key: "number", Value: i}, {Key: "text", Value: strings.Repeat("x", 100)}}
		list, late = append(list, o), append(late, artifact.Lazy(func() any { return o }))
	}
	want, err := artifact.AppendIndented(nil, artifact.Object{{Key: "list", Value: list}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "list.json")
	if err := artifact.WriteObject(path, artifact.Object{{Key: "list", Value: late}}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != string(want)+"\n" {
		t.Errorf("%v, %d bytes, want %d", err, len(got), len(want)+1)
	}
	if err := artifact.WriteObject(path, artifact.Object{{Key: "bad", Value: func() {}}}); err == nil {
		t.Error("a function was written")
	}
	if again, _ := os.ReadFile(path); string(again) != string(got) {
		t.Error("a document that could not be written replaced the file")
	}
}

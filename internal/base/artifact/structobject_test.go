package artifact_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
)

type inner struct {
	Number float64 `json:"number"`
	hidden int
}

type embedded struct {
	First int `json:"first"`
}

type level int

func (l level) MarshalText() ([]byte, error) { return []byte{'l', byte('0' + l)}, nil }

func (l *level) UnmarshalText(text []byte) error {
	*l = level(text[1] - '0')
	return nil
}

type document struct {
	embedded
	*inner
	Name     string               `json:"name"`
	Skipped  int                  `json:"-"`
	Plain    bool                 // its name is that of the field
	Optional *float64             `json:"optional,omitzero"`
	Null     *int                 `json:"null"`
	Some     string               `json:"some,omitempty"`
	Any      any                  `json:"any"`
	List     []inner              `json:"list"`
	Texts    []string             `json:"texts,omitempty"`
	Numbers  []float64            `json:"numbers"`
	Map      map[string]inner     `json:"map"`
	Ordered  artifact.Map[*inner] `json:"ordered"`
	Object   artifact.Object      `json:"object"`
	Raw      json.RawMessage      `json:"raw,omitempty"`
	Time     time.Time            `json:"time,omitzero"`
	Level    level                `json:"level"`
	Inline   artifact.Object      `json:"-" artifact:"inline"`
	Lazy     artifact.Lazy        `json:"lazy,omitzero"`
}

func TestAStructIsWrittenByItsTags(t *testing.T) {
	half := 0.5
	for _, c := range []struct {
		name string
		of   any
		want string
	}{
		{"nothing is set", document{}, `{"first":0,"name":"","Plain":false,"null":null,"any":null,"list":[],` +
			`"numbers":[],"map":{},"ordered":{},"object":{},"level":"l0"}`},
		{"all is set", &document{embedded: embedded{1}, inner: &inner{Number: 1}, Name: "<a>", Skipped: 1, Plain: true,
			Optional: &half, Null: new(int), Some: "s", Any: []any{inner{Number: 2}, nil, int64(3)},
			List:  []inner{{Number: 4}},
			Texts: []string{"t"}, Numbers: []float64{1e20, 7}, Map: map[string]inner{"z": {}, "a": {Number: 1, hidden: 1}},
			Ordered: artifact.Map[*inner]{{"z", &inner{}}, {"a", nil}},
			Object:  artifact.Object{{"o", artifact.ObjectOf(inner{Number: 8})}},
			Raw:     json.RawMessage("[1]"), Time: time.Unix(0, 0).UTC(), Level: 2,
			Inline: artifact.Object{{"i", nil}, {"left out", math.NaN()}, {"j", 10}},
			Lazy:   func() any { return artifact.ObjectOf(inner{Number: 9}) }},
			`{"first":1,"number":1.0,"name":"<a>","Plain":true,"optional":0.5,"null":0,"some":"s",` +
				`"any":[{"number":2.0},null,3],"list":[{"number":4.0}],"texts":["t"],"numbers":[1e+20,7.0],` +
				`"map":{"a":{"number":1.0},"z":{"number":0.0}},"ordered":{"z":{"number":0.0},"a":null},` +
				`"object":{"o":{"number":8.0}},"raw":[1],"time":"1970-01-01T00:00:00Z","level":"l2",` +
				`"i":null,"j":10,"lazy":{"number":9.0}}`},
		{"what is not finite is left out",
			struct{ A, B any }{inner{Number: math.NaN()}, struct{ P *float64 }{new(math.Inf(1))}},
			`{"A":{},"B":{}}`},
		{"the structs of a map", struct{ M map[string]*inner }{map[string]*inner{"a": {Number: 1}}},
			`{"M":{"a":{"number":1.0}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := artifact.AppendJSON(nil, artifact.ObjectOf(c.of))
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%s, want\n%s", err, got, c.want)
			}
		})
	}
}

func TestTagsThatAreNotUnderstoodAreMistakes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a number is written that would have to be a text")
		}
	}()
	artifact.ObjectOf(struct {
		N int `json:"n,string"`
	}{})
}

func TestAMapIsReadInItsOrder(t *testing.T) {
	var m artifact.Map[int]
	if err := json.Unmarshal([]byte(`{"z":1,"a":2}`), &m); err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(m); err != nil || string(text) != `{"z":1,"a":2}` {
		t.Errorf("%s, %v", text, err)
	}
	if v, ok := m.Get("a"); v != 2 || !ok {
		t.Errorf("a is %d, %v", v, ok)
	}
	for _, text := range []string{`[1]`, `{"a":"text"}`} {
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func TestSameTags(t *testing.T) {
	testkit.SameTags[struct {
		Embedded embedded             `json:"embedded"`
		Ordered  artifact.Map[*inner] `json:"ordered"`
		Level    level                `json:"level"`
		Time     time.Time            `json:"time"`
		Any      any                  `json:"any"`
	}](t)
}

package artifact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"aiperf/internal/base/artifact"
)

func TestAnObjectReadBackIsWrittenAsItWas(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"b":1,"a":{"z":null,"list":[1,2.0,"x",null,{},[]],"t":true},"big":123456789012345678901,"small":1e-05,"f":20.0}`,
	} {
		o, err := artifact.ParseObject([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := artifact.AppendJSON(nil, o); err != nil || string(got) != text {
			t.Errorf("%s became %s (%v)", text, got, err)
		}
	}
}

func TestWhatIsNoObject(t *testing.T) {
	for _, text := range []string{"", "[]", "3", `{"a":1`, `{"a" 1}`, `{} {}`, `{}x`, `{"a":01}`} {
		if o, err := artifact.ParseObject([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, o)
		}
	}
}

func FuzzParseObject(f *testing.F) {
	f.Add([]byte(`{"a":[1,null,{"b":2.0}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := artifact.ParseObject(data)
		if err != nil {
			return
		}
		once, err := artifact.AppendJSON(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := artifact.ParseObject(once)
		if err != nil {
			t.Fatalf("%s cannot be read again: %v", once, err)
		}
		if twice, _ := artifact.AppendJSON(nil, again); !bytes.Equal(once, twice) {
			t.Errorf("%s became %s", once, twice)
		}
	})
}

func TestObjectsInStructsKeepTheirOrder(t *testing.T) {
	type holder struct {
		Config artifact.Object `json:"config"`
		None   artifact.Object `json:"none,omitzero"`
	}
	const text = `{"config":{"b":1.50,"a":{"z":null,"y":[{}]}}}`
	var h holder
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(h); err != nil || string(got) != text {
		t.Errorf("got %s, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"config":null}`), &h); err != nil || len(h.Config) != 2 {
		t.Errorf("null: %v, %v", h.Config, err)
	}
	var mistyped *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(`{"config":[]}`), &h); !errors.As(err, &mistyped) || mistyped.Field != "config" {
		t.Errorf("a list: %v", err)
	}
}

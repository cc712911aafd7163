package artifact

import (
	"bytes"
	"testing"
)

func TestAnObjectReadBackIsWrittenAsItWas(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"b":1,"a":{"z":null,"list":[1,2.0,"x",null,{},[]],"t":true},"big":123456789012345678901,"small":1e-05,"f":20.0}`,
	} {
		o, err := ParseObject([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := AppendJSON(nil, o); err != nil || string(got) != text {
			t.Errorf("%s became %s (%v)", text, got, err)
		}
	}
}

func TestWhatIsNoObject(t *testing.T) {
	for _, text := range []string{"", "[]", "3", `{"a":1`, `{"a" 1}`, `{} {}`, `{}x`, `{"a":01}`} {
		if o, err := ParseObject([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, o)
		}
	}
}

func FuzzParseObject(f *testing.F) {
	f.Add([]byte(`{"a":[1,null,{"b":2.0}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := ParseObject(data)
		if err != nil {
			return
		}
		once, err := AppendJSON(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseObject(once)
		if err != nil {
			t.Fatalf("%s cannot be read again: %v", once, err)
		}
		if twice, _ := AppendJSON(nil, again); !bytes.Equal(once, twice) {
			t.Errorf("%s became %s", once, twice)
		}
	})
}

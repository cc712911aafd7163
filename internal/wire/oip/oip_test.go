package oip_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"aiperf/internal/wire/oip"
)

// described finds the messages that oip.proto describes: what the protobuf library makes of them is the truth.
func described(t testing.TB) func(name string) *dynamicpb.Message {
	t.Helper()
	c := protocompile.Compiler{Resolver: &protocompile.SourceResolver{}}
	files, err := c.Compile(t.Context(), "oip.proto")
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) *dynamicpb.Message {
		return dynamicpb.NewMessage(files[0].Messages().ByName(protoreflect.Name(name)))
	}
}

func parsed(t testing.TB, m *dynamicpb.Message, wire []byte) string {
	t.Helper()
	if err := proto.Unmarshal(wire, m); err != nil {
		t.Fatalf("%v: %x", err, wire)
	}
	if len(m.GetUnknown()) > 0 {
		t.Fatalf("fields that nobody describes: %x", m.GetUnknown())
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	text, _ = json.Marshal(plain) // protojson's own spacing is not stable
	return string(text)
}

func TestRequestsAreWhatTheDescriptionSays(t *testing.T) {
	message := described(t)
	m := &oip.Message{Model: []byte("m"), Version: []byte("2"), ID: []byte("i"), Asked: [][]byte{[]byte("out")},
		Tensors: []oip.Tensor{oip.Text("text_input", "a<b", ""),
			{Name: []byte("x"), Datatype: []byte(oip.Float), Shape: []int64{2, 1}, Numbers: []float64{0.5, -2}},
			{Name: []byte("n"), Datatype: []byte("INT64"), Shape: []int64{1}, Numbers: []float64{-7}},
			{Name: []byte("u"), Datatype: []byte("UINT64"), Shape: []int64{1}, Numbers: []float64{7}},
			{Name: []byte("d"), Datatype: []byte(oip.Double), Shape: []int64{1}, Numbers: []float64{0.1}},
			{Name: []byte("b"), Datatype: []byte("BOOL"), Shape: []int64{1}, Numbers: []float64{1}}},
		Parameters: []oip.Parameter{{"max_tokens", []byte("9")}, {"t", []byte("0.5")}, {"e", []byte("true")},
			{"no", []byte("false")}, {"s", []byte(`"007"`)},
			{"l", []byte(`["x"]`)}, {"big", []byte("18446744073709551615")}, {"neg", []byte("-3")}},
	}
	want := `{"id":"i","inputs":[` +
		`{"contents":{"bytes_contents":["YTxi",""]},"datatype":"BYTES","name":"text_input","shape":["2"]},` +
		`{"contents":{"fp32_contents":[0.5,-2]},"datatype":"FP32","name":"x","shape":["2","1"]},` +
		`{"contents":{"int64_contents":["-7"]},"datatype":"INT64","name":"n","shape":["1"]},` +
		`{"contents":{"uint64_contents":["7"]},"datatype":"UINT64","name":"u","shape":["1"]},` +
		`{"contents":{"fp64_contents":[0.1]},"datatype":"FP64","name":"d","shape":["1"]},` +
		`{"contents":{"bool_contents":[true]},"datatype":"BOOL","name":"b","shape":["1"]}],` +
		`"model_name":"m","model_version":"2","outputs":[{"name":"out"}],` +
		`"parameters":{"big":{"uint64_param":"18446744073709551615"},"e":{"bool_param":true},"l":{"string_param":"[\"x\"]"},"max_tokens":{"int64_param":"9"},` +
		`"neg":{"int64_param":"-3"},"no":{"bool_param":false},"s":{"string_param":"007"},"t":{"double_param":0.5}}}`
	var plain any
	json.Unmarshal([]byte(want), &plain)
	text, _ := json.Marshal(plain)
	if got := parsed(t, message("ModelInferRequest"), m.AppendRequest(nil)); got != string(text) {
		t.Errorf("\n%s\nwant\n%s", got, text)
	}
}

// What the library writes of any message, in any order that it likes, is read.
func TestRepliesOfTheLibraryAreRead(t *testing.T) {
	message := described(t)
	for name, c := range map[string]struct {
		text, model string
		texts       []string
		numbers     []float64
		elements    int
	}{
		"texts":      {`{"model_name":"m","outputs":[{"name":"o","datatype":"BYTES","shape":["2"],"contents":{"bytes_contents":["YQ==","Yg=="]}}]}`, "m", []string{"a", "b"}, nil, 2},
		"raw texts":  {`{"model_name":"m","outputs":[{"name":"o","datatype":"BYTES","shape":["2"]}],"raw_output_contents":["AQAAAGEBAAAAYg=="]}`, "m", []string{"a", "b"}, nil, 2},
		"floats":     {`{"outputs":[{"name":"o","datatype":"FP32","shape":["1","2"],"contents":{"fp32_contents":[0.5,1]}}]}`, "", nil, []float64{0.5, 1}, 2},
		"raw floats": {`{"outputs":[{"name":"o","datatype":"FP32","shape":["1","2"]}],"raw_output_contents":["AAAAPwAAgD8="]}`, "", nil, nil, 2},
		"nothing":    {`{"outputs":[{"name":"o","datatype":"FP32","shape":["0"]}],"parameters":{"triton_final_response":{"bool_param":true}}}`, "", nil, nil, 0},
		"integers": {`{"outputs":[{"name":"o","datatype":"INT32","shape":["2"],"contents":{"int_contents":[-1,3]}}]}`,
			"", nil, []float64{-1, 3}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := message("ModelInferResponse")
			if err := protojson.Unmarshal([]byte(c.text), d); err != nil {
				t.Fatal(err)
			}
			wire, err := proto.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			var m oip.Message
			for range 2 { // the second time in the room of the first
				if err := m.ParseReply(wire); err != nil {
					t.Fatal(err)
				}
				o := &m.Tensors[0]
				var texts []string
				if string(o.Datatype) == oip.Bytes && !o.EachText(func(b []byte) { texts = append(texts, string(b)) }) {
					t.Error("the texts are broken")
				}
				if len(m.Tensors) != 1 || string(m.Model) != c.model || !slices.Equal(texts, c.texts) ||
					!slices.Equal(o.Numbers, c.numbers) || string(o.Datatype) != oip.Bytes &&
					o.Elements() != c.elements {
					t.Errorf("%+v: %d elements", m, o.Elements())
				}
			}
		})
	}
}

func TestStreamRepliesAndReadiness(t *testing.T) {
	message := described(t)
	reply := &oip.Message{Tensors: []oip.Tensor{oip.Text("o", "x")}}
	if got := parsed(t, message("ModelStreamInferResponse"),
		oip.AppendStreamReply(nil, reply,
			"")); got != `{"infer_response":{"outputs":[{"contents":{"bytes_contents":["eA=="]},`+
		`"datatype":"BYTES","name":"o","shape":["1"]}]}}` {
		t.Error(got)
	}
	if got := parsed(t, message("ModelStreamInferResponse"),
		oip.AppendStreamReply(nil, nil, "bad")); got != `{"error_message":"bad"}` {
		t.Error(got)
	}
	var m oip.Message
	if fault, err := m.ParseStreamReply(oip.AppendStreamReply(nil, reply, "f")); err != nil || string(fault) != "f" ||
		len(m.Tensors) != 1 {
		t.Error(string(fault), err, m)
	}
	if got := parsed(t, message("ModelReadyRequest"), oip.AppendModelName(nil, "m")); got != `{"name":"m"}` {
		t.Error(got)
	}
	if model, err := oip.ParseModelName(oip.AppendModelName(nil, "m")); model != "m" || err != nil {
		t.Error(model, err)
	}
	if got := parsed(t, message("ServerReadyResponse"), oip.AppendReady(nil, true)); got != `{"ready":true}` {
		t.Error(got)
	}
	for _, want := range []bool{true, false} {
		if got, err := oip.ParseReady(oip.AppendReady(nil, want)); got != want || err != nil {
			t.Error(got, err)
		}
	}
}

func TestBothFormsSayTheSame(t *testing.T) {
	const body = `{"id":"7","inputs":[{"name":"text_input","shape":[2],"datatype":"BYTES","data":["a\n\"é","b"]},{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2.5]}],"outputs":[{"name":"o"}],"parameters":{"z":1,"a":[true],"t":0.5,"s":"q"}}`
	m, err := oip.RequestFromJSON([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.AppendRequestJSON(nil)); got != body {
		t.Errorf("\n%s\nwant\n%s", got, body)
	}
	var back oip.Message
	if err := back.ParseRequest(m.AppendRequest(nil)); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(body, `"a":[true]`, `"a":"[true]"`, 1) // there are no lists among parameters
	if got := string(back.AppendRequestJSON(nil)); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

func TestNestedDataAreFlattened(t *testing.T) {
	m, err := oip.RequestFromJSON([]byte(
		`{"inputs":[{"name":"x","shape":[2,2],"datatype":"INT32","data":[[1,2],[3,4]]}]}`))
	if err != nil || !slices.Equal(m.Tensors[0].Numbers, []float64{1, 2, 3, 4}) {
		t.Error(m, err)
	}
	for _, body := range []string{`{}`, `[]`, `{"inputs":[{"name":"x"}]}`, `{"inputs":[{"name":"x","data":[null]}]}`,
		`{"inputs":[{"name":"x","data":[{}]}]}`,
		`{"inputs":[{"name":"x","data":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}]}`} {
		if m, err := oip.RequestFromJSON([]byte(body)); err == nil {
			t.Errorf("%s is read as %+v", body, m)
		}
	}
}

func TestBrokenMessagesAreErrors(t *testing.T) {
	whole := (&oip.Message{Model: []byte("m"), Tensors: []oip.Tensor{oip.Text("o", "some text")}}).AppendReply(nil)
	var m oip.Message
	for i := range len(whole) - 1 {
		if err := m.ParseReply(whole[:i+1]); err == nil && len(m.Tensors) > 0 {
			t.Errorf("the first %d bytes are a message: %+v", i+1, m)
		}
	}
	raw := oip.Tensor{Name: []byte("o"), Datatype: []byte(oip.Bytes),
		Raw: binary.LittleEndian.AppendUint32(nil, math.MaxUint32)}
	if err := m.ParseReply((&oip.Message{Tensors: []oip.Tensor{raw}}).AppendReply(nil)); err != nil {
		t.Fatal(err)
	}
	if m.Tensors[0].EachText(func([]byte) {}) {
		t.Error("a text that is longer than its tensor is read")
	}
	two := append((&oip.Message{Tensors: []oip.Tensor{raw}}).AppendReply(nil), (&oip.Message{}).AppendReply(nil)...)
	const rawOutput = 6 // the field of the raw contents of a reply, as oip.proto has it
	two = protowire.AppendBytes(protowire.AppendTag(two, rawOutput, protowire.BytesType), nil)
	if err := m.ParseReply(two); err == nil {
		t.Error("two raw contents for one tensor")
	}
}

// readable reports whether the library reads data into m. Its reader by reflection panics where the key of a map
// is followed by a second one of another type.
func readable(data []byte, m proto.Message) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	return proto.Unmarshal(data, m) == nil
}

// Any bytes that the library reads as a reply are read here, and say the same.
func FuzzReplies(f *testing.F) {
	message := described(f)
	f.Add((&oip.Message{Model: []byte("m"), Tensors: []oip.Tensor{oip.Text("o", "a", "b")}}).AppendReply(nil))
	f.Add((&oip.Message{Tensors: []oip.Tensor{{Name: []byte("x"), Datatype: []byte(oip.Float), Shape: []int64{1},
		Raw: []byte{0, 0, 0, 63}}}}).AppendReply(nil))
	f.Add(oip.AppendStreamReply(nil, &oip.Message{Tensors: []oip.Tensor{oip.Text("o", "a")}}, "e"))
	f.Add([]byte("\x22\x05\x0a\x01a\x08\x01")) // a parameter named twice, the second time by a number
	f.Fuzz(func(t *testing.T, data []byte) {
		var m oip.Message
		err := m.ParseReply(data)
		m.ParseStreamReply(data) // must not panic
		if err2 := m.ParseReply(data); (err == nil) != (err2 == nil) {
			t.Fatal("the second reading differs")
		}
		for i := range m.Tensors {
			m.Tensors[i].Elements()
			m.Tensors[i].EachText(func([]byte) {})
		}
		m.AppendRequestJSON(nil)
		d := message("ModelInferResponse")
		if !readable(data, d) || err != nil {
			return
		}
		outputs := d.Descriptor().Fields().ByName("outputs")
		list := d.Get(outputs).List()
		if list.Len() != len(m.Tensors) {
			t.Fatalf("%d outputs, want %d", len(m.Tensors), list.Len())
		}
		for i := range list.Len() {
			o := list.Get(i).Message()
			name := o.Get(o.Descriptor().Fields().ByName("name")).String()
			if name != string(m.Tensors[i].Name) {
				t.Fatalf("output %q, want %q", m.Tensors[i].Name, name)
			}
		}
	})
}

func FuzzRequestsFromJSON(f *testing.F) {
	message := described(f)
	f.Add([]byte(`{"inputs":[{"name":"x","shape":[1],"datatype":"BYTES","data":["a"]}],"parameters":{"a":1}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := oip.RequestFromJSON(body)
		if err != nil {
			return
		}
		if err := proto.Unmarshal(m.AppendRequest(nil), message("ModelInferRequest")); err != nil {
			t.Fatalf("%q makes a message that cannot be read: %v", body, err)
		}
		if !json.Valid(m.AppendRequestJSON(nil)) {
			t.Fatalf("%q makes a body that is no JSON", body)
		}
	})
}

func BenchmarkParseStreamReply(b *testing.B) {
	wire := oip.AppendStreamReply(nil, &oip.Message{Model: []byte("model"), ID: []byte("0123456789abcdef"),
		Tensors: []oip.Tensor{oip.Text("text_output", " word")}}, "")
	var m oip.Message
	var out bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.ParseStreamReply(wire); err != nil {
			b.Fatal(err)
		}
		out.Reset()
		m.Tensors[0].EachText(func(text []byte) { out.Write(text) })
	}
}

func TestPackedTensorsHoldTheSame(t *testing.T) {
	texts := oip.Text("o", "a", "", "é")
	texts.Pack()
	var got []string
	if !texts.EachText(func(b []byte) { got = append(got, string(b)) }) || !slices.Equal(got, []string{"a", "", "é"}) {
		t.Error(got)
	}
	floats := oip.Tensor{Datatype: []byte(oip.Float), Shape: []int64{2}, Numbers: []float64{0.5, 1}}
	floats.Pack()
	if !bytes.Equal(floats.Raw, []byte{0, 0, 0, 63, 0, 0, 128, 63}) || floats.Elements() != 2 {
		t.Errorf("%x", floats.Raw)
	}
	integers := oip.Tensor{Datatype: []byte("INT8"), Numbers: []float64{1}}
	if integers.Pack(); integers.Raw != nil || len(integers.Numbers) != 1 {
		t.Error("integers are packed")
	}
}

package endpoint

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/wire/oip"
	"aiperf/internal/workload/dataset"
)

func TestTensorsThatCannotBeSentAreNamed(t *testing.T) {
	for value, says := range map[string]string{
		`{"datatype":"FP16","data":[1]}`:                "FP16",
		`{"datatype":"INT32","data":["a"]}`:             "INT32",
		`{"datatype":"BYTES","data":["a",1]}`:           "BYTES",
		`{"datatype":"BOOL","data":[true],"shape":[2]}`: "shape [2]",
		`{"datatype":"BOOL","data":{}}`:                 "not an element",
	} {
		e, err := New("kserve_v2_infer", Options{Model: "m", Extra: extra("x", value)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Encode(kserveContext(0, "a")); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "extra input x") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestInferenceBodies(t *testing.T) {
	limit := 4
	pair := &dataset.Turn{Texts: namedTexts("query", "q", "passages", "p1|p2"), MaxTokens: &limit}
	for _, c := range []struct {
		name, api string
		extra     []dataset.Field
		turn      *dataset.Turn
		want      string
		text      string
		images    int
	}{
		{"embeddings", "kserve_v2_embeddings", nil, &dataset.Turn{Texts: media("a", "", "b"), MaxTokens: &limit},
			`{"inputs":[{"name":"text_input","shape":[2],"datatype":"BYTES","data":["a","b"]}]}`, "a b", 0},
		{"rankings", "kserve_v2_rankings", extra("v2_query_name", `"Q"`, "v2_output_name", `"s"`, "top", "3"), pair,
			`{"inputs":[{"name":"Q","shape":[1],"datatype":"BYTES","data":["q"]},{"name":"passages","shape":[2],"datatype":"BYTES","data":["p1","p2"]}],"outputs":[{"name":"s"}],"parameters":{"top":3}}`, "q p1 p2", 0},
		{"vlm", "kserve_v2_vlm", extra("v2_image_name", `"pixels"`),
			&dataset.Turn{Texts: media("see"), Images: media(pngURI, jpegURI), MaxTokens: &limit},
			`{"inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","data":["see"]},{"name":"pixels","shape":[2],"datatype":"BYTES","data":["` + strings.TrimPrefix(pngURI, "data:image/png;base64,") + `","` + strings.TrimPrefix(jpegURI, "data:image/jpeg;base64,") + `"]}],"parameters":{"max_tokens":4}}`, "see", 2},
		{"vlm with the tensor of a URL", "kserve_v2_vlm", extra("v2_image_name", `"image_url"`),
			&dataset.Turn{Texts: media("see"), Images: media(pngURI, "http://h/p.png")},
			`{"inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","data":["see"]},{"name":"image_url","shape":[2],"datatype":"BYTES","data":["` + pngURI + `","http://h/p.png"]}]}`, "see", 2},
		{"tensors of one's own", "kserve_v2_infer",
			extra("stream", `{"datatype":"BOOL","data":[true]}`, "shape",
				`{"datatype":"INT32","data":[[1,-2]],"shape":[1,2]}`, "seed", "7"), &dataset.Turn{Texts: media("a")},
			`{"inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","data":["a"]},{"name":"stream","shape":[1],"datatype":"BOOL","data":[true]},{"name":"shape","shape":[1,2],"datatype":"INT32","data":[1,-2]}],"parameters":{"seed":7}}`, "a", 0},
		{"vlm without pictures", "kserve_v2_vlm", nil, &dataset.Turn{Texts: media("see")},
			`{"inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","data":["see"]}]}`, "see", 0},
		{"images", "kserve_v2_images", extra("v2_input_name", `"PROMPT"`),
			&dataset.Turn{Texts: media("a cat"), MaxTokens: &limit},
			`{"inputs":[{"name":"PROMPT","shape":[1],"datatype":"BYTES","data":["a cat"]}]}`, "a cat", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, grpc := range []bool{false, true} {
				e, err := New(c.api, Options{Model: "m", Extra: c.extra, GRPC: grpc})
				if err != nil {
					t.Fatal(err)
				}
				body, err := e.Encode(&Context{Turns: []Turn{{Turn: c.turn}}})
				if err != nil || string(body.JSON()) != c.want || body.Message() != grpc {
					t.Fatalf("%v\n%s\nwant\n%s", err, body.JSON(), c.want)
				}
				if images, _ := body.Media(); images != c.images {
					t.Errorf("%d images", images)
				}
				if text, _ := body.input(); text != c.text {
					t.Errorf("counted is %q", text)
				}
				if !grpc {
					continue
				}
				var m oip.Message
				if err := m.ParseRequest(body.Bytes); err != nil || string(m.Model) != "m" ||
					string(m.AppendRequestJSON(nil)) != c.want {
					t.Errorf("%v: the message says %s", err, m.AppendRequestJSON(nil))
				}
			}
		})
	}
	e, _ := New("kserve_v2_rankings", Options{GRPC: true})
	if _, err := e.Encode(kserveContext(0, "no query")); err == nil {
		t.Error("a ranking without a query is encoded")
	}
}

func TestRecordedPayloadsBecomeMessages(t *testing.T) {
	const payload = `{"inputs":[{"name":"x","shape":[1],"datatype":"INT32","data":[7]}]}`
	e, _ := New("kserve_v2_infer", Options{GRPC: true, Model: "m"})
	body, err := Recorded(e, []byte(payload))
	if err != nil || string(body.JSON()) != payload {
		t.Fatal(err, body)
	}
	var m oip.Message
	if err := m.ParseRequest(body.Bytes); err != nil || string(m.Model) != "m" ||
		!slices.Equal(m.Tensors[0].Numbers, []float64{7}) {
		t.Errorf("%v: %+v", err, m)
	}
	if _, err := Recorded(e, []byte(`{"messages":[]}`)); err == nil {
		t.Error("a payload of another API is sent")
	}
	plain, _ := New("kserve_v2_infer", Options{})
	if body, err := Recorded(plain, []byte(payload)); err != nil || string(body.Bytes) != payload {
		t.Errorf("over HTTP: %v", err)
	}
}

// inferReply is a reply of tensors in both forms.
type inferReply struct {
	json string
	m    oip.Message
}

func TestInferenceReplies(t *testing.T) {
	numbers := func(name string, shape ...int64) oip.Tensor {
		x := oip.Tensor{Name: []byte(name), Datatype: []byte(oip.Float), Shape: shape}
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		for range n {
			x.Numbers = append(x.Numbers, 0.5)
		}
		return x
	}
	rawFloats := oip.Tensor{Name: []byte("scores"), Datatype: []byte(oip.Float), Shape: []int64{1},
		Raw: binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5))}
	rawText := oip.Tensor{Name: []byte("text_output"), Datatype: []byte(oip.Bytes), Shape: []int64{1},
		Raw: []byte{2, 0, 0, 0, 'h', 'i'}}
	cut := oip.Tensor{Name: []byte("text_output"), Datatype: []byte(oip.Bytes), Shape: []int64{1},
		Raw: []byte{9, 0, 0, 0, 'h', 'i'}}
	message := func(tensors ...oip.Tensor) oip.Message { return oip.Message{Tensors: tensors} }
	for _, c := range []struct {
		name, api string
		reply     inferReply
		output    string
		images    int
		content   bool
		malformed int
	}{
		{"text by name", "kserve_v2_infer",
			inferReply{`{"outputs":[{"name":"x","datatype":"BYTES","data":["no"]},{"name":"text_output","datatype":"BYTES","data":["yes","!"]}]}`,
				message(oip.Text("x", "no"), oip.Text("text_output", "yes", "!"))}, "yes!", 0, true, 0},
		{"the only text", "kserve_v2_vlm",
			inferReply{`{"outputs":[{"name":"x","datatype":"BYTES","data":["a"]},{"name":"p","datatype":"FP32","data":[0.1]}]}`,
				message(oip.Text("x", "a"), numbers("p", 1))}, "a", 0, true, 0},
		{"no text among two", "kserve_v2_infer",
			inferReply{`{"outputs":[{"name":"x","datatype":"BYTES","data":["a"]},{"name":"y","datatype":"BYTES","data":["b"]}]}`,
				message(oip.Text("x", "a"), oip.Text("y", "b"))}, "", 0, false, 0},
		{"an empty text", "kserve_v2_infer",
			inferReply{`{"outputs":[{"name":"text_output","datatype":"BYTES","data":[""]}]}`,
				message(oip.Text("text_output", ""))}, "", 0, false, 0},
		{"raw text", "kserve_v2_infer", inferReply{"", message(rawText)}, "hi", 0, true, 0},
		{"raw text that is cut", "kserve_v2_infer", inferReply{"", message(cut)}, "", 0, false, 1},
		{"embeddings", "kserve_v2_embeddings",
			inferReply{`{"outputs":[{"name":"embedding","datatype":"FP32","shape":[1,2],"data":[0.5,0.5]}]}`,
				message(numbers("embedding", 1, 2))}, "", 0, true, 0},
		{"no embeddings", "kserve_v2_embeddings",
			inferReply{`{"outputs":[{"name":"embedding","datatype":"FP32","shape":[0],"data":[]}]}`,
				message(numbers("embedding", 0))}, "", 0, false, 0},
		{"text where numbers are due", "kserve_v2_embeddings",
			inferReply{`{"outputs":[{"name":"x","datatype":"BYTES","shape":[1],"data":["a"]}]}`,
				message(oip.Text("x", "a"))}, "", 0, false, 0},
		{"scores", "kserve_v2_rankings",
			inferReply{`{"outputs":[{"name":"other","datatype":"FP32","shape":[1],"data":[0.5]}]}`,
				message(numbers("other", 1))}, "", 0, true, 0},
		{"raw scores", "kserve_v2_rankings", inferReply{"", message(rawFloats)}, "", 0, true, 0},
		{"images as texts", "kserve_v2_images",
			inferReply{`{"outputs":[{"name":"image","datatype":"BYTES","shape":[3],"data":["aa","","bb"]}]}`,
				message(oip.Text("image", "aa", "", "bb"))}, "", 2, true, 0},
		{"images as numbers", "kserve_v2_images",
			inferReply{`{"outputs":[{"name":"any","datatype":"FP32","shape":[2,1,1,3],"data":[0.5,0.5,0.5,0.5,0.5,0.5]}]}`, message(numbers("any", 2, 1, 1, 3))}, "", 2, true, 0},
		{"one image", "kserve_v2_images",
			inferReply{`{"outputs":[{"name":"any","datatype":"FP32","shape":[1,1,3],"data":[0.5,0.5,0.5]}]}`,
				message(numbers("any", 1, 1, 3))}, "", 1, true, 0},
		{"no image", "kserve_v2_images", inferReply{`{"outputs":[]}`, message()}, "", 0, false, 0},
	} {
		check := func(t *testing.T, d Decoder) {
			t.Helper()
			r := d.Reply()
			if string(r.Output) != c.output || r.Images != c.images || (len(r.ContentNS) == 1) != c.content ||
				r.Malformed != c.malformed || !r.Finished || r.Err != nil {
				t.Errorf("%+v", r)
			}
			if c.content && (r.ContentNS[0] != 9 || r.FirstOutputNS != 9) {
				t.Errorf("instants %v, %d", r.ContentNS, r.FirstOutputNS)
			}
		}
		if c.reply.json != "" {
			t.Run(c.name+" over HTTP", func(t *testing.T) {
				e, _ := New(c.api, Options{})
				d := e.NewDecoder()
				d.Body("application/json", false, []byte(c.reply.json), 9)
				check(t, d)
				d.Release()
			})
		}
		t.Run(c.name+" over gRPC", func(t *testing.T) {
			for _, streaming := range []bool{false, true} {
				e, err := New(c.api, Options{GRPC: true, Streaming: streaming})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second time with what the first one left
					d := e.NewDecoder()
					heard := 0
					d.OnFirstContent(func() { heard++ })
					wire := c.reply.m.AppendReply(nil)
					if streaming {
						wire = oip.AppendStreamReply(nil, &c.reply.m, "")
					}
					d.Event(nil, wire, 9)
					check(t, d)
					if (heard == 1) != c.content {
						t.Errorf("the first content was told %d times", heard)
					}
					d.Release()
				}
			}
		})
	}
}

func TestAStreamOfMessages(t *testing.T) {
	e, _ := New("kserve_v2_infer", Options{GRPC: true, Streaming: true})
	d := e.NewDecoder()
	for i, text := range []string{"a", "", " b"} {
		m := &oip.Message{Tensors: []oip.Tensor{oip.Text("text_output", text)}}
		d.Event(nil, oip.AppendStreamReply(nil, m, ""), int64(i+1))
	}
	d.Event(nil, oip.AppendStreamReply(nil, &oip.Message{}, ""), 4) // how some servers end a stream
	if r := d.Reply(); string(r.Output) != "a b" || !slices.Equal(r.ContentNS, []int64{1, 3}) || r.Err != nil {
		t.Errorf("%+v", r)
	}
	d.Event(nil, oip.AppendStreamReply(nil, nil, "out of memory"), 5)
	d.Event(nil, []byte{0xff}, 6)
	if r := d.Reply(); r.Err == nil || r.Err.Message != "out of memory" || r.Err.Code != 502 ||
		r.Err.Type == "" || r.Malformed != 1 {
		t.Errorf("%+v", r)
	}
}

func FuzzInferenceMessages(f *testing.F) {
	f.Add(oip.AppendStreamReply(nil, &oip.Message{Tensors: []oip.Tensor{oip.Text("text_output", "a")}}, ""), true)
	f.Add((&oip.Message{Tensors: []oip.Tensor{oip.Text("image", "a")}}).AppendReply(nil), false)
	f.Fuzz(func(t *testing.T, data []byte, streaming bool) {
		for api := range inferenceKinds {
			e, err := New(api, Options{GRPC: true, Streaming: streaming})
			if err != nil {
				t.Fatal(err)
			}
			d := e.NewDecoder()
			d.Event(nil, bytes.Clone(data), 1)
			if r := d.Reply(); len(r.ContentNS) > 1 || r.Images < 0 {
				t.Fatalf("%+v", r)
			}
			d.Release()
		}
	})
}

// The messages of a streamed reply are decoded without allocating.
func BenchmarkInferenceMessage(b *testing.B) {
	e, _ := New("kserve_v2_infer", Options{GRPC: true, Streaming: true})
	wire := oip.AppendStreamReply(nil,
		&oip.Message{Model: []byte("model"), Tensors: []oip.Tensor{oip.Text("text_output", " word")}}, "")
	d := e.NewDecoder()
	r := d.Reply()
	b.ReportAllocs()
	for b.Loop() {
		d.Event(nil, wire, 1)
		if len(r.ContentNS) == 1000 {
			r.ContentNS, r.Output = r.ContentNS[:0], r.Output[:0]
		}
	}
}

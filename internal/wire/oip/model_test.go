package oip_test

import (
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"aiperf/internal/wire/oip"
)

func TestShapesOfElements(t *testing.T) {
	for _, c := range []struct {
		declared      []int64
		n, rows       int64
		shape, inRows []int64 // nil: the elements do not fit
	}{
		{nil, 3, 1, []int64{3}, []int64{3}},
		{[]int64{-1}, 3, 2, []int64{3}, []int64{3}},
		{[]int64{1}, 1, 2, []int64{1}, []int64{1}},
		{[]int64{1}, 2, 1, nil, nil},
		{[]int64{-1, 1}, 1, 4, []int64{1, 1}, []int64{4, 1}},
		{[]int64{-1, 1}, 4, 1, []int64{4, 1}, nil},
		{[]int64{-1, -1}, 4, 1, []int64{4, 1}, []int64{1, 4}},
		{[]int64{1, -1}, 4, 1, []int64{1, 4}, []int64{1, 4}},
		{[]int64{-1, 2, -1}, 4, 3, []int64{2, 2, 1}, []int64{3, 2, 2}},
		{[]int64{-1, 2}, 3, 1, nil, nil},
		{[]int64{0}, 1, 1, nil, nil},
	} {
		in := oip.Input{Shape: c.declared}
		shape, ok := in.Fit(c.n)
		if ok != (c.shape != nil) || ok && !slices.Equal(shape, c.shape) {
			t.Errorf("%d in %v: %v, %t", c.n, c.declared, shape, ok)
		}
		shape, ok = in.FitRow(c.n, c.rows)
		if ok != (c.inRows != nil) || ok && !slices.Equal(shape, c.inRows) {
			t.Errorf("%d in %v, %d rows: %v, %t", c.n, c.declared, c.rows, shape, ok)
		}
	}
}

// The metadata of a model and its configuration are what the protobuf library makes of oip.proto, and what Triton sends
// as JSON.
func TestMetadataOfAModel(t *testing.T) {
	want := &oip.Model{Name: "trtllm", Configured: true, Inputs: []oip.Input{
		{Name: "text_input", Datatype: "BYTES", Shape: []int64{-1, 1}},
		{Name: "stream", Datatype: "BOOL", Shape: []int64{-1, 1}, Optional: true},
	}}
	const (
		metadata = `{"name":"trtllm","versions":["1"],"platform":"python","inputs":[{"name":"text_input","datatype":"BYTES","shape":[-1,1]},` +
			`{"name":"stream","datatype":"BOOL","shape":[-1,1]}],"outputs":[{"name":"text_output","datatype":"BYTES","shape":[-1,-1]}]}`
		config = `{"name":"trtllm","input":[{"name":"text_input","optional":false},{"name":"stream","optional":true}]}`
	)
	message := described(t)
	wire := func(name, text string) []byte {
		d := message(name)
		if err := protojson.Unmarshal([]byte(text), d); err != nil {
			t.Fatal(err)
		}
		b, err := proto.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	called, err := oip.ParseModelMetadata(wire("ModelMetadataResponse", metadata))
	if err != nil || called == nil || called.Configured {
		t.Fatal(called, err)
	}
	if err := called.ParseModelConfig(wire("ModelConfigResponse", `{"config":`+config+`}`)); err != nil {
		t.Fatal(err)
	}
	asked := oip.ModelFromJSON([]byte(metadata))
	asked.ConfigureFromJSON([]byte(config))
	own := oip.ModelFromJSON(want.AppendMetadataJSON(nil))
	own.ConfigureFromJSON(want.AppendConfigJSON(nil))
	back, err := oip.ParseModelMetadata(want.AppendModelMetadata(nil))
	if err != nil || back.ParseModelConfig(want.AppendModelConfig(nil)) != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]*oip.Model{"calls": called, "JSON": asked, "own JSON": own, "own calls": back} {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := parsed(t, message("ModelConfigResponse"), want.AppendModelConfig(nil)); got !=
		`{"config":{"input":[{"name":"text_input"},{"name":"stream","optional":true}]}}` {
		t.Error(got)
	}
	for _, nothing := range []string{``, `[]`, `{}`, `{"inputs":[]}`, `{"outputs":[{"name":"o"}]}`, `{"inputs":[{"name":"x"}]}`} {
		if got := oip.ModelFromJSON([]byte(nothing)); got != nil {
			t.Errorf("%s: %+v", nothing, got)
		}
	}
	if m, err := oip.ParseModelMetadata([]byte{0xff}); m != nil || err == nil {
		t.Error(m, err)
	}
}

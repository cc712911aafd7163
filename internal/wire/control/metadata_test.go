package control_test

import (
	"slices"
	"testing"
)

func TestInputsOfAModel(t *testing.T) {
	const metadata = `200 {"name":"m","inputs":[{"name":"text_input","datatype":"BYTES","shape":[-1,1]}]}`
	for _, c := range []struct {
		name, inference string
		replies         map[string][]string
		asked           []string
		found, optional bool
	}{
		{"metadata and configuration", "http://h:1/v2/models/a%2Fb/infer?k=1",
			map[string][]string{"GET http://h:1/v2/models/a%2Fb?k=1": {metadata},
				"GET http://h:1/v2/models/a%2Fb/config?k=1": {`200 {"input":[{"name":"text_input","optional":true}]}`}},
			[]string{"GET http://h:1/v2/models/a%2Fb?k=1", "GET http://h:1/v2/models/a%2Fb/config?k=1"}, true, true},
		{"no configuration", "http://h:1/p/v2/models/m/versions/2/infer",
			map[string][]string{"GET http://h:1/p/v2/models/m/versions/2": {metadata},
				"GET http://h:1/p/v2/models/m/versions/2/config": {"404"}},
			[]string{"GET http://h:1/p/v2/models/m/versions/2", "GET http://h:1/p/v2/models/m/versions/2/config"}, true,
			false},
		{"no metadata", "http://h:1/v2/models/m/infer", map[string][]string{"GET http://h:1/v2/models/m": {"404"}},
			[]string{"GET http://h:1/v2/models/m"}, false, false},
		{"metadata without inputs", "http://h:1/v2/models/m/infer",
			map[string][]string{"GET http://h:1/v2/models/m": {`200 {"name":"m","inputs":[]}`}},
			[]string{"GET http://h:1/v2/models/m"}, false, false},
		{"nobody there", "http://h:1/v2/models/m/infer", nil, []string{"GET http://h:1/v2/models/m"}, false, false},
		{"a path of the user's own", "http://h:1/v2/models/m/generate", nil, nil, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{replies: c.replies}
			o := options(s)
			m := o.ModelInputs(t.Context(), c.inference, "m", false)
			if (m != nil) != c.found || !slices.Equal(s.asked, c.asked) {
				t.Fatalf("%+v, asked %q", m, s.asked)
			}
			if m != nil && (m.Inputs[0].Optional != c.optional || m.Configured != c.optional) {
				t.Errorf("%+v", m)
			}
		})
	}
}

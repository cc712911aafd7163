package inputconfig

import (
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/schema"
)

func TestUnknownKeysAreSplitOffAtAnyDepth(t *testing.T) {
	known, further := split(Object{
		{Key: "new", Value: int64(1)},
		{Key: "endpoint", Value: Object{{Key: "type", Value: "chat"},
			{Key: "tls", Value: Object{{Key: "a", Value: "b"}}},
			{Key: "extra", Value: Object{{Key: "any", Value: int64(2)}}}}},
		{Key: "phases", Value: []any{Object{{Key: "name", Value: "warmup"}, {Key: "type", Value: "poisson"}},
			Object{{Key: "name", Value: "profiling"}, {Key: "own", Value: true}}}},
	}, schema.Body(), "")
	if got, want := jsonText(t, known),
		`{"endpoint":{"type":"chat","extra":{"any":2}},"phases":[{"name":"warmup","type":"poisson"},{"name":"profiling"}]}`; got != want {
		t.Errorf("known %s, want %s", got, want)
	}
	if got, want := jsonText(t, further),
		`{"new":1,"endpoint":{"tls":{"a":"b"}},"phases":{"profiling":{"own":true}}}`; got != want {
		t.Errorf("further %s, want %s", got, want)
	}
}

func TestTemplateStandsApartFromTheExtraInputs(t *testing.T) {
	extra := Object{{Key: "response_field", Value: "a.b"}, {Key: "k", Value: int64(1)},
		{Key: "payload_template", Value: "{{ text }}"}}
	template, rest := templateConfig("template", extra)
	if got := jsonText(t, template) + jsonText(t, rest); got != `{"body":"{{ text }}","response_field":"a.b"}{"k":1}` {
		t.Errorf("got %s", got)
	}
	if template, rest := templateConfig("chat", extra); template != nil || len(rest) != 3 {
		t.Errorf("got %v, %v", template, rest)
	}
}

func jsonText(t *testing.T, o Object) string {
	t.Helper()
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

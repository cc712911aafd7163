package file_test

import (
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/file"
	"aiperf/internal/config/settings"
)

func TestUnknownKeysAreSplitOffAtAnyDepth(t *testing.T) {
	known, further := file.SplitBody(file.Object{
		{Key: "new", Value: int64(1)},
		{Key: "endpoint", Value: file.Object{{Key: "type", Value: "chat"},
			{Key: "urls", Value: []any{"a", file.Object{{Key: "url", Value: "b"},
				{Key: "headers", Value: file.Object{{Key: "X", Value: "y"}}}}}},
			{Key: "tls", Value: file.Object{{Key: "a", Value: "b"}}},
			{Key: "extra", Value: file.Object{{Key: "any", Value: int64(2)}}}}},
		{Key: "phases", Value: []any{
			file.Object{{Key: "name", Value: "warmup"}, {Key: "type", Value: "poisson"}},
			file.Object{{Key: "name", Value: "profiling"}, {Key: "own", Value: true}}}},
	})
	if got, want := jsonText(t, known),
		`{"endpoint":{"type":"chat","urls":["a","b"],"extra":{"any":2}},"phases":[{"name":"warmup","type":"poisson"},{"name":"profiling"}]}`; got != want {
		t.Errorf("known %s, want %s", got, want)
	}
	if got, want := jsonText(t, further),
		`{"new":1,"endpoint":{"urls":{"1":{"url":"b","headers":{"X":"y"}}},"tls":{"a":"b"}},"phases":{"profiling":{"own":true}}}`; got != want {
		t.Errorf("further %s, want %s", got, want)
	}
}

func TestTemplateStandsApartFromTheExtraInputs(t *testing.T) {
	extra := file.Object{{Key: "response_field", Value: "a.b"}, {Key: "k", Value: int64(1)},
		{Key: "payload_template", Value: "{{ text }}"}}
	for kind, want := range map[string]string{
		"template": `{"urls":[],"type":"template","template":{"body":"{{ text }}","response_field":"a.b"},` +
			`"extra":{"k":1}}`,
		"chat": `{"urls":[],"type":"chat","extra":{"response_field":"a.b","k":1,` +
			`"payload_template":"{{ text }}"}}`,
	} {
		r := asked(config.Run{Endpoint: config.Endpoint{Type: kind, Extra: extra}})
		endpoint, _ := file.Exported(r).Get("endpoint")
		if got := jsonText(t, endpoint.(file.Object)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// asked returns a run for which nobody gave a setting.
func asked(r config.Run) *config.Run {
	r.Asked = settings.New(func(string) (string, bool) { return "", false })
	return &r
}

func jsonText(t *testing.T, o file.Object) string {
	t.Helper()
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

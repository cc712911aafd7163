package control_test

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/wire/control"
)

func TestListOfModelsIsFoundFromAnyBaseURL(t *testing.T) {
	const list = `200 {"data":[{"id":"a"},{"id":"b"}]}`
	for _, c := range []struct {
		name, base string
		replies    map[string][]string
		asked      []string
		from       string // or the error
	}{
		{"the origin", "http://h:1", map[string][]string{models: {list}}, []string{models}, "http://h:1/v1/models"},
		{"the base of the API", "http://h:1/v1/", map[string][]string{models: {list}}, []string{models},
			"http://h:1/v1/models"},
		{"the address of a request", "http://h:1/v1/chat/completions", map[string][]string{models: {list}},
			[]string{models}, "http://h:1/v1/models"},
		{"https and a path before it", "https://h/openai/v1",
			map[string][]string{"GET https://h/openai/v1/models": {list}},
			[]string{"GET https://h/openai/v1/models"}, "https://h/openai/v1/models"},
		{"a path that the list does not have", "http://h:1/gateway",
			map[string][]string{"GET http://h:1/gateway/v1/models": {"404 no"}, models: {list}},
			[]string{"GET http://h:1/gateway/v1/models", models}, "http://h:1/v1/models"},
		{"a password and a key", "http://joe:pw@h:1/v1", map[string][]string{"GET http://joe:pw@h:1/v1/models": {list}},
			[]string{"GET http://joe:pw@h:1/v1/models"}, "http://h:1/v1/models"},
		{"no list", "http://h:1", map[string][]string{models: {"200 <html>"}}, []string{models},
			"not a list of models"},
		{"refused credentials", "http://h:1", map[string][]string{models: {"401 who \x1b[31mare you"}},
			[]string{models}, "401 Unauthorized: who \\x1b[31mare you"},
		{"nobody there", "http://h:1/x", map[string][]string{}, []string{"GET http://h:1/x/v1/models"},
			"Cannot connect"},
		{"no URL", "::", nil, nil, "no host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{replies: c.replies}
			names, from, err := options(s).ListModels(t.Context(), c.base)
			if err != nil {
				if !strings.Contains(err.Error(), c.from) || strings.Contains(err.Error(), "pw") {
					t.Errorf("error %v, want %q", err, c.from)
				}
			} else if from != c.from || !slices.Equal(names, []string{"a", "b"}) {
				t.Errorf("%q from %s, want %s", names, from, c.from)
			}
			if !slices.Equal(s.asked, c.asked) {
				t.Errorf("asked %q, want %q", s.asked, c.asked)
			}
		})
	}
}

// The length of the context is that of the model that is asked for.
func TestContextOfAModel(t *testing.T) {
	s := &script{replies: map[string][]string{models: {`200 {"data":[{"id":"a","max_model_len":4096},{"id":"b"}]}`,
		`200 {"data":[{"id":"a","max_model_len":4096},{"id":"b"}]}`, `404 no`}}}
	for _, c := range []struct {
		model string
		want  int64
	}{{"a", 4096}, {"b", 0}, {"a", 0}} {
		if got, _ := options(s).ModelContext(t.Context(), "http://h:1", c.model); got != c.want {
			t.Errorf("%s: %d, want %d", c.model, got, c.want)
		}
	}
}

func TestModelsInAMessageAreBounded(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "no model"},
		{[]string{"a"}, "the model a"},
		{[]string{"a", "b\x1b[2J"}, "2 models: a, b\\x1b[2J"},
		{slices.Repeat([]string{"m"}, 23), "23 models: " + strings.Repeat("m, ", 19) + "m and 3 more"},
		{[]string{strings.Repeat("x", 200)}, "the model " + strings.Repeat("x", 100) + "…"},
	} {
		if got := control.Listed(c.names); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

package endpoint_test

import (
	"encoding/json"
	"strings"
	"testing"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/oip"
	"aiperf/internal/workload/dataset"
)

// modelOf describes a model: "name TYPE 1,-1" for each input; a question mark behind the name may be left out.
func modelOf(t *testing.T, inputs ...string) *oip.Model {
	t.Helper()
	m := &oip.Model{Name: "m", Configured: true}
	for _, text := range inputs {
		word := strings.Fields(text)
		in := oip.Input{Name: strings.TrimSuffix(word[0], "?"), Datatype: word[1]}
		in.Optional = in.Name != word[0]
		if err := json.Unmarshal([]byte("["+word[2]+"]"), &in.Shape); err != nil {
			t.Fatal(err)
		}
		m.Inputs = append(m.Inputs, in)
	}
	return m
}

func turnOf(limit int, texts ...string) *dataset.Turn {
	turn := &dataset.Turn{Texts: []dataset.Media{{Contents: texts}}}
	if limit > 0 {
		turn.MaxTokens = &limit
	}
	return turn
}

func rankingOf(query string, passages ...string) *dataset.Turn {
	return &dataset.Turn{Texts: []dataset.Media{{Name: "query", Contents: []string{query}},
		{Name: "passages", Contents: passages}}}
}

func TestRequestsHaveTheFormOfTheModel(t *testing.T) {
	batched := []string{"text_input BYTES -1,1", "max_tokens INT32 -1,1", "stream? BOOL -1,1", "top_p? FP32 -1,1",
		"bad? BYTES -1,-1"}
	for _, c := range []struct {
		name, api string
		inputs    []string
		extra     []string
		turn      *dataset.Turn
		want      string
	}{
		{"a batch dimension and a tensor for the length", "kserve_v2_infer", batched, nil, turnOf(7, "a"),
			`text_input[1 1] "a"; max_tokens[1 1] 7`},
		{"without a batch dimension", "kserve_v2_infer", []string{"text_input BYTES 1", "max_tokens? INT32 1"}, nil,
			turnOf(7, "a"), `text_input[1] "a"; max_tokens[1] 7`},
		{"the length by other names", "kserve_v2_infer", []string{"text_input BYTES -1,1", "request_output_len UINT32 -1,1"},
			nil, turnOf(7, "a"), `text_input[1 1] "a"; request_output_len[1 1] 7`},
		{"no tensor for the length", "kserve_v2_infer", []string{"text_input BYTES -1,1"}, nil, turnOf(7, "a"),
			`text_input[1 1] "a"; parameters {"max_tokens":7}`},
		{"the user's length wins", "kserve_v2_infer", batched, []string{"max_tokens", "3"}, turnOf(7, "a"),
			`text_input[1 1] "a"; max_tokens[1 1] 3`},
		{"the user's length by the model's name", "kserve_v2_infer",
			[]string{"text_input BYTES -1,1", "max_output_len INT32 -1,1"}, []string{"max_output_len", "3"}, turnOf(7, "a"),
			`text_input[1 1] "a"; max_output_len[1 1] 3`},
		{"the user's tensor without a shape", "kserve_v2_infer", batched,
			[]string{"max_tokens", `{"datatype":"INT32","data":[3]}`}, turnOf(0, "a"),
			`text_input[1 1] "a"; max_tokens[1 1] 3`},
		{"the user's tensor with a shape", "kserve_v2_infer", batched,
			[]string{"max_tokens", `{"datatype":"INT32","data":[3],"shape":[1]}`}, turnOf(7, "a"),
			`text_input[1 1] "a"; max_tokens[1] 3`},
		{"values for inputs, and parameters", "kserve_v2_infer", batched,
			[]string{"top_p", "0.5", "bad", `["x","y"]`, "seed", "1", "stream", "false"}, turnOf(7, "a"),
			`text_input[1 1] "a"; max_tokens[1 1] 7; top_p[1 1] 0.5; bad[1 2] "x" "y"; stream[1 1] 0; parameters {"seed":1}`},
		{"an object for an input of texts", "kserve_v2_infer",
			[]string{"text_input BYTES -1,1", "sampling_parameters? BYTES -1,1"}, []string{"sampling_parameters", `{"n":1}`},
			turnOf(0, "a"), `text_input[1 1] "a"; sampling_parameters[1 1] "{\"n\":1}"`},
		{"the only input of texts", "kserve_v2_infer", []string{"INPUT0 BYTES -1,1"}, nil, turnOf(0, "a"),
			`INPUT0[1 1] "a"`},
		{"a batch of texts", "kserve_v2_embeddings", []string{"text_input BYTES -1,1", "mode? BYTES -1,1"},
			[]string{"mode", `"query"`}, turnOf(9, "a", "b"), `text_input[2 1] "a" "b"; mode[2 1] "query" "query"`},
		{"a row of texts", "kserve_v2_embeddings", []string{"text_input BYTES 1,-1"}, nil, turnOf(0, "a", "b"),
			`text_input[1 2] "a" "b"`},
		{"a list of passages", "kserve_v2_rankings", []string{"query BYTES -1,1", "passages BYTES -1,-1"}, nil,
			rankingOf("q", "a", "b"), `query[1 1] "q"; passages[1 2] "a" "b"`},
		{"a batch of pairs", "kserve_v2_rankings", []string{"query BYTES -1,1", "passages BYTES -1,1"}, nil,
			rankingOf("q", "a", "b"), `query[2 1] "q" "q"; passages[2 1] "a" "b"`},
		{"no batch of passages", "kserve_v2_rankings", []string{"query BYTES 1", "passages BYTES -1"}, nil,
			rankingOf("q", "a", "b"), `query[1] "q"; passages[2] "a" "b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, grpc := range []bool{false, true} {
				e, err := endpoint.New(c.api, endpoint.Options{Model: "m", GRPC: grpc, Extra: fieldsOf(c.extra)})
				if err != nil {
					t.Fatal(err)
				}
				if err := e.(endpoint.Describable).Describe("m", modelOf(t, c.inputs...), c.turn); err != nil {
					t.Fatal(err)
				}
				body, err := e.Encode(&endpoint.Context{Turns: []endpoint.Turn{{Turn: c.turn}}})
				if err != nil {
					t.Fatal(err)
				}
				m, err := oip.RequestFromJSON(body.JSON())
				if err != nil {
					t.Fatal(err)
				}
				if grpc {
					m = &oip.Message{}
					if err := m.ParseRequest(body.Bytes); err != nil {
						t.Fatal(err)
					}
				}
				if got := shownMessage(m); got != c.want {
					t.Errorf("gRPC %t\n%s\nwant\n%s", grpc, got, c.want)
				}
			}
		})
	}
}

func fieldsOf(pairs []string) (list []dataset.Field) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, dataset.Field{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return list
}

func shownMessage(m *oip.Message) string {
	var parts []string
	for i := range m.Tensors {
		t := &m.Tensors[i]
		shape, _ := json.Marshal(t.Shape)
		text := string(t.Name) + strings.ReplaceAll(string(shape), ",", " ")
		for _, x := range t.Texts {
			quoted, _ := json.Marshal(string(x))
			text += " " + string(quoted)
		}
		for _, x := range t.Numbers {
			number, _ := json.Marshal(float32(x))
			text += " " + string(number)
		}
		parts = append(parts, text)
	}
	if len(m.Parameters) > 0 {
		list := map[string]json.RawMessage{}
		for _, p := range m.Parameters {
			list[p.Name] = p.Value
		}
		text, _ := json.Marshal(list)
		parts = append(parts, "parameters "+string(text))
	}
	return strings.Join(parts, "; ")
}

// Over gRPC a model that streams if an input asks for it is asked.
func TestStreamedRepliesAreAskedFor(t *testing.T) {
	for _, c := range []struct {
		streaming bool
		stream    string
		want      string
	}{
		{true, "stream? BOOL 1", `text_input[1] "a"; stream[1] 1`},
		{false, "stream? BOOL 1", `text_input[1] "a"`},
		{false, "stream BOOL 1", `text_input[1] "a"; stream[1] 0`},
		{true, "stream? INT32 1", `text_input[1] "a"`},
	} {
		e, err := endpoint.New("kserve_v2_infer", endpoint.Options{Model: "m", GRPC: true, Streaming: c.streaming})
		if err != nil {
			t.Fatal(err)
		}
		turn := turnOf(0, "a")
		if err := e.(endpoint.Describable).Describe("m", modelOf(t, "text_input BYTES 1", c.stream), turn); err != nil {
			t.Fatal(err)
		}
		body, err := e.Encode(&endpoint.Context{Turns: []endpoint.Turn{{Turn: turn}}})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := oip.RequestFromJSON(body.JSON())
		if got := shownMessage(m); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestModelsThatNoRequestFitsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, api string
		inputs    []string
		extra     []string
		turn      *dataset.Turn
		says      []string // nil: nothing is refused
	}{
		{"no length", "kserve_v2_infer", []string{"text_input BYTES -1,1", "max_tokens INT32 -1,1"}, nil, turnOf(0, "a"),
			[]string{"requires what the requests do not have: max_tokens (INT32 [-1 1])", "--osl N"}},
		{"an input that nobody fills", "kserve_v2_infer",
			[]string{"text_input BYTES -1,1", "temperature FP32 -1,1", "top_k INT32 1"}, nil, turnOf(0, "a"),
			[]string{"temperature (FP32 [-1 1]), top_k (INT32 [1])",
				"--extra-inputs temperature:VALUE --extra-inputs top_k:VALUE"}},
		{"an input that the user fills", "kserve_v2_infer", []string{"text_input BYTES -1,1", "temperature FP32 -1,1"},
			[]string{"temperature", "0.5"}, turnOf(0, "a"), nil},
		{"a length that the user gives", "kserve_v2_infer", []string{"text_input BYTES -1,1", "max_output_len INT32 -1,1"},
			[]string{"max_tokens", "5"}, turnOf(0, "a"), nil},
		{"no texts", "kserve_v2_infer", []string{"INPUT0 FP32 -1,16"}, nil, turnOf(0, "a"),
			[]string{"has no input text_input of type BYTES, but INPUT0 (FP32 [-1 16])", "v2_input_name:NAME"}},
		{"several texts of other names", "kserve_v2_infer", []string{"A BYTES 1", "B BYTES 1"}, nil, turnOf(0, "a"),
			[]string{"A (BYTES [1]), B (BYTES [1])"}},
		{"a name that the model has not", "kserve_v2_infer", []string{"A BYTES 1"}, []string{"v2_input_name", `"C"`},
			turnOf(0, "a"), []string{"has no input C"}},
		{"no passages", "kserve_v2_rankings", []string{"query BYTES 1"}, nil, rankingOf("q", "a"),
			[]string{"has no input passages", "v2_passages_name:NAME"}},
		{"two texts at once", "kserve_v2_infer", []string{"text_input BYTES 2"}, nil, turnOf(0, "a"),
			[]string{"text_input (BYTES [2])", "does not take one text"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := endpoint.New(c.api, endpoint.Options{Model: "m", Extra: fieldsOf(c.extra)})
			if err != nil {
				t.Fatal(err)
			}
			err = e.(endpoint.Describable).Describe("m", modelOf(t, c.inputs...), c.turn)
			if (err == nil) != (c.says == nil) {
				t.Fatal(err)
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v lacks %s", err, says)
				}
			}
		})
	}
	e, _ := endpoint.New("kserve_v2_embeddings", endpoint.Options{Model: "m"})
	if err := e.(endpoint.Describable).Describe("m", modelOf(t, "text_input BYTES 1"), turnOf(0, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Encode(&endpoint.Context{Turns: []endpoint.Turn{{Turn: turnOf(0, "a", "b")}}}); err == nil ||
		!strings.Contains(err.Error(), "does not take 2 elements") {
		t.Error(err)
	}
}

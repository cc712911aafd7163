package session

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

func talk(id string, mode dataset.ContextMode, texts ...string) dataset.Conversation {
	c := dataset.Conversation{SessionID: id, ContextMode: mode}
	for _, t := range texts {
		c.Turns = append(c.Turns, dataset.Turn{Texts: []dataset.Media{{Contents: []string{t}}}})
	}
	return c
}

func store(t testing.TB, name string, conversations ...dataset.Conversation) *Store {
	t.Helper()
	e, err := endpoint.New(name, endpoint.Options{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return NewStore(Options{
		Dataset:  &dataset.Dataset{Conversations: dataset.Memory(conversations)},
		Endpoint: e,
		URLs:     []string{"http://a/x", "http://b/x"},
		Headers:  Headers{Version: "1.2"},
	})
}

// reply decodes a whole chat reply of that text; an empty one carries nothing.
func reply(t testing.TB, text string) *endpoint.Reply {
	t.Helper()
	e, err := endpoint.New("chat", endpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := e.NewDecoder()
	d.Body("application/json", false,
		fmt.Appendf(nil, `{"object":"chat.completion","choices":[{"message":{"content":%q}}]}`, text), 1)
	return d.Reply()
}

// said lists the messages of a request as role:content.
func said(t testing.TB, p *Prepared) string {
	t.Helper()
	if p.Err != nil {
		t.Fatalf("not prepared: %+v", p.Err)
	}
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(p.Request.Body, &body); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range body.Messages {
		list = append(list, m.Role[:1]+":"+m.Content)
	}
	return strings.Join(list, " ")
}

func header(p *Prepared, name string) string {
	var values []string
	for _, h := range p.Request.Headers {
		if strings.EqualFold(h.Name, name) {
			values = append(values, h.Value)
		}
	}
	return strings.Join(values, "|")
}

// The history grows by what the server replied; a failed turn leaves no reply behind.
func TestTrapMultiTurnHistory(t *testing.T) {
	s := store(t, "chat", talk("c", "", "u0", "u1", "u2"))
	one := s.Session(7, 0)
	p0 := one.Prepare(0)
	one.Capture(0, reply(t, "a0"))
	p1 := one.Prepare(1)
	one.Capture(1, reply(t, "a1"))
	p2 := one.Prepare(2)
	for i, c := range []struct {
		p    *Prepared
		want string
	}{{p0, "u:u0"}, {p1, "u:u0 a:a0 u:u1"}, {p2, "u:u0 a:a0 u:u1 a:a1 u:u2"}} {
		if got := said(t, c.p); got != c.want {
			t.Errorf("turn %d: got %s, want %s", i, got, c.want)
		}
		if c.p.Request.FinalTurn != (i == 2) || c.p.Identity.TurnIndex != i || c.p.Identity.ConversationID != "c" {
			t.Errorf("turn %d: %+v", i, c.p.Identity)
		}
	}
	if c := header(p0, "X-Correlation-ID"); c == "" || c != header(p1, "X-Correlation-ID") ||
		c != header(p2, "X-Correlation-ID") || c != p0.Identity.CorrelationID || c != p0.Request.Session {
		t.Errorf("the correlation id is not constant: %q", c)
	}
	if a, b := header(p0, "X-Request-ID"), header(p1, "X-Request-ID"); a == b || a != p0.Identity.RequestID {
		t.Errorf("request ids %q and %q", a, b)
	}

	failed := s.Session(8, 0)
	failed.Prepare(0)
	failed.Capture(0, reply(t, "a0"))
	failed.Prepare(1) // fails: nothing is captured
	if got := said(t, failed.Prepare(2)); got != "u:u0 a:a0 u:u1 u:u2" {
		t.Errorf("after a failed turn: %s", got)
	}
	if failed.correlationID == one.correlationID {
		t.Error("two sessions share an id")
	}
	// A reply without anything to repeat leaves two user messages in a row.
	empty := s.Session(9, 0)
	empty.Capture(0, reply(t, ""))
	if got := said(t, empty.Prepare(1)); got != "u:u0 u:u1" {
		t.Errorf("after an empty reply: %s", got)
	}
}

func TestContextModes(t *testing.T) {
	for mode, want := range map[dataset.ContextMode]string{
		dataset.DeltasWithoutResponses:    "u:u0 a:live u:u1",
		dataset.DeltasWithResponses:       "u:u0 u:u1",
		dataset.MessageArrayWithResponses: "u:u1",
	} {
		c := store(t, "chat", talk("c", mode, "u0", "u1", "u2")).Session(0, 0)
		c.Capture(0, reply(t, "live"))
		if got := said(t, c.Prepare(1)); got != want {
			t.Errorf("%s: got %s, want %s", mode, got, want)
		}
	}
}

func TestSystemAndUserContext(t *testing.T) {
	system, user := "S", "U"
	c := talk("c", "", "u0", "u1")
	c.SystemMessage, c.UserContext = &system, &user
	s := store(t, "chat", c)
	one := s.Session(0, 0)
	one.Capture(0, reply(t, "a0"))
	if got := said(t, one.Prepare(1)); got != "s:S u:U u:u0 a:a0 u:u1" {
		t.Errorf("on the wire: %s", got)
	}
	payload, err := Payload(s.options.Endpoint, &c, 1)
	want := `{"messages":[{"role":"system","content":"S"},{"role":"user","content":"U"},{"role":"user","content":"u1"}],"model":"m","stream":false}`
	if err != nil || string(payload) != want {
		t.Errorf("for inputs.json: %s, %v", payload, err)
	}
}

func TestBodiesAreShared(t *testing.T) {
	s := store(t, "chat", talk("a", "", "x", "y"), talk("b", dataset.MessageArrayWithResponses, "x", "y"))
	for _, c := range []struct {
		conversation, turn int
		shared             bool
	}{{0, 0, true}, {0, 1, false}, {1, 0, true}, {1, 1, true}} {
		first := s.Session(uint64(10*c.conversation), c.conversation).Prepare(c.turn)
		second := s.Session(uint64(10*c.conversation+1), c.conversation).Prepare(c.turn)
		if (first.Body == second.Body) != c.shared {
			t.Errorf("conversation %d, turn %d: shared is %v", c.conversation, c.turn, !c.shared)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := bodyCache{limit: 100}
	body := func() *endpoint.Body { return &endpoint.Body{Bytes: make([]byte, 30)} }
	hot := body()
	c.put(bodyKey{-1, 0}, hot)
	for i := range 1000 {
		c.put(bodyKey{i, 0}, body())
		if b, ok := c.get(bodyKey{-1, 0}); !ok || b != hot {
			t.Fatalf("the body in use was dropped at %d", i)
		}
		if n := len(c.young) + len(c.old); n > 8 {
			t.Fatalf("%d bodies are kept", n)
		}
	}
	if _, ok := c.get(bodyKey{0, 0}); ok {
		t.Error("a body that nobody used again is still there")
	}
	other := body()
	if got := c.put(bodyKey{999, 0}, other); got == other {
		t.Error("the second encoding of a body displaced the first")
	}
}

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	s := newIDSource()
	for range 1000 {
		id := s.next()
		if !uuid4.MatchString(id) || seen[id] {
			t.Fatalf("%q is no fresh UUID of version 4", id)
		}
		seen[id] = true
	}
	if a, b := newIDSource().next(), newIDSource().next(); a == b {
		t.Error("two sources give the same ids")
	}
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers Headers
		stream  bool
		want    string
	}{
		{"plain", Headers{Version: "9"}, false,
			"User-Agent=aiperf/9 X-Request-ID=REQ X-Correlation-ID=SES Accept=application/json " +
				"Content-Type=application/json"},
		{"streaming with a key", Headers{Version: "9", APIKey: "k", SessionAffinity: true}, true,
			"User-Agent=aiperf/9 X-Request-ID=REQ X-Correlation-ID=SES Authorization=Bearer k " +
				"Accept=text/event-stream Content-Type=application/json X-Session-Affinity=SES"},
		{"what is no JSON", Headers{Version: "9", Accept: "*/*"}, true,
			"User-Agent=aiperf/9 X-Request-ID=REQ X-Correlation-ID=SES Accept=*/* Content-Type=application/json"},
		{"custom headers keep their values, the key beats theirs",
			Headers{Version: "9", APIKey: "k",
				Custom: []record.Header{{Name: "authorization", Value: "mine"}, {Name: "X-Num", Value: "1,2:true"}}},
			false,
			"User-Agent=aiperf/9 X-Request-ID=REQ X-Correlation-ID=SES Authorization=Bearer k X-Num=1,2:true " +
				"Accept=application/json Content-Type=application/json"},
		{"renamed session header and further names",
			Headers{Version: "9", SessionName: "X-My", SessionAffinity: true, SessionID: true, SMGRoutingKey: true,
				DynamoSessionID: true,
				Custom: []record.Header{{Name: "x-session-id", Value: "mine"},
					{Name: "X-Request-Id", Value: "own"}}}, false,
			"User-Agent=aiperf/9 X-Request-Id=own X-My=SES X-Session-ID=SES Accept=application/json " +
				"Content-Type=application/json X-Session-Affinity=SES X-SMG-Routing-Key=SES X-Dynamo-Session-ID=SES"},
	} {
		var got []string
		for _, h := range c.headers.template(c.stream, "application/json").fill("REQ", "SES") {
			got = append(got, h.Name+"="+h.Value)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, s, c.want)
		}
	}
}

// A custom Content-Type and Accept lose, a custom User-Agent wins.
func TestTrapCustomHeaders(t *testing.T) {
	h := Headers{Version: "9", Custom: []record.Header{{Name: "content-type", Value: "x"}, {Name: "ACCEPT", Value: "x"},
		{Name: "user-agent", Value: "me"}}}
	got := h.template(false, "application/json").fill("R", "S")
	want := []record.Header{{Name: "user-agent", Value: "me"}, {Name: "X-Request-ID", Value: "R"},
		{Name: "X-Correlation-ID", Value: "S"},
		{Name: "Content-Type", Value: "application/json"}, {Name: "Accept", Value: "application/json"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// The headers of a conversation go with each of its requests, in place of others of their names.
func TestHeadersOfAConversation(t *testing.T) {
	h := Headers{Version: "9", DynamoSessionID: true}
	got := WithHeaders(h.template(false, "x/y").fill("R", "S"),
		[]dataset.Header{{Name: "x-dynamo-session-id", Value: "own"}, {Name: "X-More", Value: "1"}})
	if header(&Prepared{Request: client.Request{Headers: got}}, "X-Dynamo-Session-ID") != "own" ||
		got[len(got)-1] != (record.Header{Name: "X-More", Value: "1"}) {
		t.Errorf("got %v", got)
	}
	s := store(t, "chat", talk("c", "", "x", "y"))
	s.options.Dataset.At(0).Headers = []dataset.Header{{Name: "X-Own", Value: "z"}}
	for turn := range 2 {
		if got := header(s.Session(0, 0).Prepare(turn), "X-Own"); got != "z" {
			t.Errorf("turn %d: %q", turn, got)
		}
	}
}

// What the body asks for decides on Accept.
func TestTrapAcceptFollowsTheBody(t *testing.T) {
	for value, want := range map[string]string{"true": "text/event-stream", "false": "application/json"} {
		e, err := endpoint.New("chat", endpoint.Options{Model: "m", Streaming: value == "false",
			Extra: []dataset.Field{{Name: "stream", Value: []byte(value)}}})
		if err != nil {
			t.Fatal(err)
		}
		s := store(t, "chat", talk("c", "", "x"))
		s.options.Endpoint = e
		if got := header(s.Session(0, 0).Prepare(0), "Accept"); got != want {
			t.Errorf("stream:%s: Accept %s", value, got)
		}
	}
}

func TestRequestsThatCannotBeBuilt(t *testing.T) {
	c := talk("c", "", "a", "b")
	limit := 5
	c.Turns[1].MaxTokens = &limit
	s := store(t, "completions", c)
	p := s.Session(0, 0).Prepare(1)
	want := record.Error{Type: "ValueError", Message: "ValueError('Completions endpoint only supports one turn.')"}
	if p.Err == nil || p.Err.Type != want.Type || p.Err.Message != want.Message || p.Err.HasCode {
		t.Errorf("got %+v", p.Err)
	}
	if p.Body != nil || p.Identity.RequestID == "" || p.RequestedTokens != 5 {
		t.Errorf("got %+v", p)
	}
	if p := s.Session(0, 0).Prepare(2); p.Err == nil || p.Err.Type != "ValueError" {
		t.Errorf("a turn that does not exist: %+v", p.Err)
	}
	if p := s.Session(0, 0).Prepare(0); p.Err != nil || p.RequestedTokens != record.Absent {
		t.Errorf("got %+v", p)
	}
}

func TestAim(t *testing.T) {
	p := store(t, "chat", talk("c", "", "a")).Session(0, 0).Prepare(0)
	if p.Request.CancelAfterNS >= 0 {
		t.Error("a request is cancelled unless told otherwise")
	}
	for i, want := range []string{"http://a/x", "http://b/x", "http://a/x"} {
		if p.Aim(i, 5); p.Request.URL != want || p.Request.CancelAfterNS != 5 {
			t.Errorf("aimed at %d: %+v", i, p.Request)
		}
	}
}

func TestForget(t *testing.T) {
	s := store(t, "chat", talk("c", "", "a", "b"))
	first := s.Session(3, 0)
	if s.Session(3, 0) != first {
		t.Error("a running session was started again")
	}
	s.Forget(3)
	if s.Session(3, 0) == first {
		t.Error("a forgotten session is still there")
	}
}

// A conversation that many sessions play costs no encoding.
func BenchmarkPrepare(b *testing.B) {
	s := store(b, "chat", talk("c", "", strings.Repeat("lorem ipsum ", 16)))
	b.ReportAllocs()
	for k := uint64(0); b.Loop(); k++ {
		if p := s.Session(k, 0).Prepare(0); p.Err != nil {
			b.Fatal(p.Err)
		}
		s.Forget(k)
	}
}

func BenchmarkPrepareWithHistory(b *testing.B) {
	s := store(b, "chat", talk("c", "", strings.Repeat("lorem ipsum ", 16), "and then?", "and then?", "and then?"))
	one := s.Session(0, 0)
	for turn := range 3 {
		one.Capture(turn, reply(b, strings.Repeat("dolor sit ", 50)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if p := one.Prepare(3); p.Err != nil {
			b.Fatal(p.Err)
		}
	}
}

package endpoint

import (
	"strings"
	"testing"
)

// A reply without content shows what came instead, whatever the API.
func TestSampleOfAReplyWithoutContent(t *testing.T) {
	const page = "<html><body>Please log in</body></html>"
	for _, name := range []string{"chat", "completions", "responses", "messages", "embeddings", "cohere_rankings",
		"huggingface_generate", "image_retrieval", "kserve_v1_predict", "kserve_v2_infer"} {
		d := decoder(t, name)
		d.Body("text/html", false, []byte(page), 10)
		if got := d.Reply().Sample(); got != page || len(d.Reply().ContentNS) != 0 {
			t.Errorf("%s: a page: sample %q", name, got)
		}
		d.Release()
		if d = decoder(t, name); d.Reply().Sample() != "" {
			t.Errorf("%s: the sample outlives its reply", name)
		}
		d.Body("application/json", false, []byte(`{"detail":"no such model"}`), 10)
		if got := d.Reply().Sample(); got != `{"detail":"no such model"}` {
			t.Errorf("%s: another object: sample %q", name, got)
		}
		d.Body("image/png", true, []byte("1234567"), 10)
		if got := d.Reply().Sample(); got != "7 bytes of image/png" {
			t.Errorf("%s: a picture: sample %q", name, got)
		}
	}
}

// Of a stream the second response is shown: the first one mostly names the role. Nothing is kept once
// there is content.
func TestSampleOfAStream(t *testing.T) {
	role, other := delta(`"role":"assistant"`), delta(`"thoughts":"hm"`)
	for _, c := range []struct {
		events []string
		want   string
	}{
		{[]string{role}, role},
		{[]string{role, other, delta(`"x":1`), "[DONE]"}, other},
		{[]string{"", "[DONE]"}, ""},
		{[]string{strings.Repeat("é", 150)}, strings.Repeat("é", 100)},
		{[]string{"x" + strings.Repeat("é", 150)}, "x" + strings.Repeat("é", 99)},
		{[]string{role, delta(`"content":"a"`), other, other}, role},
	} {
		if got := stream(t, "chat", c.events...).Sample(); got != c.want {
			t.Errorf("%.60q: sample %q, want %q", c.events, got, c.want)
		}
	}
}

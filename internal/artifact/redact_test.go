package artifact

import (
	"strings"
	"testing"
)

func TestRedactText(t *testing.T) {
	r := NewRedactor("sk-live-1234567890", `p"w/1 x`)
	for _, c := range []struct{ in, want string }{
		{"nothing to hide: 5 tokens, max_tokens=5", "nothing to hide: 5 tokens, max_tokens=5"},
		{"Authorization: Basic dXNlcjpwYXNz, x", "Authorization: <redacted>"},
		{`{"PROXY-authorization": "abc"}` + "\nnext line", `{"PROXY-authorization": <redacted>` + "\nnext line"},
		{"sent Bearer abc.def ghi", "sent Bearer <redacted>"},
		{"GET /v1?api_key=abc&x=1", "GET /v1?api_key=<redacted>&x=1"},
		{"API_KEY = 'a b', done", "API_KEY = <redacted>, done"},
		{`{"api_key":"abc","n":1}`, `{"api_key":<redacted>,"n":1}`},
		{"?access_token=abc&b=2", "?access_token=<redacted>&b=2"},
		{"client_secret=abc; x", "client_secret=<redacted>; x"},
		{"X-API-Key: abc", "X-API-Key: <redacted>"},
		{"Ocp-Apim-Subscription-Key=abc", "Ocp-Apim-Subscription-Key=<redacted>"},
		{"x-goog-api-key: abc", "x-goog-api-key: <redacted>"},
		{"X-Functions-Key: abc", "X-Functions-Key: <redacted>"},
		{"aeg-sas-key: abc", "aeg-sas-key: <redacted>"},
		{"x-amz-security-token: abc", "x-amz-security-token: <redacted>"},
		{"Incorrect API key provided: sk-other. See", "Incorrect API key provided: <redacted> See"},
		{"aiperf profile --api-key abc --model m", "aiperf profile --api-key <redacted> --model m"},
		{"aiperf profile --api-key='a b' --model m", "aiperf profile --api-key=<redacted> --model m"},
		{"Post \"http://user:p@ss@host:8000/v1\": refused", "Post \"http://<redacted>@host:8000/v1\": refused"},
		{"mail a@b, see http://host/path@x", "mail a@b, see http://host/path@x"},
		{"echo sk-live-1234567890!", "echo <redacted>!"},
		{`json p\"w/1 x, url p%22w%2F1+x`, "json <redacted>, url <redacted>"},
	} {
		got := r.Text(c.in)
		if got != c.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
		if again := r.Text(got); again != got {
			t.Errorf("a second pass over %q gave %q", got, again)
		}
	}
}

func TestRedactHeaderNamesIgnoreCase(t *testing.T) {
	r := NewRedactor("sk-live-1234567890")
	for _, name := range []string{
		"authorization", "Proxy-Authorization", "X-API-KEY", "api-key", "Ocp-Apim-Subscription-Key",
		"x-goog-api-key", "X-Functions-Key", "aeg-sas-key", "X-Amz-Security-Token",
	} {
		if got := r.Header(name, "anything"); got != Redacted {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"Content-Type", "application/json", "application/json"},
		{"X-Custom", "key sk-live-1234567890", "key <redacted>"},
		{"Location", "https://u:p@h/x", "https://<redacted>@h/x"},
	} {
		if got := r.Header(c.name, c.value); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNilRedactorHidesByName(t *testing.T) {
	var r *Redactor
	if got := r.Text("api_key=abc"); got != "api_key=<redacted>" {
		t.Error(got)
	}
	if got := r.Header("Authorization", "x"); got != Redacted {
		t.Error(got)
	}
	if got := string(r.JSON([]byte(`{"a":1}`))); got != `{"a":1}` {
		t.Error(got)
	}
}

func TestShortSecretsDoNotShredTexts(t *testing.T) {
	if got := NewRedactor("a", " ").Text("banana"); got != "banana" {
		t.Error(got)
	}
}

func TestRedactJSONStaysJSON(t *testing.T) {
	r := NewRedactor("1234")
	for _, c := range []struct{ in, want string }{
		{`{"a":"x 1234"}`, `{"a":"x <redacted>"}`},
		{`{"a":1234}`, `"{\"a\":<redacted>}"`},
		{`not json`, `"not json"`},
	} {
		if got := string(r.JSON([]byte(c.in))); got != c.want {
			t.Errorf("JSON(%s) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestLongestSecretWins(t *testing.T) {
	r := NewRedactor("sk-1234", "sk-1234-extra")
	if got := r.Text("k sk-1234-extra"); strings.Contains(got, "extra") {
		t.Error(got)
	}
}

// A message about a key is no key.
func TestMessagesAboutKeysStay(t *testing.T) {
	for text, want := range map[string]string{
		`{"message":"the API key is missing or wrong","type":"authentication_error"}`: `{"message":"the API key is missing or wrong","type":"authentication_error"}`,
		"Incorrect API key provided: sk-abc.":                                         "Incorrect API key provided: <redacted>",
	} {
		if got := NewRedactor().Text(text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

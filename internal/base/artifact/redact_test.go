package artifact_test

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
)

func TestRedactText(t *testing.T) {
	r := artifact.NewRedactor("sk-live-1234567890", `p"w/1 x`)
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
	r := artifact.NewRedactor("sk-live-1234567890")
	for _, name := range []string{
		"authorization", "Proxy-Authorization", "X-API-KEY", "api-key", "Ocp-Apim-Subscription-Key",
		"x-goog-api-key", "X-Functions-Key", "aeg-sas-key", "X-Amz-Security-Token",
	} {
		if _, got := r.Header(name, "anything"); got != artifact.Redacted {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"X-SK-Live-1234567890", "x", "x"},
		{"Content-Type", "application/json", "application/json"},
		{"X-Custom", "key sk-live-1234567890", "key <redacted>"},
		{"Location", "https://u:p@h/x", "https://<redacted>@h/x"},
	} {
		name, value := r.Header(c.name, c.value)
		if value != c.want || (name == c.name) == strings.Contains(c.name, "1234567890") {
			t.Errorf("%s: %s: %s, want %s", c.name, name, value, c.want)
		}
	}
}

func TestWhatServersSayBehindEscapes(t *testing.T) {
	r := artifact.NewRedactor("sk-live-1234567890")
	const hidden = `\u0073k-live-1234567890`
	again := strings.ReplaceAll(hidden, `\`, `\\`)
	for _, c := range []struct{ in, want string }{
		{"x sk-live-1234567890", "x <redacted>"},
		{`{"a":"` + hidden + `"}`, `{"a":"<redacted>"}`},
		{` [["` + hidden + `"]]`, ` [["<redacted>"]]`},
		{`{"a":"{\"b\":\"` + again + `\"}"}`, `{"a":"{\"b\":\"<redacted>\"}"}`},
		{`{"a":"` + hidden, `{"a":"` + hidden},
		{`{"a":"\n"}`, `{"a":"\n"}`},
	} {
		if got := string(r.Said([]byte(c.in))); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
		if got := r.Text(c.in); got != c.want {
			t.Errorf("%s: the text %s, want %s", c.in, got, c.want)
		}
	}
	var none *artifact.Redactor
	if got := string(none.Said([]byte(`{"a":"\n"}`))); got != `{"a":"\n"}` {
		t.Error(got)
	}
}

func TestRedactorLearns(t *testing.T) {
	r := artifact.NewRedactor("sk-live-1234567890")
	r.Learn("tenant-key-1", "tenant-key-12", "tenant-key-1", "short")
	got := r.Text("sk-live-1234567890, tenant-key-12/tenant-key-1 short")
	if got != "<redacted>, <redacted>/<redacted> short" {
		t.Error(got)
	}
	if got := string(r.JSON([]byte(`{"a":"tenant-key-1"}`))); got != `{"a":"<redacted>"}` {
		t.Error(got)
	}
}

func TestNilRedactorHidesByName(t *testing.T) {
	var r *artifact.Redactor
	if got := r.Text("api_key=abc"); got != "api_key=<redacted>" {
		t.Error(got)
	}
	if name, got := r.Header("Authorization", "x"); got != artifact.Redacted || name != "Authorization" {
		t.Error(name, got)
	}
	if got := string(r.JSON([]byte(`{"a":1}`))); got != `{"a":1}` {
		t.Error(got)
	}
}

func TestShortSecretsDoNotShredTexts(t *testing.T) {
	for _, s := range []string{"a", " ", "null", "EMPTY"} {
		if got := artifact.NewRedactor(s).Text("a null EMPTY banana"); got != "a null EMPTY banana" {
			t.Errorf("%q: %s", s, got)
		}
	}
}

func TestRedactJSONStaysJSON(t *testing.T) {
	r := artifact.NewRedactor("123456").WithMembers("pin")
	for _, c := range []struct{ in, want string }{
		{`{"a":"x 123456"}`, `{"a":"x <redacted>"}`},
		{`{"a":123456}`, `{"a":"<redacted>"}`},
		{`{"a":1234567,"b":[0.123456,123456]}`, `{"a":1234567,"b":[0.123456,"<redacted>"]}`},
		{` {"x123456" : {"\u0031\u0032\u0033456":"\n123456"} } `, ` {"x<redacted>" : {"<redacted>":"\n<redacted>"} } `},
		{`{"pin":[1,{"a":2}],"b":{"pin":"x"},"c":"pin","d":"a\\"}`,
			`{"pin":"<redacted>","b":{"pin":"<redacted>"},"c":"pin","d":"a\\"}`},
		{`123456`, `"<redacted>"`},
		{`{"a":{},"b":[],"c":"","d":null,"e":true}`, `{"a":{},"b":[],"c":"","d":null,"e":true}`},
		{`not json`, `"not json"`},
	} {
		if got := string(r.JSON([]byte(c.in))); got != c.want {
			t.Errorf("JSON(%s) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestLongestSecretWins(t *testing.T) {
	r := artifact.NewRedactor("sk-1234", "sk-1234-extra")
	if got := r.Text("k sk-1234-extra"); strings.Contains(got, "extra") {
		t.Error(got)
	}
}

// A message about a key is not a key.
func TestMessagesAboutKeysStay(t *testing.T) {
	for text, want := range map[string]string{
		`{"message":"the API key is missing or wrong","type":"authentication_error"}`: `{"message":"the API key is missing or wrong","type":"authentication_error"}`,

		"Incorrect API key provided: sk-abc.": "Incorrect API key provided: <redacted>",
	} {
		if got := artifact.NewRedactor().Text(text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestEverySpellingIsHidden(t *testing.T) {
	const secret = `s3"c/r'e t&é<x>+ü🙂\`
	quoted, _ := json.Marshal(secret)
	again, _ := json.Marshal(string(quoted))
	user := url.URL{Scheme: "http", User: url.UserPassword("u", secret), Host: "h"}
	r := artifact.NewRedactor(secret)
	for name, text := range map[string]string{
		"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"lower hex":     strings.ToLower(url.QueryEscape(secret)),
		"space as %20":  strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
		"JSON":          string(artifact.AppendString(nil, secret)),
		"JSON for HTML": string(quoted), "Go": strconv.Quote(secret), "HTML": html.EscapeString(secret),
		"user":         user.String(),
		"Base64":       base64.StdEncoding.EncodeToString([]byte(secret)),
		"URL Base64":   base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"shell":        "'" + strings.ReplaceAll(secret, "'", `'\''`) + "'",
		"ASCII":        `"s3\"c/r'e t&\u00e9<x>+\u00fc\ud83d\ude42\\"`,
		"JSON in JSON": string(artifact.AppendString(nil, string(artifact.AppendString(nil, secret)))),
	} {
		if name == "lower hex" {
			percent := regexp.MustCompile(`%[0-9A-F]{2}`)
			text = percent.ReplaceAllStringFunc(url.QueryEscape(secret), strings.ToLower)
		}
		if got := r.Values("<" + text + ">"); !strings.Contains(got, artifact.Redacted) ||
			strings.Contains(got, "s3") || strings.Contains(got, "czMi") {
			t.Errorf("%s: %s gave %s", name, text, got)
		}
	}
	if got := string(r.JSON([]byte(`[` + string(again) + `]`))); strings.Contains(got, "s3") {
		t.Error(got)
	}
}

func TestRedactURLsHidesSensitiveParameters(t *testing.T) {
	for in, want := range map[string]string{
		"see https://me:pw@h:1/x?a=1&key=K&sig=S#f, http://h/?api%5Fkey=K": "see https://<redacted>@h:1/x?" +
			"a=1&key=<redacted>&sig=<redacted>#f, http://h/?api%5Fkey=<redacted>",
		"what? a=1&b=2": "what? a=1&b=2", "/v1?max_tokens=5&prompt_cache_key=x": "/v1?max_tokens=5&prompt_cache_key=x",
		"http://h/?token=<redacted>&a=1": "http://h/?token=<redacted>&a=1",
	} {
		if got := artifact.RedactURLs(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	if got := artifact.RedactAddress("me:pw@h:1/x?token=K"); got != "<redacted>@h:1/x?token=<redacted>" {
		t.Error(got)
	}
}

func TestHideSensitiveAndStringsKeepNumbers(t *testing.T) {
	in := artifact.Object{{"password", int64(5)}, {"n", int64(123456)},
		{"l", []any{"x 123456", artifact.Object{{"token", "t"}}}},
		{"u", "http://a:b@h"}}
	b, _ := artifact.AppendJSON(nil, artifact.HideSensitive(in))
	if got, want := string(b), `{"password":"<redacted>","n":123456,"l":["x 123456",{"token":"<redacted>"}],"u":"http://<redacted>@h"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	b, _ = artifact.AppendJSON(nil, artifact.NewRedactor("123456").Strings(in))
	if got, want := string(b), `{"password":5,"n":123456,"l":["x <redacted>",{"token":"t"}],"u":"http://a:b@h"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWriterHidesSecretsThatComeInPieces(t *testing.T) {
	r := artifact.NewRedactor("sk-12345678", "5678-other")
	const text = "a sk-12345678 b sk-1234x, sk-12345678-other\nsk-"
	for size := 1; size <= len(text); size++ {
		var out strings.Builder
		w := r.Writer(&out)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if w.Flush(); out.String() != "a <redacted> b sk-1234x, <redacted>-other\nsk-" {
			t.Errorf("pieces of %d: %q", size, out.String())
		}
	}
}

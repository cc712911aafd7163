package resolve

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
)

func TestEndpointTypesAndTheirOptions(t *testing.T) {
	for line, want := range map[string]string{
		"--endpoint-type chat --request-content-type multipart/form-data": "--request-content-type " +
			"multipart/form-data is only supported for endpoint types that support form-data encoding " +
			"(e.g., video_generation), but --endpoint-type chat does not support it.",
		"--endpoint-type image_edit --request-content-type application/json": "the requests " +
			"of --endpoint-type image_edit are forms",
		"--endpoint-type sglang_generate": "add --streaming",
		"--endpoint-type sglang_generate --streaming --system-prompt " +
			"x": "--system-prompt cannot be used with --endpoint-type sglang_generate",
		"--endpoint-type completions --system-prompt x": "which takes " +
			"no system message; use chat",
		"--endpoint-type completions --cache-bust system_prefix": "with " +
			"--endpoint-type chat, responses, messages or kserve_chat, not with completions",
		"--endpoint-type image_retrieval --tokenizer-revision " +
			"main": "--tokenizer-revision cannot be used with --endpoint-type " +
			"image_retrieval, which counts no tokens",
		"--endpoint-type sglang_generate --streaming --shared-system-prompt-length 5":                "token ids",
		"--endpoint-type sglang_generate --streaming --user-context-prompt-length 5 --num-prompts 2": "token ids",
	} {
		if faults := resolveError(t, "-m m "+line); !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: %v", line, faults)
		}
	}
	for _, line := range []string{
		"--endpoint-type image_edit", "--endpoint-type image_edit --request-content-type multipart/form-data",
		"--endpoint-type sglang_generate --streaming",
	} {
		mustResolve(t, "-m m "+line)
	}
	// Ids are made here, whoever counts.
	file := configtest.WriteFile(t, "data.jsonl", `{"text":"x"}`+"\n")
	if run, _ := mustResolve(t, "-m m --endpoint-type sglang_generate --streaming --tokenizer builtin "+
		"--use-server-token-count --input-file "+file); run.Tokenizer.Name == "" {
		t.Error("no tokenizer makes the ids")
	}
	run, warnings := mustResolve(t,
		"-m m --endpoint-type image_edit --request-content-type multipart/form-data --download-video-content")
	if !run.Endpoint.Form || !run.Endpoint.DownloadVideo {
		t.Errorf("%+v", run.Endpoint)
	}
	configtest.WantText(t, "warnings", configtest.Texting(warnings), "--download-video-content has no effect")
}

func TestHeadersOfURLs(t *testing.T) {
	for line, want := range map[string]string{
		"--url-header 1=X-A:hunter2":                                                    "--url-header: item 1: there is no URL number 1: the first of the 1 is number 0",
		"--url a b --url-header 0=X-A:x --url-header c=X-A:y":                           "--url-header: item 2: c is none of the URLs of the run",
		"--url-header http://u:hunter2@c=X-A:y":                                         "--url-header: item 1: http://<redacted>@c is none of the URLs",
		"--url grpc://h:1 --endpoint-type kserve_v2_infer --url-header 0=X-bin:hunter2": "--url-header X-bin: gRPC reserves names that end in -bin",
		"--url grpc://h:1 --endpoint-type kserve_v2_infer --echo-header X-T-bin":        "--echo-header X-T-bin: gRPC reserves names",
		"--echo-header Connection":                                                      "--echo-header Connection: the header Connection describes",
		"--echo-header set-cookie":                                                      "--echo-header set-cookie: cookies are sent back under another name",
		"--echo-header 'a b'":                                                           "--echo-header a b: the name of a header",
	} {
		text := resolveError(t, "-m m "+line).Error()
		if !strings.Contains(text, want) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %s", line, text)
		}
	}
	run, _ := mustResolve(t, "-m m --url http://a:1/v1?k=v b:2 http://a:1/v1?k=v --session-cookies "+
		"--echo-header X-T,X-U --url-header 'http://a:1/v1?k=v=Authorization: Bearer a=b:c' "+
		"--url-header 'b:2/=X-Of: b' --url-header '1=x-of: second' --url-header '2=X-Third: 3, 4' "+
		"--url-header 2=X-Empty:")
	want := [][]config.Header{{{Name: "Authorization", Value: "Bearer a=b:c"}}, {{Name: "x-of", Value: "second"}},
		{{Name: "Authorization", Value: "Bearer a=b:c"}, {Name: "X-Third", Value: "3, 4"}, {Name: "X-Empty"}}}
	if diff := cmp.Diff(want, run.Endpoint.URLHeaders); diff != "" {
		t.Error(diff)
	}
	if !run.Endpoint.SessionCookies || len(run.Endpoint.EchoHeaders) != 2 {
		t.Errorf("%+v", run.Endpoint)
	}
	if hidden := run.Secrets(); !slices.Contains(hidden, "a=b:c") {
		t.Errorf("the key of a URL is no secret: %q", hidden)
	}
	if run, _ := mustResolve(t, "-m m"); run.Endpoint.URLHeaders != nil || run.Endpoint.SessionCookies {
		t.Errorf("%+v", run.Endpoint)
	}
}

// What no header can hold is told before the run, and a key is not repeated.
func TestHeadersThatCannotBeSent(t *testing.T) {
	for line, want := range map[string]string{
		"--api-key 'sk-1\nsecret'":      "--api-key contains a line break",
		"--session-header 'a b'":        "--session-header a b",
		"--custom-endpoint https://h/x": "given by --url",
		"--url http://h:0":              "between 1 and 65535",
		"--url http://h:65536":          "between 1 and 65535",
	} {
		if faults := resolveError(t, "-m m "+line); !strings.Contains(faults.Error(), want) ||
			strings.Contains(faults.Error(), "secret") {
			t.Errorf("%s: %v", line, faults)
		}
	}
	mustResolve(t, "-m m --url http://h:65535 --url h --custom-endpoint v1/x --session-header X-Session")
}

// The server does what the body says, the metrics are those of --streaming: who sets them apart is told.
func TestTrapExtraInputsAgainstStreaming(t *testing.T) {
	for line, want := range map[string]string{
		"--extra-inputs stream:true":              "use --streaming instead",
		"--streaming --extra-inputs stream:false": "that of the whole reply",
		"--streaming --extra-inputs stream:true":  "",
		"--extra-inputs stream:false":             "",
		"--extra-inputs stream:null":              "",
		"--extra-inputs stream:yes":               "",
	} {
		_, warnings := mustResolve(t, "-m m --request-count 1 --concurrency 1 "+line)
		text := configtest.Texting(warnings)
		if want != "" && !strings.Contains(text, want) || want == "" && strings.Contains(text, "stream:") {
			t.Errorf("%s: %s", line, text)
		}
	}
}

// A factor of 0 leaves nothing of a trace.
func TestSynthesisFactorsAreAboveZero(t *testing.T) {
	for _, name := range []string{"--synthesis-speedup-ratio", "--synthesis-prefix-len-multiplier",
		"--synthesis-prompt-len-multiplier"} {
		faults := parseError(t, "-m m "+name+" 0")
		configtest.WantText(t, name, faults.Error(), name, "above 0")
	}
}

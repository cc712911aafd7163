package resolve

import (
	"strings"
	"testing"

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

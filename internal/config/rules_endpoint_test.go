package config

import (
	"strings"
	"testing"
)

func TestEndpointTypesAndTheirOptions(t *testing.T) {
	for line, want := range map[string]string{
		"--endpoint-type chat --request-content-type multipart/form-data": "--request-content-type multipart/form-data is only supported for endpoint types that support form-data encoding " +
			"(e.g., video_generation), but --endpoint-type chat does not support it.",
		"--endpoint-type image_edit --request-content-type application/json":                         "the requests of --endpoint-type image_edit are forms",
		"--endpoint-type sglang_generate":                                                            "add --streaming",
		"--endpoint-type sglang_generate --streaming --system-prompt x":                              "--system-prompt cannot be used with --endpoint-type sglang_generate",
		"--endpoint-type sglang_generate --streaming --shared-system-prompt-length 5":                "token ids",
		"--endpoint-type sglang_generate --streaming --user-context-prompt-length 5 --num-prompts 2": "token ids",
	} {
		if faults := resolveError(t, "-m m "+line); !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: %v", line, faults)
		}
	}
	for _, line := range []string{
		"--endpoint-type image_edit", "--endpoint-type image_edit --request-content-type multipart/form-data", "--endpoint-type sglang_generate --streaming",
	} {
		mustResolve(t, "-m m "+line)
	}
	// Ids are made here, whoever counts.
	file := writeFile(t, "data.jsonl", `{"text":"x"}`+"\n")
	if run, _ := mustResolve(t, "-m m --endpoint-type sglang_generate --streaming --tokenizer builtin --use-server-token-count --input-file "+file); run.Tokenizer.Name == "" {
		t.Error("no tokenizer makes the ids")
	}
	run, warnings := mustResolve(t, "-m m --endpoint-type image_edit --request-content-type multipart/form-data --download-video-content")
	if !run.Endpoint.Form || !run.Endpoint.DownloadVideo {
		t.Errorf("%+v", run.Endpoint)
	}
	wantText(t, "warnings", texting(warnings), "--download-video-content has no effect")
}

package resolve

import (
	"strings"
	"testing"

	"aiperf/internal/config/configtest"
	"aiperf/internal/config/file"
	"aiperf/internal/config/settings"
)

func TestSecretsAreNotEchoed(t *testing.T) {
	for _, line := range []string{
		"--header Bearer-hunter2", "--api-key= --concurrency hunter3 --api-key hunter2 --api-key hunter2",
		"--url http://u:hunter2@ -m m", "--header {hunter2",
	} {
		p, err := settings.Parse(configtest.Words(line), configtest.Environ())
		if err == nil {
			_, _, err = Resolve(p, fakeCatalog{})
		}
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// FuzzParse holds that no arguments make the parser or the resolution panic, that the recorded command
// line never holds the API key, and that parsing is a function of its input.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"--model\nm", "--url\na\nb\n--streaming", "--concurrency\n1,2,3", "--extra-inputs\n{\"a\":[1,{}]}",
		"-H\nA:1,B:2",
		"--seq-dist\n[(1,1):100]", "--goodput\na:1", "--\nx", "-vv\n-v", "--api-key\nzzsecretzz",
		"--benchmark-duration\n1e300\n--model\nm",
		"--request-count\n9223372036854775807\n-m\nm\n--concurrency\n9223372036854775807",
		"--fixed-schedule\n--input-file\n.\n-m\nm", "--prefix\nx", "--profile-export-prefix\n../..\n-m\nm",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "input-file") || strings.Contains(text, "input_file") ||
			strings.Contains(text, "system-prompt") {
			t.Skip("reads files of the machine")
		}
		args := strings.Split(text, "\n")
		p, err := settings.Parse(args, configtest.Environ())
		if err != nil {
			return
		}
		run, _, err := Resolve(p, fakeCatalog{})
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		if key := run.Endpoint.APIKey; len(key) > 6 && strings.Contains(run.CLICommand, key) &&
			strings.Count(text, key) == 1 {
			t.Errorf("the command line holds the key: %s", run.CLICommand)
		}
		if len(file.Exported(run)) == 0 {
			t.Error("no exported configuration")
		}
	})
}

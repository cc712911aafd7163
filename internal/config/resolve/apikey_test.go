package resolve

import (
	"strings"
	"testing"

	"aiperf/internal/config/configtest"
	"aiperf/internal/config/settings"
)

func TestKeyOfTheEnvironmentStaysOutOfTheWay(t *testing.T) {
	for line, want := range map[string]string{
		"-m m":                            "sk-openai",
		"-m m -H X-Auth-Token:mine":       "",
		"-m m --url http://10.0.0.1":      "",
		"-m m --api-key given":            "given",
		"-m m --url https://10.0.0.1":     "sk-openai",
		"-m m -H X-Session-ID:abc":        "sk-openai",
		"-m m --url localhost http://h:1": "",
	} {
		p, err := settings.Parse(strings.Fields(line), configtest.Environ("OPENAI_API_KEY=sk-openai"))
		if err != nil {
			t.Fatal(err)
		}
		run, warnings, err := Resolve(p, fakeCatalog{})
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if run.Endpoint.APIKey != want {
			t.Errorf("%s: key %q", line, run.Endpoint.APIKey)
		}
		if said := configtest.Texting(warnings); strings.Contains(said, "sk-openai") || want == "sk-openai" &&
			!strings.Contains(said, "OPENAI_API_KEY") {
			t.Errorf("%s: %s", line, said)
		}
	}
}

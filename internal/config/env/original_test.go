package env_test

import (
	"os"
	"strings"
	"testing"

	"aiperf/internal/config/env"
	"aiperf/internal/config/option"
)

// Variables of the environment of the original are known here: checked, even where they have no effect.
func TestVariablesOfTheOriginal(t *testing.T) {
	text, err := os.ReadFile("testdata/environment-0.13.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, v := range env.Variables() {
		known[option.EnvPrefix+v.Name] = true
	}
	for name := range strings.FieldsSeq(string(text)) {
		if !known[name] {
			t.Errorf("%s is not known", name)
		}
	}
}

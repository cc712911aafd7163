package sweep

import "testing"

func TestVariantsNameFlags(t *testing.T) {
	for text, want := range map[string]string{
		"few: concurrency=2, osl=8":  "few",
		"request_rate=2.5":           "v3",
		"--isl=64, --request-rate=1": "v3",
	} {
		v, err := variant(text, 3)
		if err != nil || v.Label != want {
			t.Errorf("%q: label %q, %v; want %q", text, v.Label, err, want)
		}
	}
	for text, want := range map[string]string{
		"few: concurency=2":            "there is no flag --concurency",
		"concurrency=2, concurrency=3": "concurrency is given twice",
		"few:":                         "it sets nothing; write key=value, with the names of flags as keys",
		"few: concurrency":             `"concurrency" is not key=value`,
		"../few: concurrency=2":        "the name cannot be that of a folder",
	} {
		if _, err := variant(text, 0); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

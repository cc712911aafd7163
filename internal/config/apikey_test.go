package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindKey(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "@" + path
	}
	both := map[string]string{"AIPERF_API_KEY": "own", "OPENAI_API_KEY": "other"}
	other := map[string]string{"AIPERF_API_KEY": " ", "OPENAI_API_KEY": " other\n"}
	for _, c := range []struct {
		name, flag, url string
		environment     map[string]string
		want            Key
		fault           string
	}{
		{"the flag wins", "flag", "http://h", both, Key{Value: "flag"}, ""},
		{"then the program's own variable", "", "http://h", both, Key{Value: "own", Variable: "AIPERF_API_KEY"}, ""},
		{"then the common one over TLS", "", "https://api.example.com/v1", other,
			Key{Value: "other", Variable: "OPENAI_API_KEY"}, ""},
		{"on this machine", "", "127.0.0.1:8000", other, Key{Value: "other", Variable: "OPENAI_API_KEY"}, ""},
		{"on this machine by name", "", "http://localhost:8000", other, Key{Value: "other", Variable: "OPENAI_API_KEY"},
			""},
		{"but not in clear text elsewhere", "", "http://10.0.0.1:8000", other,
			Key{Variable: "OPENAI_API_KEY", Withheld: true}, ""},
		{"none", "", "http://h", nil, Key{}, ""},
		{"a file", file("key", "\uFEFF sk-1 \r\n"), "http://h", both, Key{Value: "sk-1"}, ""},
		{"a key that begins with @", "@@key", "http://h", nil, Key{Value: "@key"}, ""},
		{"no file", "@", "http://h", nil, Key{}, "needs the name of a file"},
		{"a missing file", "@" + filepath.Join(dir, "none"), "http://h", nil, Key{}, "the key cannot be read"},
		{"a folder", "@" + dir, "http://h", nil, Key{}, "the key cannot be read"},
		{"an empty file", file("empty", " \n"), "http://h", nil, Key{}, "is empty"},
		{"two lines", file("two", "sk-1\nsk-2"), "http://h", nil, Key{}, "several lines"},
		{"a large file", file("large", strings.Repeat("x", maxKeyFile+1)), "http://h", nil, Key{}, "too large"},
	} {
		key, err := FindKey(c.flag, []string{c.url}, environ(pairs(c.environment)...))
		switch {
		case c.fault != "":
			if err == nil || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "sk-") {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil || key != c.want:
			t.Errorf("%s: %+v, %v", c.name, key, err)
		}
	}
}

func pairs(m map[string]string) (list []string) {
	for name, value := range m {
		list = append(list, name+"="+value)
	}
	return list
}

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
		p, err := Parse(strings.Fields(line), environ("OPENAI_API_KEY=sk-openai"))
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
		if said := texting(warnings); strings.Contains(said, "sk-openai") || want == "sk-openai" &&
			!strings.Contains(said, "OPENAI_API_KEY") {
			t.Errorf("%s: %s", line, said)
		}
	}
}

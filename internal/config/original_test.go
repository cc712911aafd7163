package config

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// originalOption is a spelling of an option of AIPerf 0.13, as its help and its answers show it. A flag takes no value,
// a list any number; values are its choices or one that is accepted.
type originalOption struct {
	command, name, kind string
	values              []string
}

// originalOptions reads testdata/options-0.13.tsv, which interop/reference/options.sh compares with the original.
func originalOptions(t *testing.T) []originalOption {
	t.Helper()
	file, err := os.Open("testdata/options-0.13.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := csv.NewReader(file)
	in.Comma = '\t'
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []originalOption
	for _, row := range rows[1:] {
		o := originalOption{command: row[0], name: row[1], kind: row[2]}
		if row[3] != "" {
			o.values = strings.Split(row[3], "|")
		}
		out = append(out, o)
	}
	return out
}

// parseAlone parses one option.
func parseAlone(args ...string) error {
	_, err := Parse(args, func(string) (string, bool) { return "", false })
	return err
}

// Every spelling of an option of the original is one of ours, takes a value where it does there, in both forms, and has
// all its choices, whether words are joined by dashes, as its help has them, or by underscores.
func TestOptionsOfTheOriginal(t *testing.T) {
	existing := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(existing, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, o := range originalOptions(t) {
		if o.command != "profile" {
			continue
		}
		seen++
		ours, _, known := findOption(o.name)
		if !known {
			t.Errorf("%s is not an option", o.name)
			continue
		}
		if takes := o.kind != "flag"; takes == (ours.Type == Bool) {
			t.Errorf("%s takes a value: %v there, %v here", o.name, takes, ours.Type != Bool)
			continue
		}
		if o.kind == "flag" {
			if err := parseAlone(o.name); err != nil {
				t.Errorf("%s: %v", o.name, err)
			}
			continue
		}
		for _, value := range o.values {
			if ours.MustExist {
				value = existing
			}
			forms := [][]string{{o.name, value}, {o.name + "=" + value}}
			if o.kind == "choice" {
				forms = append(forms, []string{o.name, strings.ReplaceAll(value, "-", "_")}, []string{o.name, strings.ToUpper(value)})
			}
			for _, args := range forms {
				if err := parseAlone(args...); err != nil {
					t.Errorf("%q: %v", args, err)
				}
			}
		}
		if o.kind != "list" {
			continue
		}
		if ours.Arity != Multi {
			t.Errorf("%s takes any number of values behind it there", o.name)
		}
	}
	if seen != 321 {
		t.Errorf("%d spellings, the original has 321", seen)
	}
}

// Variables of the environment of the original are known here: checked, even where they have no effect.
func TestVariablesOfTheOriginal(t *testing.T) {
	text, err := os.ReadFile("testdata/environment-0.13.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, v := range Variables() {
		known[EnvPrefix+v.Name] = true
	}
	for name := range strings.FieldsSeq(string(text)) {
		if !known[name] {
			t.Errorf("%s is not known", name)
		}
	}
}

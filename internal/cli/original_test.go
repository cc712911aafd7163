package cli

import (
	"bytes"
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
)

// originalOption is a spelling of an option of AIPerf 0.13, as its help and its answers show it. A flag takes no value,
// a list any number; values are its choices or one that is accepted.
type originalOption struct {
	command, name, kind string
	values              []string
}

// originalOptions reads the options of a command, of all commands for "", from testdata/options-0.13.tsv, which
// interop/reference/options.sh compares with the original.
func originalOptions(t *testing.T, command string) []originalOption {
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
		if command == "" || row[0] == command {
			out = append(out, originalOption{row[0], row[1], row[2], strings.Split(row[3], "|")})
		}
	}
	return out
}

// parseAlone parses one option.
func parseAlone(args ...string) error {
	_, err := settings.Parse(args, func(string) (string, bool) { return "", false })
	return err
}

// ourOption is the option with a spelling.
func ourOption(spelling string) (option.Option, bool) {
	all := option.All()
	i := slices.IndexFunc(all, func(o option.Option) bool { return slices.Contains(o.Spellings(), spelling) })
	if i < 0 {
		return option.Option{}, false
	}
	return all[i], true
}

// Every spelling of an option of the original is one of ours, takes a value where it does there, in both forms, and has
// all its choices, whether words are joined by dashes, as its help has them, or by underscores.
func TestOptionsOfTheOriginal(t *testing.T) {
	options := originalOptions(t, "profile")
	if len(options) != 321 {
		t.Errorf("%d spellings, the original has 321", len(options))
	}
	for _, o := range options {
		ours, known := ourOption(o.name)
		if !known {
			t.Errorf("%s is not an option", o.name)
			continue
		}
		if takes := o.kind != "flag"; takes == (ours.Type == option.Bool) {
			t.Errorf("%s takes a value: %v there, %v here", o.name, takes, ours.Type != option.Bool)
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
				value = existingFile(t)
			}
			forms := [][]string{{o.name, value}, {o.name + "=" + value}}
			if o.kind == "choice" {
				forms = append(forms, []string{o.name, strings.ReplaceAll(value, "-", "_")},
					[]string{o.name, strings.ToUpper(value)})
			}
			for _, args := range forms {
				if err := parseAlone(args...); err != nil {
					t.Errorf("%q: %v", args, err)
				}
			}
		}
		if o.kind == "list" && ours.Arity != option.Multi {
			t.Errorf("%s takes any number of values behind it there", o.name)
		}
	}
}

// The help of every command that this release has names each option that the original's has; a command that it lacks is
// refused by name.
func TestOptionsOfOtherCommandsOfTheOriginal(t *testing.T) {
	missing := map[string]bool{}
	for _, c := range missingCommands {
		missing[c.name] = true
	}
	help := map[string]string{}
	for _, o := range originalOptions(t, "") {
		words := strings.Fields(o.command)
		if o.command == "profile" || missing[words[0]] {
			continue
		}
		text, known := help[o.command]
		if !known {
			text = helpOf(t, words)
			help[o.command] = text
		}
		if !namesOption(text, o.name) {
			t.Errorf("aiperf %s --help all does not name %s", o.command, o.name)
		}
	}
	if len(help) == 0 {
		t.Error("no command was looked at")
	}
}

// namesOption reports whether a help text has the spelling as a word.
func namesOption(text, name string) bool {
	for word := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return strings.ContainsRune(" \n\t,;:|[]()=.", r) }) {
		if word == name {
			return true
		}
	}
	return false
}

func helpOf(t *testing.T, words []string) string {
	t.Helper()
	var out bytes.Buffer
	e := &command.Env{Terminal: &command.Terminal{Out: &out, Err: &out, StyledOut: &out},
		LookupEnv: func(string) (string, bool) { return "", false }}
	if code := execute(e, append(words, "--help", "all")); code != command.ExitOK {
		t.Fatalf("aiperf %s --help all: exit code %d", strings.Join(words, " "), code)
	}
	return out.String()
}

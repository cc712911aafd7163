package flags_test

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config/flags"
)

// told is what the flags of a table of the tests were set to.
type told struct {
	on                          bool
	history                     bool
	output, format, more, input string
	tags                        []string
}

func (o *told) table() *flags.Table {
	switchWithValue := flags.Value("history", "", "a switch that takes a value", flags.Bool(&o.history))
	switchWithValue.Negation, switchWithValue.Value = "no-history", ""
	several := flags.Value("formats", "LIST", "one value or several", func(v string) error { o.more += v + ";"; return nil })
	several.More = func(arg string) bool { return arg == "json" || arg == "csv" }
	hidden := flags.Value("hidden", "X", "", func(v string) error { return nil })
	unlisted := flags.Value("concurrency", "N", "-c is the same", flags.Text(&o.input))
	unlisted.Unlisted = "c"
	return &flags.Table{Command: "try", About: "About.\n", Footer: "End.\n", Flags: []flags.Flag{
		flags.Switch("on -1", "a switch", &o.on), flags.Value("output-dir out -o", "DIR", "a value", flags.Text(&o.output)),
		flags.Choice("format", "NAME", "a choice", &o.format, "json", "csv"), flags.Value("tags", "LIST", "a list", flags.List(&o.tags)),
		switchWithValue, several, hidden, unlisted,
	}}
}

func TestParse(t *testing.T) {
	for line, want := range map[string]told{
		"--on --output-dir=a --format CSV":     {on: true, output: "a", format: "csv"},
		"-1 -o a --output_dir b":               {on: true, output: "b"},
		"--out --on":                           {output: "--on"},
		"--output-dir=a=b":                     {output: "a=b"},
		"--tags a,b --tags c":                  {tags: []string{"a", "b", "c"}},
		"--history":                            {history: true},
		"--history --history=no":               {},
		"--history --no-history":               {},
		"--no-history --history":               {history: true},
		"--formats x json csv --on":            {more: "x;json;csv;", on: true},
		"-c 5":                                 {input: "5"},
		"-- --on":                              {},
		"--formats=x json -- csv":              {more: "x;json;"},
		"-":                                    {},
		"--concurrency -1":                     {input: "-1"},
		"word --on other --output-dir x third": {on: true, output: "x"},
	} {
		var got told
		if _, err := got.table().Parse(strings.Fields(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if got.on != want.on || got.history != want.history || got.output != want.output || got.format != want.format ||
			got.more != want.more || got.input != want.input || !slices.Equal(got.tags, want.tags) {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	words, err := new(told).table().Parse([]string{"a", "-", "--on", "--", "--on", "-x"})
	if want := []string{"a", "-", "--on", "-x"}; err != nil || !slices.Equal(words, want) {
		t.Errorf("words %q, %v; want %q", words, err, want)
	}
}

func TestMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"--zzzzzzzz":     "unknown option --zzzzzzzz; see aiperf try --help",
		"--outputdir 3":  "unknown option --outputdir; did you mean --output-dir?",
		"-on":            "unknown option -on; did you mean --on?",
		"-oc":            "unknown option -oc; did you mean --on?",
		"-z":             "unknown option -z; see aiperf try --help",
		"--hiden":        "unknown option --hiden; see aiperf try --help",
		"--on=yes":       "--on takes no value",
		"--no-history=1": "--no-history takes no value",
		"-o":             "--output-dir needs a value: DIR",
		"--formats":      "--formats needs a value: LIST",
		"--format xml":   `--format: "xml" is none of json, csv`,
		"--tags a,,b":    `--tags: "a,,b" has an empty item`,
		"--":             "",
	} {
		_, err := new(told).table().Parse(strings.Fields(line))
		if got := ""; err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestWordsThatHaveAPlace(t *testing.T) {
	var o told
	table := o.table()
	table.Places, table.Once = []string{"output-dir"}, true
	if _, err := table.Parse([]string{"a"}); err != nil || o.output != "a" {
		t.Errorf("%+v %v", o, err)
	}
	for line, want := range map[string]string{
		"a b":              `unexpected argument "b"; see aiperf try --help`,
		"a --output-dir b": "--output-dir is given twice",
		"--on --on":        "--on is given twice",
	} {
		if _, err := table.Parse(strings.Fields(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestClusters(t *testing.T) {
	for line, want := range map[string]told{
		"-1oa":   {on: true, output: "a"},
		"-oa":    {output: "a"},
		"-o=a":   {output: "a"},
		"-1o a":  {on: true, output: "a"},
		"-1c5 x": {on: true, input: "5"},
	} {
		var got told
		table := got.table()
		table.Clustered = true
		if _, err := table.Parse(strings.Fields(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if got.on != want.on || got.output != want.output || got.input != want.input {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}

// shown is the help of a table for words, which must be there.
func shown(t *testing.T, table *flags.Table, look flags.Look, words ...string) string {
	t.Helper()
	text, err := table.Help(words, look)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestHelpText(t *testing.T) {
	var o told
	table := o.table()
	table.About, table.Footer = "Usage: aiperf try\n\nOne line\nand another.\n\nOptions:\n", "Exit codes: 0 always.\n"
	table.Flags = table.Flags[:2]
	table.Flags[1].Default = "80"
	table.Examples = []flags.Example{{For: "a first try", Command: "aiperf try --on"}}
	want := `Usage: aiperf try

One line and another.

Examples:
  # a first try
  aiperf try --on

Options:
  -1, --on           a switch
  -o, --output-dir, --out DIR
                     a value (default 80)
  -h, --help [WORD]  this text; with a word, the
                     flags that mention it

Exit codes: 0 always.
`
	if got := shown(t, table, flags.Look{Width: 48}); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if styled := shown(t, table, flags.Look{Width: 48, Styles: true}); !strings.Contains(styled, "\x1b[1mOptions:\x1b[0m\n") {
		t.Errorf("%q", styled)
	}
}

// topics is a table with two topics, more flags than fit, and some that are usual.
func topics() *flags.Table {
	table := &flags.Table{Command: "try", About: "Usage: aiperf try\n",
		Topics: []flags.Topic{{Name: "load", Title: "Load"}, {Name: "files", Title: "Files, results"}},
		Short:  []flags.Section{{Title: "Usual", Names: []string{"rate", "timeout"}}},
		Entries: func() []flags.Entry {
			return []flags.Entry{{Name: "TRY_TIMEOUT", Help: "Limit of a try. Not more."}}
		}, EntriesTitle: "Variables"}
	for _, f := range []flags.Flag{
		flags.Value("request-rate rate", "N", "How often. In detail.", nil),
		flags.Value("request-timeout-seconds timeout", "SECONDS", "Limit of a request.", nil),
		flags.Value("pause", "SECONDS", "Pause that has no\ntimeout.", nil),
	} {
		f.Topic = "load"
		table.Flags = append(table.Flags, f)
	}
	out := flags.Value("out -o", "FILE", "Where the rest goes.", nil)
	out.Topic = "files"
	table.Flags = append(table.Flags, out)
	return table
}

func TestHelpByTopicAndByWord(t *testing.T) {
	table := topics()
	for words, want := range map[string][]string{
		"":                {"Usual:", "--rate N", "How often\n", "--help TOPIC", "load, files"},
		"all":             {"Load:", "Files, results:", "-o, --out FILE", "--pause SECONDS", "How often. In detail."},
		"load":            {"aiperf try: Load", "--pause", "--request-rate"},
		"results":         {"Files, results", "-o, --out"},
		"timeout":         {"of this name:\n  --request-timeout-seconds, --timeout SECONDS", "mention it:\n  --pause", "Variables:\n  TRY_TIMEOUT  Limit of a try\n"},
		"REQUEST_TIMEOUT": {"--request-timeout-seconds"},
		"--out":           {"-o, --out FILE"},
		"pause timeout":   {"--pause"},
	} {
		got := shown(t, table, flags.Look{}, strings.Fields(words)...)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("--help %s lacks %q:\n%s", words, part, got)
			}
		}
	}
	if got := shown(t, table, flags.Look{}, "load"); strings.Contains(got, "--out") {
		t.Errorf("a topic shows the flags of another one:\n%s", got)
	}
	_, err := table.Help([]string{"timeot"}, flags.Look{})
	want := "aiperf try has no flag that has or mentions \"timeot\"; did you mean --help timeout?\nThe topics are: load, files"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestHelpWins(t *testing.T) {
	for line, want := range map[string]string{
		"--help": "yes:", "-h": "yes:", "--foo x --help": "yes:", "--url a --help": "yes:", "-- --help": "no", "": "no",
		"--help load": "yes:load", "-h request timeout": "yes:request timeout", "--help=load": "yes:load",
		"--help --rate": "yes:--rate", "--help --rate 5": "yes:", "x --help all --rate 5": "yes:all",
	} {
		words, asked := flags.HelpWords(strings.Fields(line))
		got := "no"
		if asked {
			got = "yes:" + strings.Join(words, " ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// FuzzParse has no input that ends the program, and none that is lost: what is not refused is a value or a word.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"--on a --output-dir=b -- c", "-1oa --formats x json", "--=x", "-", "-=",
		"--tags a,b"} {
		f.Add(line, true)
	}
	f.Fuzz(func(t *testing.T, line string, clustered bool) {
		var o told
		table := o.table()
		table.Clustered = clustered
		args := strings.Fields(line)
		words, err := table.Parse(args)
		if err == nil && len(words) > len(args) {
			t.Errorf("%q has the words %q", args, words)
		}
	})
}

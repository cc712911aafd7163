package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/docs"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
)

// Each command is in one family of the help.
func TestHelpHasEveryCommandOnce(t *testing.T) {
	var inHelp, all []string
	for _, f := range families {
		inHelp = append(inHelp, f.names...)
	}
	for _, c := range commands() {
		all = append(all, c.Name)
	}
	slices.Sort(inHelp)
	slices.Sort(all)
	if !slices.Equal(inHelp, all) {
		t.Errorf("the help has %q, there are %q", inHelp, all)
	}
}

// No line of a help text is wider than the terminal, and the first one of a command fits a screen or two.
func TestHelpFits(t *testing.T) {
	for _, width := range []int{80, 100} {
		for _, table := range tables() {
			questions := [][]string{nil, {"all"}}
			for _, topic := range table.Topics {
				questions = append(questions, []string{topic.Name})
			}
			if len(table.Flags) > 0 {
				questions = append(questions, []string{table.Flags[0].Name})
			}
			for _, words := range questions {
				text, err := table.Help(words, flags.Look{Width: width})
				if err != nil {
					t.Errorf("aiperf %s --help %s: %v", table.Command, strings.Join(words, " "), err)
				}
				fits(t, "aiperf "+table.Command+" --help "+strings.Join(words, " "), text, width)
				if n := strings.Count(text, "\n"); words == nil && n > flags.MostHelpLines {
					t.Errorf("aiperf %s --help has %d lines, want %d at most:\n%s", table.Command, n, flags.MostHelpLines, text)
				}
			}
		}
	}
	for _, words := range []string{"", "kube", "config", "analyze", "tokenizer", "service", "timeout"} {
		fits(t, "aiperf help "+words, outputOf(t, append([]string{"help"}, strings.Fields(words)...)...), 80)
	}
	if text := outputOf(t, "--help"); strings.Count(text, "\n") > flags.MostHelpLines {
		t.Errorf("aiperf --help has more than %d lines:\n%s", flags.MostHelpLines, text)
	}
}

func fits(t *testing.T, what, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width {
			t.Errorf("%s has a line of %d columns, want %d at most: %s", what, utf8.RuneCountInString(line), width, line)
		}
		if strings.HasSuffix(line, " ") || strings.Contains(line, "\t") {
			t.Errorf("%s has blanks at the end of a line, or a tab: %q", what, line)
		}
	}
}

// outputOf is what a command prints that must succeed.
func outputOf(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	e := &command.Env{Terminal: &command.Terminal{Out: &out, Err: &out, StyledOut: &out, StyledErr: &out},
		LookupEnv: func(string) (string, bool) { return "", false }}
	if code := execute(e, args); code != command.ExitOK {
		t.Fatalf("aiperf %s: exit code %d\n%s", strings.Join(args, " "), code, out.String())
	}
	return out.String()
}

// Every command has examples, which its own parser reads: the flags of its table, and those of aiperf profile where it
// takes them.
func TestExamplesOfTheHelp(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"prompts.jsonl", "log.csv", "token", "bench.yaml", "sweep.yaml", "job.yaml", "mooncake_trace.jsonl",
		"recording", "agents.jsonl"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := tables()
	for _, table := range list {
		if len(table.Examples) == 0 && len(table.Flags) > 0 {
			t.Errorf("the help of aiperf %s has no example", table.Command)
		}
		for _, example := range table.Examples {
			var args []string
			for _, word := range flags.Words(example.Command) {
				args = append(args, strings.NewReplacer(`'`, "", `"`, "").Replace(word))
			}
			if end := slices.Index(args, "|"); end >= 0 {
				args = args[:end]
			}
			of, rest := tableOf(list, args)
			if of == nil || args[0] != "aiperf" {
				t.Errorf("%s: %s is no command", table.Command, example.Command)
				continue
			}
			if err := parses(of, rest); err != nil {
				t.Errorf("%s: %v", example.Command, err)
			}
		}
	}
}

// tableOf finds the table of a command line, and the arguments behind the name of the command.
func tableOf(list []*flags.Table, args []string) (found *flags.Table, rest []string) {
	for _, table := range list {
		name := strings.Fields(table.Command)
		if len(args) > len(name) && slices.Equal(args[1:1+len(name)], name) &&
			(found == nil || len(table.Command) > len(found.Command)) {
			found, rest = table, args[1+len(name):]
		}
	}
	return found, rest
}

// parses reads arguments as the command of a table does.
func parses(table *flags.Table, args []string) error {
	of := func(args []string) error {
		_, err := settings.Parse(args, func(string) (string, bool) { return "", false })
		return err
	}
	if table.Command == "profile" || table.Command == "demo" {
		return of(args)
	}
	if at := slices.Index(args, "--"); at >= 0 && strings.HasPrefix(table.Command, "config") {
		if err := of(args[at+1:]); err != nil {
			return err
		}
		args = args[:at]
	}
	if table.Also == nil {
		_, err := table.Parse(args)
		return err
	}
	var own, also []string
	for i := 0; i < len(args); i++ {
		at, _ := table.Find(args[i])
		switch {
		case at < 0 || !strings.HasPrefix(args[i], "-"):
			also = append(also, args[i])
			continue
		case table.Flags[at].Value != "" && i+1 < len(args):
			own = append(own, args[i], args[i+1])
			i++
		default:
			own = append(own, args[i])
		}
	}
	if _, err := table.Parse(own); err != nil {
		return err
	}
	if table.Command == "data" && len(also) > 0 {
		also = append([]string{"--input-file"}, also...)
	}
	return of(also)
}

// Every page that a help text or a message names exists, and none names a file of the source tree instead.
func TestHintsLeadToPages(t *testing.T) {
	exists := func(page string) bool {
		_, err := fs.Stat(docs.Pages, page+".md")
		return err == nil
	}
	for _, table := range tables() {
		if table.Page != "" && !exists(table.Page) {
			t.Errorf("aiperf %s refers to the page %q, which is not there", table.Command, table.Page)
		}
	}
	file := regexp.MustCompile(`docs/[a-z-]+\.md`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, _ := strconv.Unquote(n.Value); n.Kind == token.STRING && file.MatchString(text) {
					t.Errorf("%s: %s should be manual.Page", path, file.FindString(text))
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Page" && len(n.Args) == 1 {
					if of, ok := f.X.(*ast.Ident); ok && of.Name == "manual" {
						if name, ok := n.Args[0].(*ast.BasicLit); ok {
							if page, _ := strconv.Unquote(name.Value); page != "PAGE" && !exists(page) {
								t.Errorf("%s: there is no page %q", path, page)
							}
						}
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The flags of the first help text exist, each in one section and with an explanation that fits.
func TestUsualFlagsHaveALine(t *testing.T) {
	for _, table := range tables() {
		seen := map[int]bool{}
		for _, section := range table.Short {
			for _, name := range section.Names {
				i, _ := table.Find("--" + name)
				if i < 0 {
					t.Errorf("aiperf %s has no --%s", table.Command, name)
				} else if seen[i] {
					t.Errorf("aiperf %s: --%s is shown twice", table.Command, name)
				}
				seen[i] = true
			}
		}
		text, err := table.Help(nil, flags.Look{})
		if err == nil && table.Command == "profile" && strings.Contains(text, "…\n") {
			t.Errorf("an explanation is cut:\n%s", text)
		}
	}
	if len(option.Topics()) != len(option.Groups()) {
		t.Error("a group has no topic")
	}
}

func TestSearchOfTheDocumentationHasTheBestPlaceFirst(t *testing.T) {
	for words, want := range map[string]string{
		"goodput":        "metrics",
		"capacity probe": "capacity",
		"mock server":    "mock-server",
		"tokenizer pack": "tokenizers",
		"gpu telemetry":  "gpu-telemetry",
		"public-dataset": "public-datasets",
		"server metrics": "server-metrics",
		"compare runs":   "results",
	} {
		got := outputOf(t, append([]string{"docs", "--"}, strings.Fields(words)...)...)
		fits(t, "aiperf docs "+words, got, 80)
		if first, _, _ := strings.Cut(got, "\n"); !strings.HasPrefix(first+" ", "aiperf docs "+want+" ") {
			t.Errorf("aiperf docs %s: %s, want %s first", words, first, want)
		}
	}
}

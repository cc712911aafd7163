package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/cli/command"
	"aiperf/internal/cli/docs"
	"aiperf/internal/config/flags"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/run"
)

// isCompletion reports whether a shell's completion script is asking.
func isCompletion(name string) bool {
	return name == cobra.ShellCompRequestCmd || name == cobra.ShellCompNoDescRequestCmd
}

// tables are the flags of every command, in the order of the commands.
func tables() []*flags.Table { return command.TablesOf(commands()) }

// completionTree is the command tree as completion scripts see it; parsing is that of the tables.
func completionTree() *cobra.Command {
	root := &cobra.Command{Use: "aiperf"}
	root.CompletionOptions.DisableDefaultCmd = true
	byPath := map[string]*cobra.Command{}
	add := func(to *cobra.Command, path, name, summary string) {
		byPath[path] = &cobra.Command{Use: name, Short: summary, Run: func(*cobra.Command, []string) {}}
		to.AddCommand(byPath[path])
	}
	for _, c := range commands() {
		add(root, c.Name, c.Name, c.Summary)
	}
	for _, t := range tables() {
		if command, what, ok := strings.Cut(t.Command, " "); ok {
			add(byPath[command], t.Command, what, "")
		}
		addFlags(byPath[t.Command], t)
		if t.Command == "docs" {
			byPath[t.Command].ValidArgs = docs.Names()
		}
	}
	return root
}

func addFlags(c *cobra.Command, t *flags.Table) {
	for _, f := range t.Flags {
		if f.Help == "" {
			continue
		}
		help, _, _ := strings.Cut(strings.ReplaceAll(f.Help, "\n", " "), ". ")
		for _, name := range f.Long() {
			if f.Value == "" {
				c.Flags().Bool(name, false, help)
				continue
			}
			c.Flags().String(name, "", help)
			switch {
			case f.Values != nil:
				c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(f.Values, cobra.ShellCompDirectiveNoFileComp))
			case f.Name == "goodput":
				c.RegisterFlagCompletionFunc(name, metricCompletion(run.Catalog{}.MetricTags(), ":"))
			case f.Name == "fail-if" || f.Name == "convergence-metric":
				c.RegisterFlagCompletionFunc(name, metricCompletion(metrics.Names(), ""))
			}
		}
	}
}

// metricCompletion offers the names of metrics for the last word of a value, each with what follows it.
func metricCompletion(names []string, ending string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, value string) ([]string, cobra.ShellCompDirective) {
		before := value[:strings.LastIndexByte(value, ' ')+1]
		var out []string
		for _, name := range names {
			if word := before + name + ending; strings.HasPrefix(word, value) {
				out = append(out, word)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// complete answers a completion script.
func complete(e *command.Env, args []string) error {
	root := completionTree()
	root.SetArgs(args)
	root.SetOut(e.Terminal.StyledOut)
	root.SetErr(io.Discard)
	if root.Execute() != nil {
		return command.Exit(command.ExitFailure)
	}
	return nil
}

// shells are the supported shells: how their script is made and where it goes below the home directory.
var shells = map[string]struct {
	write func(*cobra.Command, io.Writer) error
	path  string
	after string
}{
	"bash": {func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) },
		".local/share/bash-completion/completions/aiperf", "Start a new shell to use it."},
	"zsh": {(*cobra.Command).GenZshCompletion, ".zfunc/_aiperf",
		"Make sure that ~/.zshrc has \"fpath+=~/.zfunc\" before \"compinit\", then start a new shell."},
	"fish": {func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) },
		".config/fish/completions/aiperf.fish", "Start a new shell to use it."},
	"powershell": {(*cobra.Command).GenPowerShellCompletionWithDesc, ".config/powershell/aiperf-completion.ps1",
		"Source the file from your profile to use it."},
}

// installCompletion writes a shell's completion script where the shell looks for it.
func installCompletion(e *command.Env, args []string) error {
	var shell, output string
	words, err := completionTable(&shell, &output).Parse(args)
	switch {
	case err != nil:
		return err
	case len(words) > 0:
		return fmt.Errorf("--install-completion takes --shell and --output, not %s", words[0])
	}
	if shell == "" {
		path, _ := e.LookupEnv("SHELL")
		shell = filepath.Base(path)
	}
	s, ok := shells[shell]
	if !ok {
		return fmt.Errorf("there is no completion for the shell %q; give --shell bash, zsh, fish or powershell",
			shell)
	}
	if output == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("the home directory is not known, give --output PATH: %w", err)
		}
		output = filepath.Join(home, filepath.FromSlash(s.path))
	}
	if err := writeScript(output, func(w io.Writer) error { return s.write(completionTree(), w) }); err != nil {
		return err
	}
	fmt.Fprintf(e.Terminal.Out, "The %s completion was written to %s. %s\n", shell, output, s.after)
	return nil
}

func completionTable(shell, output *string) *flags.Table {
	return &flags.Table{Flags: []flags.Flag{
		flags.Value("shell", "NAME", "the shell", flags.Text(shell)),
		flags.Value("output -o", "PATH", "the file", flags.Text(output)),
	}}
}

func writeScript(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("the completion script cannot be written: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("the completion script cannot be written: %w", err)
	}
	return errors.Join(write(file), file.Close())
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/run"
)

// isCompletion tells whether a shell's completion script is asking.
func isCompletion(name string) bool {
	return name == cobra.ShellCompRequestCmd || name == cobra.ShellCompNoDescRequestCmd
}

// completionTree is the command tree as completion scripts see it; parsing is config's.
func completionTree() *cobra.Command {
	root := &cobra.Command{Use: "aiperf"}
	for _, c := range commands() {
		sub := &cobra.Command{Use: c.name, Short: c.summary, Run: func(*cobra.Command, []string) {}}
		root.AddCommand(sub)
		switch c.name {
		case "profile", "demo":
			addFlags(sub)
		case "selftest":
			addSelftestFlags(sub)
		}
	}
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

func addSelftestFlags(c *cobra.Command) {
	for _, f := range selftestFlags {
		if f.takesValue {
			c.Flags().String(f.name, "", f.help)
		} else {
			c.Flags().Bool(f.name, false, f.help)
		}
	}
}

func addFlags(c *cobra.Command) {
	for _, o := range config.Options() {
		help, _, _ := strings.Cut(o.Help, ". ")
		for _, spelling := range o.Spellings() {
			name, long := strings.CutPrefix(spelling, "--")
			if !long {
				continue
			}
			if o.Type == config.Bool {
				c.Flags().Bool(name, false, help)
				continue
			}
			c.Flags().String(name, "", help)
			switch {
			case o.Type == config.Enum:
				c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(o.Values, cobra.ShellCompDirectiveNoFileComp))
			case o.Name == "goodput":
				c.RegisterFlagCompletionFunc(name, metricCompletion(run.Catalog{}.MetricTags(), ":"))
			case o.Name == "fail-if":
				c.RegisterFlagCompletionFunc(name, metricCompletion(metrics.Names(), ""))
			case o.Name == "convergence-metric":
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
func (a *app) complete(args []string) int {
	root := completionTree()
	root.SetArgs(args)
	root.SetOut(a.terminal.styledOut)
	root.SetErr(io.Discard)
	if root.Execute() != nil {
		return ExitFailure
	}
	return ExitOK
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
func (a *app) installCompletion(args []string) int {
	shell, output, err := completionArgs(args)
	if err != nil {
		return a.fail(err)
	}
	if shell == "" {
		path, _ := a.env("SHELL")
		shell = filepath.Base(path)
	}
	s, ok := shells[shell]
	if !ok {
		return a.fail(fmt.Errorf("there is no completion for the shell %q; give --shell bash, zsh, fish or powershell", shell))
	}
	if output == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return a.fail(fmt.Errorf("the home directory is not known, give --output PATH: %w", err))
		}
		output = filepath.Join(home, filepath.FromSlash(s.path))
	}
	if err := writeScript(output, func(w io.Writer) error { return s.write(completionTree(), w) }); err != nil {
		return a.fail(err)
	}
	fmt.Fprintf(a.terminal.out, "The %s completion was written to %s. %s\n", shell, output, s.after)
	return ExitOK
}

func completionArgs(args []string) (shell, output string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		if !inline {
			if i+1 == len(args) {
				return "", "", fmt.Errorf("%s needs a value", name)
			}
			i++
			value = args[i]
		}
		switch name {
		case "--shell":
			shell = value
		case "--output", "-o":
			output = value
		default:
			return "", "", fmt.Errorf("--install-completion takes --shell and --output, not %s", name)
		}
	}
	return shell, output, nil
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

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"aiperf/tools/programs"
)

// A manualPage is that of a command.
type manualPage struct {
	name, about string
	parts       []manualPart
}

// A manualPart is a group of flags, or a command below the command.
type manualPart struct {
	title string
	flags []manualFlag
}

type manualFlag struct{ names, value, text string }

// manual returns the pages of the manual: aiperf(1), and one for each command. The commands are those that the program
// offers to shells, their flags those of docs/cli.md, which is made of the same tables as the help.
func manual(program, version string, date time.Time) ([]file, error) {
	offered, err := exec.Command(program, "__complete", "").Output()
	if err != nil {
		return nil, fmt.Errorf("aiperf __complete: %w", err)
	}
	page, err := os.ReadFile(filepath.Join(programs.Root, "docs/cli.md"))
	if err != nil {
		return nil, err
	}
	parts := readFlags(string(page))
	var pages []manualPage
	for line := range strings.Lines(string(offered)) {
		if name, about, found := strings.Cut(strings.TrimSpace(line), "\t"); found && !strings.HasPrefix(name, "-") {
			pages = append(pages, manualPage{name, about, parts[name]})
		}
	}
	if len(pages) == 0 || len(parts["profile"]) == 0 {
		return nil, errors.New("the manual would be empty: aiperf __complete has no commands, or docs/cli.md no flags")
	}
	// A header line: title, section, date, source, name of the manual.
	head := func(title string) string {
		return fmt.Sprintf(".TH %s 1 %s %s %s\n.nh\n.ad l\n", roff(strings.ToUpper(title)), date.Format(time.DateOnly),
			quoted("aiperf "+version), quoted("aiperf"))
	}
	var out bytes.Buffer
	out.WriteString(head("aiperf"))
	fmt.Fprintf(&out, ".SH NAME\naiperf \\- benchmark of LLM inference servers\n.SH SYNOPSIS\n.B aiperf\n.I COMMAND\n"+
		"[\\fIFLAGS\\fR]\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n", roff("aiperf sends load to an inference server and reports "+
		"what it takes. \"aiperf demo\" runs a benchmark against a server of its own, \"aiperf COMMAND --help\" shows the "+
		"flags of a command, and \"aiperf licenses\" the licences of all that is in the program."))
	for _, p := range pages {
		fmt.Fprintf(&out, ".TP\n.BR aiperf\\-%s (1)\n%s\n", roff(p.name), roff(p.about))
	}
	out.WriteString(".SH EXIT STATUS\n0: success; 1: failure; 3: a condition of \\-\\-fail\\-if is met; " +
		"4: \\-\\-require\\-valid is not met.\n")
	list := []file{{"aiperf.1", 0o644, bytes.Clone(out.Bytes())}}
	for _, p := range pages {
		out.Reset()
		out.WriteString(head("aiperf-" + p.name))
		fmt.Fprintf(&out, ".SH NAME\naiperf\\-%s \\- %s\n", roff(p.name), roff(p.about))
		out.WriteString(".SH SYNOPSIS\n")
		below := false
		for _, part := range p.parts {
			if strings.HasPrefix(part.title, "aiperf "+p.name+" ") {
				below = true
				fmt.Fprintf(&out, ".B %s\n[\\fIFLAGS\\fR]\n.br\n", roff(part.title))
			}
		}
		if !below {
			fmt.Fprintf(&out, ".B aiperf %s\n[\\fIFLAGS\\fR]\n", roff(p.name))
		}
		out.WriteString(".SH DESCRIPTION\n" + roff("\"aiperf "+p.name+" --help\" says more, with examples.") + "\n")
		if len(p.parts) > 0 {
			out.WriteString(".SH OPTIONS\n")
		}
		for _, part := range p.parts {
			if len(p.parts) > 1 {
				fmt.Fprintf(&out, ".SS %s\n", quoted(part.title))
			}
			for _, f := range part.flags {
				fmt.Fprintf(&out, ".TP\n\\fB%s\\fR", roff(f.names))
				if f.value != "" {
					fmt.Fprintf(&out, " \\fI%s\\fR", roff(f.value))
				}
				fmt.Fprintf(&out, "\n%s\n", roff(f.text))
			}
		}
		out.WriteString(".SH SEE ALSO\n.BR aiperf (1)\n")
		list = append(list, file{"aiperf-" + p.name + ".1", 0o644, bytes.Clone(out.Bytes())})
	}
	return list, nil
}

// readFlags reads docs/cli.md: what is before "Other commands" are the flags of profile in groups, then each heading is a
// command.
func readFlags(page string) map[string][]manualPart {
	parts := map[string][]manualPart{}
	others, command := false, ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case line == "# Other commands":
			others, command = true, ""
		case strings.HasPrefix(line, "## "):
			title := strings.TrimPrefix(line, "## ")
			command = "profile"
			if others {
				command, _, _ = strings.Cut(strings.TrimPrefix(title, "aiperf "), " ")
			}
			parts[command] = append(parts[command], manualPart{title: title})
		case command != "" && strings.HasPrefix(line, "| `"):
			cells := splitRow(line)
			if len(cells) < 3 {
				continue
			}
			f := manualFlag{names: strings.Join(strings.Fields(cells[0]), ", "), value: cells[1], text: cells[len(cells)-1]}
			if len(cells) == 5 { // default and limits have columns of their own
				if cells[2] != "" {
					f.text += " Default: " + cells[2] + "."
				}
				if cells[3] != "" {
					f.text += " Limits: " + cells[3] + "."
				}
			}
			last := &parts[command][len(parts[command])-1]
			last.flags = append(last.flags, f)
		}
	}
	return parts
}

var markdown = regexp.MustCompile("`([^`]*)`|\\*([^* ][^*]*)\\*|\\[([^\\]]*)\\]\\([^)]*\\)")

// splitRow returns the cells of a row of a table as plain text.
func splitRow(line string) []string {
	const bar = "\x00"
	line = strings.ReplaceAll(strings.Trim(line, "| "), `\|`, bar)
	cells := strings.Split(line, "|")
	for i, cell := range cells {
		cell = markdown.ReplaceAllString(strings.TrimSpace(cell), "$1$2$3")
		cells[i] = strings.ReplaceAll(cell, bar, "|")
	}
	return cells
}

// roff is text as a page of the manual has it: nothing in it is a request, and its hyphens are those of commands.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// quoted is text as one argument of a request.
func quoted(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `""`) + `"` }

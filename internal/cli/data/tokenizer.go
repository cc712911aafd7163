package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

const tokenizerHelp = `Usage: aiperf tokenizer pack MODEL [--output FILE] [--tokenizer-revision REVISION]
       aiperf tokenizer count  --tokenizer NAME [--tokenizer-revision REVISION] FILE.jsonl
       aiperf tokenizer encode --tokenizer NAME [--tokenizer-revision REVISION] FILE.jsonl

pack    writes a tokenizer, its configuration and its chat template as one file, for machines without a
        network: --tokenizer FILE reads it. MODEL is a hub id, a folder or a file.
count   reads one JSON string a line and prints the number of its tokens, a line each.
encode  prints the ids as a JSON array, a line each.

Options:
`

var tokenizerActions = []string{"pack", "count", "encode"}

type tokenizerOptions struct{ load.LinesOptions }

// table is the flags of an action, of all without one.
func (o *tokenizerOptions) table() *flags.Table {
	t := &flags.Table{Command: strings.TrimSpace("tokenizer " + o.Action), About: tokenizerHelp, Page: "tokenizers",
		Examples: tokenizerExamples(),
		Flags: []flags.Flag{
			flags.Value("tokenizer", "NAME", "hub id, folder, file, packed file or a built-in name:\n"+
				strings.Join(tokenizer.BuiltinNames(), ", "), command.NonEmpty(&o.Name)),
			flags.Value("tokenizer-revision", "NAME", "branch, tag or commit on the hub (main)", command.NonEmpty(&o.Revision)),
		}, Footer: `FILE.jsonl may be - for the standard input. Nothing is added to a text: no BOS, no chat template.
HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE work as in the Hugging Face libraries.
`}
	if o.Action == "pack" || o.Action == "" {
		t.Flags = append(t.Flags, flags.Value("output -o", "FILE", "file that pack writes (NAME.tokenizer)",
			command.NonEmpty(&o.Output)))
	}
	return t
}

// tokenizerExamples are examples of all actions.
func tokenizerExamples() []flags.Example {
	return []flags.Example{
		{For: "for a machine without a network", Command: "aiperf tokenizer pack org/model --output model.tokenizer"},
		{For: "the tokens of each line", Command: "aiperf tokenizer count --tokenizer builtin texts.jsonl"},
	}
}

// tokenizerTables are the flags of each action.
func tokenizerTables() (tables []*flags.Table) {
	for _, action := range tokenizerActions {
		o := tokenizerOptions{load.LinesOptions{Action: action}}
		tables = append(tables, o.table())
	}
	return tables
}

// place gives the arguments without a flag their meaning.
func (o *tokenizerOptions) place(free []string) error {
	if o.Action == "pack" && o.Name == "" && len(free) > 0 {
		o.Name, free = free[0], free[1:]
	}
	if o.Name == "" {
		if o.Action == "pack" {
			return errors.New("aiperf tokenizer pack needs the name of a tokenizer: a hub id, a folder or a file")
		}
		return fmt.Errorf("aiperf tokenizer %s needs --tokenizer NAME", o.Action)
	}
	if o.Action != "pack" {
		if len(free) == 0 {
			return fmt.Errorf("aiperf tokenizer %s needs a file with one JSON string a line, or - for the standard "+
				"input", o.Action)
		}
		o.Input, free = free[0], free[1:]
	} else if o.Output == "" {
		o.Output = strings.ReplaceAll(strings.Trim(filepath.ToSlash(filepath.Clean(o.Name)), "./"), "/",
			"_") + ".tokenizer"
	}
	if len(free) > 0 {
		return fmt.Errorf("one argument too many: %s", free[0])
	}
	return nil
}

// runTokenizer packs a tokenizer, or counts and encodes lines of text with it.
func runTokenizer(e *command.Env, args []string) error {
	action := ""
	switch {
	case flags.WantsHelp(args):
	case len(args) == 0:
		return errors.New("aiperf tokenizer needs an action: pack, count or encode")
	case !slices.Contains(tokenizerActions, args[0]):
		return fmt.Errorf("aiperf tokenizer: unknown action %q; use pack, count or encode", args[0])
	default:
		action, args = args[0], args[1:]
	}
	options := tokenizerOptions{load.LinesOptions{Action: action, Revision: "main"}}
	words, err := e.Parse(options.table(), args)
	if err != nil {
		return err
	}
	if err := options.place(words); err != nil {
		return err
	}
	options.Hub = hub.FromEnv(e.LookupEnv, hub.Models)
	options.Hub.UserAgent = "aiperf/" + command.Version
	options.Stdin, options.Stdout = os.Stdin, e.Terminal.StyledOut
	options.Info = func(message string) { fmt.Fprintln(e.Terminal.Err, message) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return load.Lines(ctx, &options.LinesOptions)
}

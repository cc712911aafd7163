package data

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"aiperf/internal/base/jsonscan"
	safe "aiperf/internal/base/terminal"
	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/trace"
)

type dataOptions struct{ json bool }

func (o *dataOptions) table() *flags.Table {
	return &flags.Table{Command: "data", Page: "datasets", Also: option.Flags(), Examples: []flags.Example{
		{For: "a log with columns of its own", Command: "aiperf data log.csv"},
		{For: "which column means what", Command: "aiperf data log.csv --map text=question,output_length=tokens"},
	},
		About: `Usage: aiperf data FILE [options]

Shows what a run would send of a data file, without a server: the format, which columns are read and which are not, the
lengths and times of the requests, the first request as it would be sent, and the command that sends all.

Options:
`, Footer: `
All options of aiperf profile apply: aiperf profile --help. --custom-dataset-type, --map, --endpoint-type and --streaming
change what is sent; --tokenizer counts (default: the built-in one, an estimate). Without FILE, --public-dataset shows a
published data set.
`, Flags: []flags.Flag{flags.Switch("json", "write the answer as JSON", &o.json)}}
}

// runData shows what a data file holds.
func runData(e *command.Env, args []string) error {
	var o dataOptions
	table := o.table()
	if words, asked := flags.HelpWords(args); asked {
		return e.Help(table, words)
	}
	e.HideSecrets(args)
	args = slices.Clone(args)
	if at := slices.Index(args, "--json"); at >= 0 {
		o.json, args = true, slices.Delete(args, at, at+1)
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		args = append([]string{"--input-file", args[0]}, args[1:]...)
	}
	parsed, err := settings.Parse(args, e.LookupEnv)
	if err != nil {
		return err
	}
	if !parsed.InputFile.Given() && !parsed.PublicDataset.Given() && !parsed.HFWekaDataset.Given() {
		return errors.New("no data given: aiperf data FILE")
	}
	survey, err := takeSurvey(e, parsed, args)
	if err != nil {
		return err
	}
	if o.json {
		text, err := json.MarshalIndent(survey, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Terminal.Out, "%s\n", text)
		return nil
	}
	var out bytes.Buffer
	survey.Print(&out)
	for line := range strings.Lines(out.String()) { // what a file says must not steer the terminal
		fmt.Fprintln(e.Terminal.Out, safe.Text(strings.TrimSuffix(line, "\n")))
	}
	return nil
}

// takeSurvey looks at the data that flags of a profile name.
func takeSurvey(e *command.Env, parsed *settings.Settings, args []string) (*trace.Survey, error) {
	counted := parsed.Tokenizer.Get()
	if !parsed.Tokenizer.Given() {
		parsed.Tokenizer.Put(resolve.BuiltinTokenizer, option.Origin{Source: option.FromFlag, Name: "--tokenizer"})
		counted = "the built-in tokenizer, an estimate: --tokenizer NAME counts exactly"
	}
	target := []string{"--url", "URL"}
	if resolve.LacksModel(parsed) {
		parsed = parsed.WithModel("MODEL")
		target = append(target, "--model", "MODEL")
	}
	cfg, warnings, err := resolve.Resolve(parsed, run.Catalog{})
	if err != nil {
		return nil, err
	}
	e.Redactor = cfg.Redactor()
	var lines bytes.Buffer
	log := runlog.New(runlog.Options{Console: &lines, Brief: true, Redactor: e.Redactor})
	defer log.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	look, err := run.Look(ctx, cfg, run.Options{Version: command.Version, Log: log})
	if err != nil {
		return nil, err
	}
	s := trace.Look(look.Dataset, look.Count)
	s.Format, s.Tokenizer, s.First = formatOf(cfg), counted, look.First
	if len(look.First) > 0 && strings.HasPrefix(s.Format, "raw_payload") && severalTurns(look.First) {
		s.Notes = append(s.Notes, "each line is one request and sent as it is: the turns in its messages are not played "+
			`one after the other. {"session_id": …, "turns": [{"text": …}, …]} and ShareGPT conversations are`)
	}
	for _, w := range warnings {
		if strings.Contains(w.Text, "schedule") {
			s.Notes = append(s.Notes, w.Text)
		}
	}
	for line := range strings.Lines(lines.String()) {
		if _, text, ok := strings.Cut(line, "WARNING"); ok {
			s.Warnings = append(s.Warnings, strings.TrimSpace(text))
		}
	}
	if look.Warning != "" {
		s.Warnings = append(s.Warnings, look.Warning)
	}
	if look.Refusal != nil {
		s.Warnings = append(s.Warnings, "a run would end before its first request: "+look.Refusal.Error())
	}
	s.Command = e.Redactor.Text(settings.CommandLine("profile", append(target, args...)))
	return s, nil
}

// severalTurns reports whether the messages of a request have more than one of a user.
func severalTurns(body []byte) bool {
	n := 0
	for message := range jsonscan.Elements(jsonscan.Find(body, "messages")) {
		if jsonscan.FindText(message, "role") == "user" {
			n++
		}
	}
	return n > 1
}

// formatOf names the format of the data of a run.
func formatOf(cfg *config.Run) string {
	d := &cfg.Dataset
	switch {
	case d.Public.Name != "":
		return "the data set " + d.Public.Name
	case d.Format != "":
		return d.Format
	}
	format, _ := loader.Detect(d.Path) // it was read
	return format + ", by its first record"
}

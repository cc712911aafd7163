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
	"aiperf/internal/traffic/anonymize"
	"aiperf/internal/workload/recording"
)

const anonymizeHelp = `Usage: aiperf anonymize FILE|DIR… [flags]

Reads logs that hold the texts of requests and writes a recording of them as aiperf record does: times, lengths, ids of the blocks that prompts share, sessions, sampling parameters, stop reasons, and no text. Each file is read once, in bounded memory. Then every text in the written files is compared with what a recording may hold, and with all sequences of five words of the input; what should not be there ends the command with exit code 1 and removes the files.

Formats are detected: recordings with --keep text, profile_export_raw.jsonl, inputs.json, JSON Lines of request bodies, of requests with their replies, OpenAI's batches, ShareGPT, LangSmith, Langfuse, OpenTelemetry, HAR, SageMaker, prompts and tables. A recording without texts is read, too, for the files that a killed recorder did not write.
`

// anonymizeOptions are the flags of aiperf anonymize.
type anonymizeOptions struct {
	anonymize.Options
	rowOptions
	keep string
}

func (o *anonymizeOptions) table() *flags.Table {
	o.tokenizer, o.keep = "builtin", string(recording.KeepHashes)
	o.BlockSize, o.MaxBytes = 16, 256<<20
	kept := []string{string(recording.KeepHashes), string(recording.KeepLengths)}
	keep := flags.Value("keep", "WHAT", "what is written of each prompt: hashes of its blocks and its length (the default), "+
		"or lengths alone", flags.OneOf(&o.keep, kept...))
	keep.Values = kept
	format := flags.Value("format", "NAME", "format of all files; without it each is detected",
		flags.OneOf(&o.Format, anonymize.Formats()...))
	format.Values = anonymize.Formats()
	return &flags.Table{Command: "anonymize", Page: "anonymize", Examples: []flags.Example{
		{For: "a log of request bodies; the recording goes to anonymized", Command: "aiperf anonymize requests.jsonl"},
		{For: "a recording with texts", Command: "aiperf anonymize recording --out shared"},
		{For: "an export of LangSmith; nobody learns which models",
			Command: "aiperf anonymize runs.json --format langsmith --rename-models"},
	}, About: anonymizeHelp, Flags: slices.Concat([]flags.Flag{
		flags.Value("out -o", "DIR", "folder for the recording, in which there is none yet (anonymized; with a number behind "+
			"it while there is one)", command.NonEmpty(&o.Folder)),
		format, keep,
	}, o.rowFlags(&o.BlockSize, &o.RenameModels), []flags.Flag{
		flags.Value("max-file-size", "BYTES", "size of a file after which the next one begins (256MB)", sizeOf(&o.MaxBytes)),
	})}
}

// runAnonymize makes a recording of files.
func runAnonymize(e *command.Env, args []string) error {
	var o anonymizeOptions
	paths, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return errors.New("no file given: aiperf anonymize FILE…")
	}
	o.Inputs, o.Keep = paths, recording.Keep(o.keep)
	o.Warn = func(text string) { e.Terminal.Say("WARNING: " + text) }
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("the input cannot be read: %w", err)
		}
	}
	if o.Salt, err = saltOf(o.saltFile); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.Tokenizer, err = o.findTokenizer(ctx, e); err != nil {
		return err
	}
	lock, err := recordingFolder(e, &o.Folder, "anonymized")
	if err != nil {
		return err
	}
	result, err := anonymize.Run(ctx, o.Options)
	lock.Release()
	if err != nil {
		os.Remove(o.Folder) // it stays if there is something in it
	}
	if violation := new(anonymize.Violation); errors.As(err, &violation) {
		return fmt.Errorf("checked: %w. The files are removed. This is a fault of aiperf: please report it without the text",
			err)
	}
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted: nothing is written")
	}
	if err != nil {
		return err
	}
	o.say(e, result)
	return nil
}

// say prints what was read and written, and how it is replayed.
func (o *anonymizeOptions) say(e *command.Env, r *anonymize.Result) {
	slices.Sort(r.Formats)
	fmt.Fprintf(e.Terminal.Out, "Read:    %d requests in %d sessions · %s · mean ISL %.0f, OSL %.0f · "+
		"%.0f %% of prompt tokens shared\n",
		r.Rows, r.Sessions, strings.Join(slices.Compact(r.Formats), ", "),
		float64(r.InputTokens)/float64(r.Rows), float64(r.OutputTokens)/float64(r.Rows),
		100*float64(r.SharedTokens)/float64(max(1, r.InputTokens)))
	if r.Without > 0 {
		fmt.Fprintf(e.Terminal.Out, "         %d records hold no request and are left out\n", r.Without)
	}
	switch {
	case r.Untimed:
		fmt.Fprintln(e.Terminal.Out, "         the input has no times: the rows have its order, and a replay is a closed loop")
	case r.Undated > 0:
		fmt.Fprintf(e.Terminal.Out, "         %d requests have no time and got that of the one before\n", r.Undated)
	}
	if r.WithoutText > 0 {
		fmt.Fprintf(e.Terminal.Out, "         %d requests have lengths alone: they share nothing\n", r.WithoutText)
	}
	if r.Unanswered > 0 {
		fmt.Fprintf(e.Terminal.Out, "         %d requests have no reply: --osl says how long theirs are in a replay\n",
			r.Unanswered)
	}
	fmt.Fprintf(e.Terminal.Out, "Checked: %d texts in %d files: none is of the input "+
		"(%d sequences of five words were looked for)\n",
		r.Checked.Texts, r.Checked.Files, r.Sequences)
	fmt.Fprintf(e.Terminal.Out, "Files:   %s\n", filepath.Join(o.Folder, recording.TrafficName))
	if r.Keep != recording.KeepLengths {
		fmt.Fprintf(e.Terminal.Out, "         %s\n         %s\n", filepath.Join(o.Folder, recording.MooncakeName),
			filepath.Join(o.Folder, recording.WekaName))
	}
	var load []string
	if r.Untimed {
		load = []string{"--concurrency", "8"}
	}
	fmt.Fprintf(e.Terminal.Out, "Replay:  %s\n", replayOf("URL", o.Folder, load...))
}

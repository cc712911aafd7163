package look

import (
	"fmt"
	"math"
	"path/filepath"

	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/result/analysis"
)

const turnMessagesHelp = `Usage: aiperf analyze turn-messages RUN_DIR [RUN_DIR …] [options]

Makes a page of what the requests of a run said, conversation by conversation and turn by turn:
turn_messages.html in the run's folder. It reads profile_export_raw.jsonl, so the run needs --export-level raw;
replies are those of outputs.json, where it is there.

Options:
`

type turnMessagesOptions struct {
	runDirs
	out    string
	limits analysis.BookLimits
}

func (o *turnMessagesOptions) table() *flags.Table {
	count := func(into *int) func(string) error {
		return func(v string) error {
			n, err := scalar.Count(v)
			if err != nil || n < 1 || n > math.MaxInt32 {
				return fmt.Errorf("%q is not a whole number of at least 1", v)
			}
			*into = int(n)
			return nil
		}
	}
	return &flags.Table{Command: "analyze turn-messages", Page: "analysis", Examples: []flags.Example{
		{For: "the content of the requests of a run", Command: "aiperf analyze turn-messages artifacts/RUN"},
	},
		About: turnMessagesHelp, Flags: append(o.flags(),
			unlisted("o", flags.Value("out", "FILE", "the page, of a single run; default: turn_messages.html in the run's "+
				"folder; -o is the same", flags.Text(&o.out))),
			unlisted("n", flags.Value("limit-conversations", "N", "conversations at most, roots first, then those that "+
				"began "+
				"first; default: 40; -n is the same", count(&o.limits.Conversations))),
			flags.Value("max-turns", "N", "turns of a conversation at most; default: 60", count(&o.limits.Turns)),
			flags.Value("content-cap", "N", "characters of a text at most; default: 8000", count(&o.limits.Content)),
		)}
}

func turnMessages(e *command.Env, args []string) error {
	o := turnMessagesOptions{limits: analysis.DefaultBookLimits()}
	runs, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	return eachRun(e, "turn-messages", &o.runDirs, runs, o.out, func(dir string) ([]string, error) {
		book, err := analysis.ReadBook(runFile(dir, "profile_export_raw.jsonl", "_raw.jsonl"),
			runFile(dir, "outputs.json", "_outputs.json"), runTitle(dir), o.limits)
		if err != nil {
			return nil, err
		}
		page := o.out
		if page == "" {
			page = filepath.Join(dir, "turn_messages.html")
		}
		return []string{page}, command.WriteFile(page, book.WriteHTML)
	})
}

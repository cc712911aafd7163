package flags_test

import (
	"strings"
	"testing"

	"aiperf/internal/config/flags"
)

func TestHelpFitsIntoNarrowTerminals(t *testing.T) {
	text := `Usage: aiperf gate RUN

Checks finished runs against thresholds. RUN is the folder of a run, its JSON summary, or a folder of
repeats, of this program.

Options:
  --fail-if CONDITION
        the result is a failure if it is like this: TAG[:STAT]OP NUMBER[UNIT], for example of a metric
        'time_to_first_token:p99>250ms'
  -p, --port N                 port to listen on (0-65535); 0 takes a free one and prints it, which scripts read
`
	want := `Usage: aiperf gate RUN

Checks finished runs against thresholds. RUN is the folder of
a run, its JSON summary, or a folder of repeats, of this
program.

Options:
  --fail-if CONDITION
        the result is a failure if it is like this:
        TAG[:STAT]OP NUMBER[UNIT], for example of a metric
        'time_to_first_token:p99>250ms'
  -p, --port N                 port to listen on (0-65535); 0
                               takes a free one and prints it,
                               which scripts read
`
	if got := flags.Fitted(text, 62); got != want {
		t.Errorf("got\n%s", got)
	}
	for _, columns := range []int{0, 10, 120} {
		if flags.Fitted(text, columns) != text {
			t.Errorf("%d columns change the text", columns)
		}
	}
	if got := flags.Fitted(text, 45); !strings.Contains(got, "\n  -p, --port N\n        port to listen on (0-65535); 0 takes\n") &&
		!strings.Contains(got, "\n  -p, --port N\n        port to listen on (0-65535); 0\n") {
		t.Errorf("got\n%s", got)
	}
	for columns := 40; columns <= flags.HelpWidth; columns++ {
		for line := range strings.Lines(flags.Fitted(text, columns)) {
			if len(strings.TrimSuffix(line, "\n")) > columns {
				t.Errorf("in %d columns: %q", columns, line)
			}
		}
	}
}

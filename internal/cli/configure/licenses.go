package configure

import (
	"fmt"

	"aiperf/internal/base/licenses"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

func licensesTable() *flags.Table {
	return &flags.Table{Command: "licenses", Once: true, About: `Usage: aiperf licenses

Prints the notice of aiperf and its licence, and those of the modules that are in the program.
`}
}

// runLicenses prints the licences.
func runLicenses(e *command.Env, args []string) error {
	if err := e.ParseOnly(licensesTable(), args); err != nil {
		return err
	}
	_, err := fmt.Fprint(e.Terminal.Out, licenses.Text)
	return err
}

package show

import (
	"errors"
	"fmt"
	"io"

	"aiperf/internal/cli/command"
	"aiperf/internal/result/compare"
)

// Judgements prints a line for each condition and the result on the error output, and counts the failures.
func Judgements(t *command.Terminal, list []compare.Judgement) int {
	if len(list) == 0 {
		return 0
	}
	PrintJudgements(t, t.Err, t.StyledErr, t.ErrTTY, list)
	fmt.Fprintln(t.Err, ResultLine(list))
	return compare.Failures(list)
}

// ResultLine says how many conditions failed.
func ResultLine(list []compare.Judgement) string {
	if failed := compare.Failures(list); failed > 0 {
		return fmt.Sprintf("RESULT: FAILED (%d of %d)", failed, len(list))
	}
	return fmt.Sprintf("RESULT: PASSED (%d of %d)", len(list), len(list))
}

// ParseConditions reads all conditions on a sweep and joins what is wrong with them.
func ParseConditions(texts, parameters []string) ([]compare.Condition, error) {
	var conditions []compare.Condition
	var faults []error
	for _, text := range texts {
		c, err := compare.ParseCondition(text, parameters)
		if err != nil {
			faults = append(faults, fmt.Errorf("--fail-if: %w", err))
		}
		conditions = append(conditions, c)
	}
	return conditions, errors.Join(faults...)
}

// PrintJudgements prints a line for each condition: the mark in colour where that is wanted, the rest as a foreign
// text.
func PrintJudgements(t *command.Terminal, out, styled io.Writer, isTerminal bool, list []compare.Judgement) {
	for _, j := range list {
		mark, style := "✓", "\x1b[32m"
		if j.Failure != "" {
			mark, style = "✗", "\x1b[31m"
		}
		if isTerminal && t.Colour {
			fmt.Fprint(styled, style+mark+"\x1b[0m")
		} else {
			fmt.Fprint(out, mark)
		}
		fmt.Fprintln(out, " --fail-if", j.Line())
	}
}

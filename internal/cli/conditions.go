package cli

import (
	"errors"
	"fmt"
	"io"

	"aiperf/internal/result/compare"
)

// judgements prints a line for each condition and the result on the error output, and counts the failures.
func judgements(t *terminal, list []compare.Judgement) int {
	if len(list) == 0 {
		return 0
	}
	printJudgements(t, t.err, t.styledErr, t.errTTY, list)
	fmt.Fprintln(t.err, resultLine(list))
	return compare.Failures(list)
}

// resultLine says how many conditions failed.
func resultLine(list []compare.Judgement) string {
	if failed := compare.Failures(list); failed > 0 {
		return fmt.Sprintf("RESULT: FAILED (%d of %d)", failed, len(list))
	}
	return fmt.Sprintf("RESULT: PASSED (%d of %d)", len(list), len(list))
}

// parseConditions reads all conditions on a sweep and joins what is wrong with them.
func parseConditions(texts, parameters []string) ([]compare.Condition, error) {
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

// printJudgements prints a line for each condition: the mark in colour where that is wanted, the rest as a foreign text.
func printJudgements(t *terminal, out, styled io.Writer, isTerminal bool, list []compare.Judgement) {
	for _, j := range list {
		mark, style := "✓", "\x1b[32m"
		if j.Failure != "" {
			mark, style = "✗", "\x1b[31m"
		}
		if isTerminal && t.colour {
			fmt.Fprint(styled, style+mark+"\x1b[0m")
		} else {
			fmt.Fprint(out, mark)
		}
		fmt.Fprintln(out, " --fail-if", j.Line())
	}
}

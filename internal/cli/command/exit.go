package command

import (
	"errors"
	"fmt"
)

// The exit codes of the program.
const (
	// ExitOK: the run finished, some requests may have failed, or one Ctrl-C ended it with results.
	ExitOK = 0
	// ExitFailure: bad usage, failure at the start, no results, a file that could not be written, every request
	// failed, or results that cover only a part of the run; of a series of runs: fewer than two that count, or a signal
	// before its end.
	ExitFailure = 1
	// ExitUsage: aiperf config init was given nothing to do.
	ExitUsage = 2
	// ExitThreshold: a condition of --fail-if makes the result a failure, or a comparison found a figure
	// worse that must not be; of the self-test, one of its correctness checks failed.
	ExitThreshold = 3
	// ExitNotValid: --require-valid was given and the verdict on the client is another; what failed
	// besides may then be the client's fault.
	ExitNotValid = 4
	// ExitHungUp: SIGHUP, such as the end of the terminal, ended the run; the results were written.
	ExitHungUp = 129
	// ExitForced: a second Ctrl-C ended the program at once.
	ExitForced = 130
	// ExitTerminated: SIGTERM ended the run; the results were written.
	ExitTerminated = 143
)

// exit is the error of a command that ends with a code and has said why.
type exit int

func (x exit) Error() string { return fmt.Sprintf("exit code %d", int(x)) }

// ErrHelp ends a command that printed its help: it is a success.
var ErrHelp error = exit(ExitOK)

// Exit returns the error that ends the program with a code, without a message; nil for ExitOK.
func Exit(code int) error {
	if code == ExitOK {
		return nil
	}
	return exit(code)
}

// coded is an error with an exit code of its own.
type coded struct {
	error
	code int
}

func (c *coded) Unwrap() error { return c.error }

// WithCode gives an error its exit code.
func WithCode(code int, err error) error { return &coded{err, code} }

// codeOf returns the exit code of an error, and the error to be printed; nil for none.
func codeOf(err error) (code int, message error) {
	var own *coded
	var silent exit
	switch {
	case err == nil:
		return ExitOK, nil
	case errors.As(err, &own):
		return own.code, own.error
	case errors.As(err, &silent):
		return int(silent), nil
	}
	return ExitFailure, err
}

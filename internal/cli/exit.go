package cli

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

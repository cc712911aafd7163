package judge

import (
	"fmt"

	"aiperf/internal/base/terminal"
)

const (
	// mostlyFailed is the share of failed requests from which they are what limited the run, manyFailed that from which
	// they are the first thing to say, someFailed that from which they are said at all.
	mostlyFailed, manyFailed, someFailed = 0.5, 0.05, 0.01
	// mostlyMissed is the share of good requests below which the objectives are the first thing to say, someMissed that
	// below which the server does not hold them with more load.
	mostlyMissed, someMissed = 0.5, 0.95
)

// FailedLevel is how a share of failed requests is to be taken, from 0 to 1.
func FailedLevel(share float64) Level {
	switch {
	case share >= manyFailed:
		return Bad
	case share >= someFailed:
		return Warn
	}
	return Good
}

func (f *view) allFailed() (Finding, bool) {
	return Finding{Code: CodeAllFailed, Kind: Outcome, Level: Bad, Title: "All requests failed",
		Text:  "None of " + count(f.Ended()) + " requests succeeded" + f.commonError(": ") + ".",
		Brief: "errors: none of " + count(f.Ended()) + " requests succeeded" + f.commonError(", most failed with "),
	}, f.noneSucceeded()
}

// noneSucceeded reports whether requests ended and none of them succeeded.
func (f *view) noneSucceeded() bool { return f.Successes == 0 && f.Ended() > 0 }

// commonError names the most frequent error with its count, behind some words; "" where the errors are not known.
func (f *view) commonError(words string) string {
	if len(f.Failures) == 0 {
		return ""
	}
	most := &f.Failures[0]
	for i := range f.Failures {
		if f.Failures[i].Count > most.Count {
			most = &f.Failures[i]
		}
	}
	return fmt.Sprintf("%s%s × %s", words, count(most.Count), terminal.Text(most.Name))
}

// mostWith stands before the most frequent error.
const mostWith = ", most with "

// failedShare is the part of the requests that failed, from 0 to 1.
func (f *view) failedShare() float64 {
	all := f.Ended()
	if all == 0 {
		return 0
	}
	return float64(f.Failed) / float64(all)
}

func (f *view) mostErrors() (Finding, bool) {
	return Finding{Code: CodeManyErrors, Level: Bad, Title: "Most requests failed",
		Brief: fmt.Sprintf("errors: %s of %s requests failed%s", count(f.Failed),
			count(f.Ended()), f.commonError(mostWith)),
		Text: fmt.Sprintf("%s of %s requests failed (%s)%s; the figures are of the others.",
			count(f.Failed), count(f.Ended()), percent(f.failedShare()), f.commonError(mostWith)),
		Advice: "remove the errors before you read the figures"}, f.failedShare() >= mostlyFailed && !f.noneSucceeded()
}

// good is the share of requests, or of jobs, that met the service level objectives, if there are any: the smaller one of
// the two, and of what it is one.
func (f *view) good() (share float64, of string, asked bool) {
	share, asked = f.Value("good_request_fraction")
	if jobs, also := f.Value("good_job_fraction"); also && (!asked || jobs < share) {
		return jobs, "jobs", true
	}
	return share, "requests", asked
}

func (f *view) objectives() (Finding, bool) {
	good, of, asked := f.good()
	text := percent(good) + " of the " + of + " met the service level objectives"
	return Finding{Code: CodeObjectives, Level: Bad, Title: "Objectives missed", Text: "Only " + text + ".",
		Advice: "lower the load; aiperf capacity finds the largest one within limits"}, asked && good < mostlyMissed
}

func (f *view) manyErrors() (Finding, bool) {
	l := f.errors()
	l.Brief = fmt.Sprintf("errors: %s of the requests failed%s", percent(f.failedShare()), f.commonError(mostWith))
	return l, l.Level == Bad && f.failedShare() < mostlyFailed
}

func (f *view) someErrors() (Finding, bool) {
	l := f.errors()
	return l, l.Level == Warn
}

// errors says which part of the requests failed.
func (f *view) errors() Finding {
	share := f.failedShare()
	l := Finding{Code: CodeErrors, Level: FailedLevel(share), Title: percent(share) + " of the requests failed",
		Text: fmt.Sprintf("%s of %s requests failed (%s)%s.", count(f.Failed),
			count(f.Ended()), percent(share), f.commonError(mostWith)),
		Advice: "the server's log and the table of errors say why: remove them before you read the figures"}
	return l
}

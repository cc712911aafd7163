package load

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"aiperf/internal/workload/hub"
)

var errCustomCode = errors.New("its tokenizer is code of the repository, which this program does not run")

// missingFiles is the title where the place of a tokenizer lacks it.
const missingFiles = "Missing Tokenizer Files"

// Failure says why a tokenizer could not be had and what can be done.
type Failure struct {
	Name  string
	Title string
	Err   error
}

func (f *Failure) Unwrap() error { return f.Err }

// PanelTitle returns the title under which the message is shown.
func (f *Failure) PanelTitle() string { return f.Title }

// failure finds the kind of an error.
func failure(name, revision string, err error) error {
	if ambiguous, ok := errors.AsType[*Ambiguous](err); ok {
		return ambiguous
	}
	f := &Failure{Name: name, Title: "Tokenizer Load Error", Err: err}
	var known *hub.Error
	switch {
	case errors.As(err, &known):
		if f.Title = string(known.Kind); known.Kind == hub.MissingFile {
			f.Title = missingFiles
		}
		if known.Kind == hub.BadRevision {
			f.Err = fmt.Errorf("%w (--tokenizer-revision %s)", err, revision)
		}
	case errors.Is(err, errCustomCode):
		f.Title = "Custom Tokenizer Code"
	case errors.Is(err, errNoFiles):
		f.Title = "No Standard Tokenizer"
	case errors.Is(err, context.DeadlineExceeded):
		f.Title = string(hub.Timeout)
	case errors.Is(err, fs.ErrNotExist):
		f.Title = missingFiles
	}
	return f
}

// advice is what may have caused a failure, what to check and what to do.
type advice struct{ causes, steps, fixes []string }

var advices = map[string]advice{
	string(hub.Gated): {
		[]string{"the repository asks for an agreement", "HF_TOKEN is missing or belongs to another account"},
		[]string{"open the repository's page in a browser and see whether access was granted"},
		[]string{"set HF_TOKEN to a token of an account with access"},
	},
	string(hub.NotFound): {
		[]string{"the name is misspelt", "the model is served under a name that is no repository",
			"the repository is private"},
		[]string{"look the id up on the hub: ORG/NAME"},
		[]string{"--tokenizer ORG/NAME or --tokenizer FOLDER", "set HF_TOKEN for a private repository"},
	},
	string(hub.BadRevision): {
		[]string{"the branch, tag or commit does not exist"},
		[]string{"look at the repository's list of branches and tags"},
		[]string{"leave --tokenizer-revision out to take main"},
	},
	missingFiles: {
		[]string{"the path is wrong, or the place holds weights only"},
		[]string{"see whether a tokenizer.json, tokenizer.model, tekken.json or vocab.txt is there"},
		[]string{"--tokenizer with the repository or folder that holds the tokenizer"},
	},
	string(hub.NotCached): {
		[]string{"HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set and the files were never fetched",
			"HF_HOME or HF_HUB_CACHE points to another cache"},
		[]string{"see what lies in the cache folder"},
		[]string{"fetch it where there is a network: aiperf tokenizer pack NAME, copy the file here, --tokenizer FILE",
			"unset HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE"},
	},
	string(hub.HubError): {
		[]string{"the hub is down or not reachable from here", "HF_ENDPOINT is wrong"},
		[]string{"ask the hub with curl"},
		[]string{"aiperf tokenizer pack NAME on a machine with a network, then --tokenizer FILE here"},
	},
	string(hub.Timeout): {
		[]string{"the network is slow or drops packets"},
		[]string{"ask the hub with curl"},
		[]string{"raise AIPERF_TOKENIZER_PRELOAD_TIMEOUT", "run it again: a download goes on where it ended"},
	},
	string(hub.Permission): {
		[]string{"the cache belongs to another user or lies on a read-only disk"},
		[]string{"look at the owner of the cache folder"},
		[]string{"set HF_HOME to a folder that can be written"},
	},
	"Custom Tokenizer Code": {
		[]string{"the model's tokenizer is Python code of its repository (--tokenizer-trust-remote-code changes " +
			"nothing here)"},
		[]string{"see whether the repository or a copy of it has a tokenizer.json"},
		[]string{"--tokenizer with a folder or repository that has a tokenizer.json"},
	},
	"No Standard Tokenizer": {
		[]string{"the place holds weights only"},
		[]string{"see whether the base model's repository has a tokenizer.json"},
		[]string{"--tokenizer with the base model's id"},
	},
	"Tokenizer Load Error": {
		[]string{"a file is damaged, or of a kind that this release does not read"},
		[]string{"open the file that the message names"},
		[]string{"--tokenizer with another repository or folder of the same tokenizer"},
	},
}

// Error returns the whole message, over several lines.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Failed to load tokenizer '%s'\n%v\n", f.Name, f.Err)
	a := advices[f.Title]
	for _, part := range []struct {
		title string
		lines []string
	}{{"Possible causes:", a.causes}, {"What to look at:", a.steps},
		{"What to do:", append(a.fixes[:len(a.fixes):len(a.fixes)],
			"--tokenizer builtin (o200k_base) needs no files: its counts are about right",
			"Skip tokenizer (non-synthetic data only): --use-server-token-count")}} {
		b.WriteString(part.title + "\n")
		for _, line := range part.lines {
			b.WriteString("  • " + line + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Kind is a cause why files cannot be had.
type Kind string

// The kinds, which are their titles.
const (
	Gated       Kind = "Gated Repository"
	NotFound    Kind = "Repository Not Found"
	BadRevision Kind = "Invalid Git Revision"
	MissingFile Kind = "Missing File"
	NotCached   Kind = "Offline - Files Not Cached"
	HubError    Kind = "HuggingFace Hub Error"
	Timeout     Kind = "Network Timeout"
	Permission  Kind = "Cache Permission Error"
)

// Error is a failure of a known kind.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func fail(k Kind, format string, args ...any) error {
	return &Error{k, fmt.Errorf(format, args...)}
}

// IsNotFound reports whether the hub does not know the repository.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == NotFound
}

// ErrOffline is the error of everything that would need the network while it is forbidden.
var ErrOffline = errors.New("the network is switched off")

func (c *Client) allowed() error {
	if c.Offline != "" {
		return fail(NotCached, "%w by %s", ErrOffline, c.Offline)
	}
	return nil
}

// unreachable returns an error of the network.
func unreachable(address string, err error) error {
	// The address is told once.
	if around, ok := errors.AsType[*url.Error](err); ok {
		err = around.Err
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(err, os.ErrDeadlineExceeded) {
		return fail(Timeout, "%s did not answer in time: %w", address, err)
	}
	return fail(HubError, "%s cannot be reached: %w", address, err)
}

// status turns an answer that is not a success into an error of its kind. The hub says more in a header.
func (c *Client) status(r *http.Response, address string) error {
	text, _ := io.ReadAll(io.LimitReader(r.Body, 300))
	answered := fmt.Sprintf("%s answered %d %s", address, r.StatusCode, http.StatusText(r.StatusCode))
	if !c.isHub(address) {
		return fail(HubError, "%s", answered)
	}
	switch code := r.Header.Get("X-Error-Code"); {
	case code == "GatedRepo" || r.StatusCode == http.StatusForbidden:
		return fail(Gated, "%s: the repository is gated: access must be asked for on its page, and HF_TOKEN must "+
			"hold a token of an account that has it", answered)
	case code == "RevisionNotFound":
		return fail(BadRevision, "%s: the repository has no such revision", answered)
	case code == "EntryNotFound":
		return fail(MissingFile, "%s: the repository lacks the file", answered)
	case code == "RepoNotFound" || r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusNotFound:
		return fail(NotFound, "%s: there is no such repository, or it is private and HF_TOKEN does not open it",
			answered)
	}
	return fail(HubError, "%s: %s", answered, strings.TrimSpace(string(text)))
}

package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Model is what the hub says of a repository.
type Model struct {
	ID        string `json:"id"`
	Commit    string `json:"sha"`
	Downloads int64  `json:"downloads"`
	Files     []struct {
		Name string `json:"rfilename"`
	} `json:"siblings"`
}

// maxAnswer bounds an answer of the API.
const maxAnswer = 64 << 20

// Info asks the hub for a repository at a revision.
func (h *Hub) Info(ctx context.Context, id, revision string) (*Model, error) {
	if !IsID(id) {
		return nil, fail(NotFound, "%q is not a model id of the hub (NAME or ORG/NAME)", id)
	}
	if !isRevision(revision) {
		return nil, fail(BadRevision, "%q is not a branch, tag or commit", revision)
	}
	var m Model
	if err := h.get(ctx, "/api/models/"+id+"/revision/"+url.PathEscape(revision), id, &m); err != nil {
		return nil, err
	}
	if m.ID == "" {
		m.ID = id
	}
	return &m, nil
}

// Search asks the hub for repositories with name in their id, at most 50.
func (h *Hub) Search(ctx context.Context, name string) ([]Model, error) {
	var list []Model
	err := h.get(ctx, "/api/models?limit=50&search="+url.QueryEscape(name), name, &list)
	return list, err
}

func (h *Hub) get(ctx context.Context, path, id string, into any) error {
	response, err := h.do(ctx, path, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := h.status(response, id); err != nil {
		return err
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(into); err != nil {
		return fail(HubError, "%s: the answer is not what a hub gives: %w", h.Endpoint, err)
	}
	return nil
}

// do sends a GET. It is the only way to the network.
func (h *Hub) do(ctx context.Context, path string, header http.Header) (*http.Response, error) {
	if h.Offline {
		return nil, fail(NotCached, "the hub may not be asked: HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.Endpoint+path, nil)
	if err != nil {
		return nil, fail(HubError, "HF_ENDPOINT: %w", err)
	}
	for k, v := range header {
		request.Header[k] = v
	}
	request.Header.Set("User-Agent", h.UserAgent)
	request.Header.Set("Accept-Encoding", "identity")
	if h.Token != "" {
		request.Header.Set("Authorization", "Bearer "+h.Token)
	}
	response, err := h.Client.Do(request)
	if err != nil {
		return nil, h.networkError(err)
	}
	return response, nil
}

func (h *Hub) networkError(err error) error {
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) {
		return fail(Timeout, "%s did not answer in time: %w", h.Endpoint, err)
	}
	return fail(HubError, "%s cannot be reached: %w", h.Endpoint, err)
}

// status turns an answer that is no success into an error of its kind.
func (h *Hub) status(r *http.Response, id string) error {
	if r.StatusCode == http.StatusOK || r.StatusCode == http.StatusPartialContent {
		return nil
	}
	code := r.Header.Get("X-Error-Code")
	switch {
	case code == "GatedRepo" || r.StatusCode == http.StatusForbidden:
		return fail(Gated, "%s is gated: access must be asked for on its page, and HF_TOKEN must hold a token of an account that has it", id)
	case code == "RevisionNotFound":
		return fail(BadRevision, "%s has no such revision", id)
	case code == "EntryNotFound":
		return fail(MissingFiles, "%s lacks the file %s", id, r.Request.URL.Path)
	case code == "RepoNotFound" || r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusNotFound:
		return fail(NotFound, "%s has no repository %s, or it is private and HF_TOKEN does not open it", h.Endpoint, id)
	}
	text, _ := io.ReadAll(io.LimitReader(r.Body, 300))
	return fail(HubError, "%s answered %s: %s", h.Endpoint, r.Status, strings.TrimSpace(string(text)))
}

// IsNotFound tells whether the hub does not know the repository.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == NotFound
}

// Downloads is a number of downloads as people write it: 8.4M, 12.3K.
func Downloads(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1_000:
		return fmt.Sprintf("%.1fK", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// Package hub reads and fills the Hugging Face cache: the folders that the Hugging Face libraries share, so
// that a tokenizer is fetched once for all of them.
//
// The layout: models--ORG--NAME with refs/REVISION (the commit), snapshots/COMMIT/FILE (links) and
// blobs/ETAG (the contents).
package hub

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// DefaultEndpoint is the public hub.
const DefaultEndpoint = "https://huggingface.co"

// Hub is a hub and the cache beside it.
type Hub struct {
	Endpoint string
	Token    string
	Cache    string // the folder of the models--… folders
	// Offline forbids every network attempt.
	Offline bool
	Client  *http.Client
	// UserAgent names the program.
	UserAgent string
}

// FromEnv takes the settings that the Hugging Face libraries take from the environment.
func FromEnv(env func(string) (string, bool)) *Hub {
	value := func(names ...string) string {
		for _, n := range names {
			if v, ok := env(n); ok && v != "" {
				return v
			}
		}
		return ""
	}
	h := &Hub{Endpoint: strings.TrimRight(value("HF_ENDPOINT"), "/"), Token: strings.TrimSpace(value("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")), Client: &http.Client{}}
	if h.Endpoint == "" {
		h.Endpoint = DefaultEndpoint
	}
	home := value("HF_HOME")
	if home == "" {
		base := value("XDG_CACHE_HOME")
		if base == "" {
			user, err := os.UserHomeDir()
			if err != nil {
				user = os.TempDir()
			}
			base = filepath.Join(user, ".cache")
		}
		home = filepath.Join(base, "huggingface")
	}
	if h.Cache = value("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"); h.Cache == "" {
		h.Cache = filepath.Join(home, "hub")
	}
	if h.Token == "" {
		path := value("HF_TOKEN_PATH")
		if path == "" {
			path = filepath.Join(home, "token")
		}
		if data, err := os.ReadFile(path); err == nil {
			h.Token = strings.TrimSpace(string(data))
		}
	}
	h.Offline = isSet(value("HF_HUB_OFFLINE")) || isSet(value("TRANSFORMERS_OFFLINE"))
	return h
}

// isSet takes everything that is not empty and does not say no.
func isSet(v string) bool {
	switch strings.ToLower(v) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// Kind is a cause why a tokenizer cannot be had.
type Kind string

// The kinds, which are their titles.
const (
	Gated        Kind = "Gated Repository"
	NotFound     Kind = "Repository Not Found"
	BadRevision  Kind = "Invalid Git Revision"
	MissingFiles Kind = "Missing Tokenizer Files"
	NotCached    Kind = "Offline - Files Not Cached"
	HubError     Kind = "HuggingFace Hub Error"
	Timeout      Kind = "Network Timeout"
	Permission   Kind = "Cache Permission Error"
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

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$`)

// IsID tells whether name can be the id of a repository: NAME or ORG/NAME.
func IsID(name string) bool {
	return len(name) <= 200 && idPattern.MatchString(name) && !strings.Contains(name, "..") && !strings.Contains(name, "--")
}

// isRevision tells whether a revision can be part of a path.
func isRevision(r string) bool {
	return r != "" && len(r) <= 200 && !strings.Contains(r, "..") && !strings.HasPrefix(r, "/") && !strings.ContainsAny(r, "\\\x00 ?#%") && filepath.IsLocal(filepath.FromSlash(r))
}

var commitPattern = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

func (h *Hub) folder(id string) string {
	return filepath.Join(h.Cache, "models--"+strings.ReplaceAll(id, "/", "--"))
}

// Cached is the snapshot folder of a revision and its commit, if the cache has it.
func (h *Hub) Cached(id, revision string) (dir, commit string, ok bool) {
	if !IsID(id) || !isRevision(revision) {
		return "", "", false
	}
	commit = revision
	if data, err := os.ReadFile(filepath.Join(h.folder(id), "refs", filepath.FromSlash(revision))); err == nil {
		commit = strings.TrimSpace(string(data))
	}
	if !commitPattern.MatchString(commit) {
		return "", "", false
	}
	dir = filepath.Join(h.folder(id), "snapshots", commit)
	info, err := os.Stat(dir)
	return dir, commit, err == nil && info.IsDir()
}

// InCache is the id of a repository that the cache has a folder of: name itself, or the only one called
// so in any organisation, whatever the case.
func (h *Hub) InCache(name string) (id string, ok bool) {
	if !IsID(name) {
		return "", false
	}
	if info, err := os.Stat(h.folder(name)); err == nil && info.IsDir() {
		return name, true
	}
	if strings.Contains(name, "/") {
		return "", false
	}
	entries, err := os.ReadDir(h.Cache)
	if err != nil {
		return "", false
	}
	found := 0
	for _, e := range entries {
		parts := strings.Split(e.Name(), "--")
		if len(parts) == 3 && parts[0] == "models" && strings.EqualFold(parts[2], name) {
			id = parts[1] + "/" + parts[2]
			found++
		}
	}
	return id, found == 1
}

// asPermission names a failure to write into the cache.
func (h *Hub) asPermission(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, os.ErrPermission) {
		return fail(Permission, "the cache %s cannot be written: %w", h.Cache, err)
	}
	return err
}

// Package hub brings files of the Hugging Face hub, and of plain URLs, to this machine. Files of the hub go into the
// cache that the hub's other tools use too, in their layout: what one of them has fetched, none fetches again.
//
// The layout: models--ORG--NAME or datasets--ORG--NAME with refs/REVISION (the commit), snapshots/COMMIT/FILE (links)
// and blobs/NAME (the contents). A file takes its name only when it is complete and its checksum, where one is known,
// is right. What an interrupted transfer has left is continued.
package hub

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/pattern"
)

// Client fetches.
type Client struct {
	// Endpoint is the address of the hub, without a slash at its end.
	Endpoint string
	// Token is sent to the hub and to nobody else, wherever it redirects to; empty: none.
	Token string
	// Dir is the cache: the folder of the datasets--… and models--… folders.
	Dir string
	// Offline is the variable that forbids the network; empty: it is allowed.
	Offline string
	// HTTP carries the requests.
	HTTP *http.Client
	// Pause is the wait before the first new attempt; each further one is twice as long.
	Pause time.Duration
	// UserAgent names the program.
	UserAgent string
	// MaxFile bounds a file in bytes; 0: no bound.
	MaxFile int64
}

// defaultEndpoint is the public hub.
const defaultEndpoint = "https://huggingface.co"

const defaultPause = time.Second

// The kinds of repositories.
const (
	Models   = "models"
	Datasets = "datasets"
)

// FromEnv returns the client that the hub's own variables describe, for repositories of a kind.
func FromEnv(env func(string) (string, bool), kind string) *Client {
	get := func(names ...string) string {
		for _, name := range names {
			if value, _ := env(name); strings.TrimSpace(value) != "" {
				return strings.TrimSpace(value)
			}
		}
		return ""
	}
	c := &Client{
		Endpoint:  strings.TrimRight(cmp.Or(get("HF_ENDPOINT"), defaultEndpoint), "/"),
		Token:     get("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"),
		Pause:     defaultPause,
		HTTP:      &http.Client{},
		UserAgent: "aiperf",
	}
	switches := []string{"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}
	if kind == Datasets {
		switches = append(switches, "HF_DATASETS_OFFLINE")
	}
	for _, name := range switches {
		if isOn(get(name)) && c.Offline == "" {
			c.Offline = name
		}
	}
	home := get("HF_HOME")
	if home == "" {
		base := get("XDG_CACHE_HOME")
		if base == "" {
			user, err := os.UserHomeDir()
			if err != nil {
				user = os.TempDir()
			}
			base = filepath.Join(user, ".cache")
		}
		home = filepath.Join(base, "huggingface")
	}
	c.Dir = cmp.Or(get("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"), filepath.Join(home, "hub"))
	if c.Token == "" {
		if text, err := os.ReadFile(cmp.Or(get("HF_TOKEN_PATH"), filepath.Join(home, "token"))); err == nil {
			c.Token = strings.TrimSpace(string(text))
		}
	}
	return c
}

// isOn reports whether a switch is set: anything but an empty text or a no.
func isOn(value string) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
}

// Repo is a repository of the hub at a revision.
type Repo struct {
	// Kind is Models or Datasets.
	Kind string
	// ID is "owner/name", or "name" for a few old ones.
	ID string
	// Revision is a branch, a tag or a commit; empty: main.
	Revision string
}

func (r Repo) revision() string { return cmp.Or(r.Revision, "main") }

// Folder returns the name of the repository's folder in a cache.
func (r Repo) Folder() string { return r.Kind + "--" + strings.ReplaceAll(r.ID, "/", "--") }

// Page returns where a person finds the repository.
func (c *Client) Page(r Repo) string {
	if r.Kind == Models {
		return c.Endpoint + "/" + r.ID
	}
	return c.Endpoint + "/" + r.Kind + "/" + r.ID
}

// File is a file of a repository.
type File struct {
	// Path is relative to the repository, with slashes.
	Path string
	Size int64
	// SHA256 is empty for small files, for which the hub states none.
	SHA256 string
	blob   string
}

var (
	idPattern     = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$`)
	commitPattern = pattern.New(`^[0-9a-f]{1,64}$`)
)

// isID reports whether name can be the id of a repository: NAME or ORG/NAME.
func isID(name string) bool {
	return len(name) <= 200 && idPattern.MatchString(name) && !strings.Contains(name, "..") &&
		!strings.Contains(name, "--")
}

// isRevision reports whether a revision can be part of a path.
func isRevision(r string) bool {
	return r != "" && len(r) <= 200 && !strings.Contains(r, "..") && !strings.HasPrefix(r, "/") &&
		!strings.ContainsAny(r, "\\\x00 ?#%") && filepath.IsLocal(filepath.FromSlash(r))
}

func isCommit(s string) bool { return commitPattern.MatchString(s) }

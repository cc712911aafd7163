// Package hub brings files of the Hugging Face hub, and of plain URLs, to this machine. Files of the hub go into the
// cache that the hub's other tools use too, in their layout: what one of them has fetched, none fetches again.
//
// A file takes its name only when it is complete and its checksum, where one is known, is right. What an
// interrupted transfer has left is continued.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Client fetches.
type Client struct {
	// Endpoint is the address of the hub, without a slash at its end.
	Endpoint string
	// Token is sent to the hub and to nobody else; empty: none.
	Token string
	// Dir is the cache: the folder of the datasets--… and models--… folders.
	Dir string
	// Offline is the variable that forbids the network; empty: it is allowed.
	Offline string
	// HTTP carries the requests.
	HTTP *http.Client
	// Pause is the wait before the first new attempt; each further one is twice as long.
	Pause time.Duration
}

const (
	defaultEndpoint = "https://huggingface.co"
	defaultPause    = time.Second
)

// FromEnvironment is the client that the hub's own variables describe.
func FromEnvironment(env func(string) (string, bool)) *Client {
	get := func(name string) string {
		value, _ := env(name)
		return strings.TrimSpace(value)
	}
	c := &Client{
		Endpoint: strings.TrimRight(cmp.Or(get("HF_ENDPOINT"), defaultEndpoint), "/"),
		Token:    get("HF_TOKEN"),
		Pause:    defaultPause,
		HTTP:     &http.Client{},
	}
	for _, name := range []string{"HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"} {
		if on(get(name)) && c.Offline == "" {
			c.Offline = name
		}
	}
	home := get("HF_HOME")
	if home == "" {
		if cache := get("XDG_CACHE_HOME"); cache != "" {
			home = filepath.Join(cache, "huggingface")
		} else if user, err := os.UserHomeDir(); err == nil {
			home = filepath.Join(user, ".cache", "huggingface")
		}
	}
	c.Dir = get("HF_HUB_CACHE")
	if c.Dir == "" && home != "" {
		c.Dir = filepath.Join(home, "hub")
	}
	if c.Token == "" && home != "" {
		if text, err := os.ReadFile(cmp.Or(get("HF_TOKEN_PATH"), filepath.Join(home, "token"))); err == nil {
			c.Token = strings.TrimSpace(string(text))
		}
	}
	return c
}

// on tells whether a switch is set: anything but an empty text or a no.
func on(value string) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
}

// Repo is a repository of the hub at a revision.
type Repo struct {
	// Kind is "datasets" or "models".
	Kind string
	// ID is "owner/name".
	ID string
	// Revision is a branch, a tag or a commit; empty: main.
	Revision string
}

func (r Repo) revision() string { return cmp.Or(r.Revision, "main") }

// Folder is the name of the repository's folder in a cache.
func (r Repo) Folder() string { return r.Kind + "--" + strings.ReplaceAll(r.ID, "/", "--") }

// Page is where a person finds the repository.
func (c *Client) Page(r Repo) string {
	if r.Kind == "models" {
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

// Snapshot is the folder of a repository's files in a cache folder, if it has one: that of the revision, or the only
// one there is.
func Snapshot(cache string, r Repo) (string, bool) {
	return SnapshotIn(filepath.Join(cache, r.Folder()), r.revision())
}

// SnapshotIn does the same for the repository's own folder in the cache.
func SnapshotIn(folder, revision string) (string, bool) {
	snapshots := filepath.Join(folder, "snapshots")
	if commit, err := os.ReadFile(filepath.Join(folder, "refs", filepath.FromSlash(revision))); err == nil {
		if dir := filepath.Join(snapshots, strings.TrimSpace(string(commit))); isDir(dir) {
			return dir, true
		}
	}
	if dir := filepath.Join(snapshots, revision); revision != "" && isDir(dir) {
		return dir, true
	}
	entries, err := os.ReadDir(snapshots)
	if err != nil || len(entries) != 1 || !entries[0].IsDir() {
		return "", false
	}
	return filepath.Join(snapshots, entries[0].Name()), true
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ErrOffline is the error of everything that would need the network while it is forbidden.
var ErrOffline = errors.New("the network is switched off")

func (c *Client) allowed() error {
	if c.Offline != "" {
		return fmt.Errorf("%w by %s", ErrOffline, c.Offline)
	}
	return nil
}

// List asks the hub for the files of a repository and the commit that its revision means.
func (c *Client) List(ctx context.Context, r Repo) (commit string, files []File, err error) {
	if err := c.allowed(); err != nil {
		return "", nil, err
	}
	address := fmt.Sprintf("%s/api/%s/%s/revision/%s?blobs=true", c.Endpoint, r.Kind, r.ID, url.PathEscape(r.revision()))
	response, err := c.get(ctx, address, nil)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", nil, c.status(address, response.StatusCode)
	}
	var document struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
			Size int64  `json:"size"`
			Blob string `json:"blobId"`
			LFS  *struct {
				SHA256 string `json:"sha256"`
				Size   int64  `json:"size"`
			} `json:"lfs"`
		} `json:"siblings"`
	}
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		return "", nil, fmt.Errorf("%s did not answer with a list of files: %w", address, err)
	}
	if !isCommit(document.SHA) {
		return "", nil, fmt.Errorf("%s named no commit", address)
	}
	for _, s := range document.Siblings {
		if !fs.ValidPath(s.Name) || !filepath.IsLocal(filepath.FromSlash(s.Name)) {
			continue // a name that leads out of the folder
		}
		f := File{Path: s.Name, Size: s.Size, blob: s.Blob}
		if s.LFS != nil {
			f.SHA256, f.Size, f.blob = s.LFS.SHA256, s.LFS.Size, s.LFS.SHA256
		}
		files = append(files, f)
	}
	return document.SHA, files, nil
}

func isCommit(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// Fetch brings files of a commit into the cache and returns the folder under which they lie at their paths.
func (c *Client) Fetch(ctx context.Context, r Repo, commit string, files []File) (dir string, err error) {
	folder := filepath.Join(c.Dir, r.Folder())
	dir = filepath.Join(folder, "snapshots", commit)
	for _, f := range files {
		place := filepath.Join(dir, filepath.FromSlash(f.Path))
		if _, err := os.Stat(place); err == nil {
			continue
		}
		if err := c.allowed(); err != nil {
			return "", err
		}
		blob := place
		if isCommit(f.blob) {
			blob = filepath.Join(folder, "blobs", f.blob)
		}
		if _, err := os.Stat(blob); err != nil {
			address := fmt.Sprintf("%s/resolve/%s/%s", c.Page(r), commit, escapePath(f.Path))
			if err := c.Download(ctx, address, blob, f.SHA256); err != nil {
				return "", err
			}
		}
		if err := link(blob, place); err != nil {
			return "", err
		}
	}
	if r.revision() != commit {
		ref := filepath.Join(folder, "refs", filepath.FromSlash(r.revision()))
		if err := os.MkdirAll(filepath.Dir(ref), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(ref, []byte(commit), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// link gives a blob its name in a snapshot. Where links are not allowed the file itself goes there.
func link(blob, place string) error {
	if blob == place {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	target, err := filepath.Rel(filepath.Dir(place), blob)
	if err == nil && os.Symlink(target, place) == nil {
		return nil
	}
	return os.Rename(blob, place)
}

func escapePath(p string) string {
	parts := strings.Split(path.Clean(p), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

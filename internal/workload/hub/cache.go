package hub

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Snapshot returns the folder of a repository's files at its revision in a cache folder, if it has one.
func Snapshot(cache string, r Repo) (dir string, ok bool) {
	if !isID(r.ID) {
		return "", false
	}
	return snapshotIn(filepath.Join(cache, r.Folder()), r.revision())
}

// AnySnapshot returns Snapshot, or else the only one that there is: a copied cache often lacks the names of revisions.
func AnySnapshot(cache string, r Repo) (dir string, ok bool) {
	return AnySnapshotIn(filepath.Join(cache, r.Folder()), r.revision())
}

// AnySnapshotIn does the same for the repository's own folder in the cache.
func AnySnapshotIn(folder, revision string) (dir string, ok bool) {
	if dir, ok := snapshotIn(folder, revision); ok {
		return dir, true
	}
	snapshots := filepath.Join(folder, "snapshots")
	entries, err := os.ReadDir(snapshots)
	if err != nil || len(entries) != 1 || !entries[0].IsDir() {
		return "", false
	}
	return filepath.Join(snapshots, entries[0].Name()), true
}

func snapshotIn(folder, revision string) (dir string, ok bool) {
	if !isRevision(revision) {
		return "", false
	}
	snapshots := filepath.Join(folder, "snapshots")
	if data, err := os.ReadFile(filepath.Join(folder, "refs", filepath.FromSlash(revision))); err == nil {
		commit := strings.TrimSpace(string(data))
		if dir := filepath.Join(snapshots, commit); isCommit(commit) && isDir(dir) {
			return dir, true
		}
	}
	dir = filepath.Join(snapshots, filepath.FromSlash(revision))
	return dir, isDir(dir)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// InCache returns the id of a model that the cache has a folder of: name itself, or the only one called so in any
// organisation, whatever the case.
func (c *Client) InCache(name string) (id string, ok bool) {
	if !isID(name) {
		return "", false
	}
	if isDir(filepath.Join(c.Dir, Repo{Kind: Models, ID: name}.Folder())) {
		return name, true
	}
	if strings.Contains(name, "/") {
		return "", false
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return "", false
	}
	found := 0
	for _, e := range entries {
		parts := strings.Split(e.Name(), "--")
		if len(parts) == 3 && parts[0] == Models && strings.EqualFold(parts[2], name) {
			id = parts[1] + "/" + parts[2]
			found++
		}
	}
	return id, found == 1
}

// Fetch brings files of a commit into the cache and returns the folder under which they lie at their paths.
func (c *Client) Fetch(ctx context.Context, r Repo, commit string, files []File) (dir string, err error) {
	folder := filepath.Join(c.Dir, r.Folder())
	dir = filepath.Join(folder, "snapshots", commit)
	for _, f := range files {
		if err := c.fetch(ctx, r, commit, f); err != nil {
			return "", c.asPermission(err)
		}
	}
	if r.revision() != commit {
		ref := filepath.Join(folder, "refs", filepath.FromSlash(r.revision()))
		if err := os.MkdirAll(filepath.Dir(ref), 0o755); err != nil {
			return "", c.asPermission(err)
		}
		if err := replace(ref, []byte(commit)); err != nil {
			return "", c.asPermission(err)
		}
	}
	return dir, nil
}

// fetch brings one file, unless it is there. A hub that does not name its contents has it straight in the snapshot.
func (c *Client) fetch(ctx context.Context, r Repo, commit string, f File) error {
	folder := filepath.Join(c.Dir, r.Folder())
	place := filepath.Join(folder, "snapshots", commit, filepath.FromSlash(f.Path))
	if _, err := os.Stat(place); err == nil {
		return nil
	}
	blob := place
	if isCommit(f.blob) {
		blob = filepath.Join(folder, "blobs", f.blob)
	}
	if _, err := os.Stat(blob); err != nil {
		address := fmt.Sprintf("%s/resolve/%s/%s", c.Page(r), commit, escapePath(f.Path))
		if err := c.Download(ctx, address, blob, f.SHA256); err != nil {
			return err
		}
	}
	return link(blob, place)
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
	if err == nil {
		_ = os.Symlink(target, place) // what counts is whether the link, or another process's, leads to a file
		if exists(place) {
			return nil
		}
	}
	return os.Rename(blob, place)
}

// exists reports whether there is a file, also behind a link.
func exists(place string) bool {
	_, err := os.Stat(place)
	return err == nil
}

// replace writes a file that is whole or not there.
func replace(path string, data []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// asPermission names a failure to write into the cache.
func (c *Client) asPermission(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fail(Permission, "the cache %s cannot be written: %w", c.Dir, err)
	}
	return err
}

func escapePath(p string) string {
	parts := strings.Split(path.Clean(p), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

package hub

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxFile bounds a file of a tokenizer.
const maxFile = 1 << 30

// Fetch brings the named files of a revision into the cache and returns the snapshot's folder and the
// commit. What is there is not fetched again; what broke off goes on where it ended. A file shows under its
// name when it is whole.
func (h *Hub) Fetch(ctx context.Context, m *Model, revision string, names []string) (dir, commit string, err error) {
	commit = m.Commit
	if !commitPattern.MatchString(commit) {
		return "", "", fail(HubError, "%s names no commit of %s", h.Endpoint, m.ID)
	}
	folder := h.folder(m.ID)
	dir = filepath.Join(folder, "snapshots", commit)
	for _, d := range []string{dir, filepath.Join(folder, "blobs"), filepath.Join(folder, "refs")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", "", h.asPermission(err)
		}
	}
	for _, name := range names {
		if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			return "", "", fail(HubError, "%s names the file %q, which is no plain name", h.Endpoint, name)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			continue
		}
		if err := h.fetchFile(ctx, m.ID, folder, dir, commit, name); err != nil {
			return "", "", h.asPermission(err)
		}
	}
	if revision != commit {
		ref := filepath.Join(folder, "refs", filepath.FromSlash(revision))
		if err := os.MkdirAll(filepath.Dir(ref), 0o755); err != nil {
			return "", "", h.asPermission(err)
		}
		if err := replace(ref, []byte(commit)); err != nil {
			return "", "", h.asPermission(err)
		}
	}
	return dir, commit, nil
}

func (h *Hub) fetchFile(ctx context.Context, id, folder, dir, commit, name string) error {
	part := filepath.Join(folder, "blobs", partName(commit, name))
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	header := http.Header{}
	if have > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	response, err := h.do(ctx, "/"+id+"/resolve/"+commit+"/"+url.PathEscape(name), header)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusRequestedRangeNotSatisfiable: // nothing is missing, or what is here is of no use
		if response.Header.Get("Content-Range") != fmt.Sprintf("bytes */%d", have) {
			f.Truncate(0)
			return fail(HubError, "%s: what an earlier download of %s left did not fit and was removed; run it again", h.Endpoint, name)
		}
	case http.StatusOK: // the whole file, whatever was asked for
		if err := f.Truncate(0); err != nil {
			return err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		fallthrough
	case http.StatusPartialContent:
		if err := h.receive(f, response, name); err != nil {
			return err
		}
	default:
		return h.status(response, id)
	}
	if err := f.Close(); err != nil {
		return err
	}
	blob := filepath.Join(folder, "blobs", etag(response, commit, name))
	if err := os.Rename(part, blob); err != nil {
		return err
	}
	return link(blob, filepath.Join(dir, name))
}

// receive appends the body; a length that the hub names must be reached.
func (h *Hub) receive(f *os.File, r *http.Response, name string) error {
	n, err := io.Copy(f, io.LimitReader(r.Body, maxFile))
	if err == nil && r.ContentLength >= 0 && n != r.ContentLength {
		err = fmt.Errorf("%d of %d bytes came", n, r.ContentLength)
	}
	if err != nil {
		var known *Error
		if failed := h.networkError(err); errors.As(failed, &known) {
			return fail(known.Kind, "the download of %s broke off: %w; run it again to go on", name, err)
		}
	}
	return nil
}

func partName(commit, name string) string {
	sum := sha1.Sum([]byte(commit + "/" + name))
	return hex.EncodeToString(sum[:]) + ".incomplete"
}

// etag is the name of a file's content: what the hub calls it, else a name made of commit and file.
func etag(r *http.Response, commit, name string) string {
	for _, key := range []string{"X-Linked-Etag", "Etag"} {
		tag := strings.Trim(strings.TrimPrefix(r.Header.Get(key), "W/"), `"`)
		if tag != "" && len(tag) <= 128 && strings.IndexFunc(tag, func(c rune) bool {
			return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
		}) < 0 {
			return tag
		}
	}
	return strings.TrimSuffix(partName(commit, name), ".incomplete")
}

// link shows a blob under its name: by a relative link, or by a copy where links cannot be made.
func link(blob, path string) error {
	relative, err := filepath.Rel(filepath.Dir(path), blob)
	if err != nil {
		return err
	}
	temporary := path + ".new"
	os.Remove(temporary)
	if runtime.GOOS == "windows" || os.Symlink(relative, temporary) != nil {
		data, err := os.ReadFile(blob)
		if err != nil {
			return err
		}
		return replace(path, data)
	}
	return os.Rename(temporary, path)
}

// replace writes a file that is whole or not there.
func replace(path string, data []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
)

// Listing is what the hub says of a repository at a revision.
type Listing struct {
	// ID is the id as the hub spells it.
	ID string
	// Commit is what the revision means.
	Commit string
	Files  []File
}

// maxAnswer bounds an answer of the API.
const maxAnswer = 64 << 20

// List asks the hub for the files of a repository and the commit that its revision means.
func (c *Client) List(ctx context.Context, r Repo) (*Listing, error) {
	if !isID(r.ID) {
		return nil, fail(NotFound, "%q is not an id of the hub (NAME or ORG/NAME)", r.ID)
	}
	if !isRevision(r.revision()) {
		return nil, fail(BadRevision, "%q is not a branch, tag or commit", r.Revision)
	}
	address := fmt.Sprintf("%s/api/%s/%s/revision/%s?blobs=true", c.Endpoint, r.Kind, r.ID,
		url.PathEscape(r.revision()))
	var document struct {
		ID       string `json:"id"`
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
	if err := c.ask(ctx, address, &document); err != nil {
		return nil, err
	}
	if !isCommit(document.SHA) {
		return nil, fail(HubError, "%s named no commit", address)
	}
	l := &Listing{ID: document.ID, Commit: document.SHA}
	if !isID(l.ID) {
		l.ID = r.ID
	}
	for _, s := range document.Siblings {
		if !fs.ValidPath(s.Name) || !filepath.IsLocal(filepath.FromSlash(s.Name)) {
			continue // a name that leads out of the folder
		}
		f := File{Path: s.Name, Size: s.Size, blob: s.Blob}
		if s.LFS != nil {
			f.SHA256, f.Size, f.blob = s.LFS.SHA256, s.LFS.Size, s.LFS.SHA256
		}
		l.Files = append(l.Files, f)
	}
	return l, nil
}

// Model is a result of a search.
type Model struct {
	ID        string `json:"id"`
	Downloads int64  `json:"downloads"`
}

// Search asks the hub for models with name in their id, at most 50.
func (c *Client) Search(ctx context.Context, name string) ([]Model, error) {
	var list []Model
	err := c.ask(ctx, c.Endpoint+"/api/models?limit=50&search="+url.QueryEscape(name), &list)
	return list, err
}

// ask reads an answer of the API. It tries once: where the hub cannot be reached the user shall know soon.
func (c *Client) ask(ctx context.Context, address string, into any) error {
	response, err := c.get(ctx, address, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return c.status(response, address)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(into); err != nil {
		return fail(HubError, "%s: the answer is not what a hub gives: %w", address, err)
	}
	return nil
}

// Downloads returns a number of downloads as people write it: 8.4M, 12.3K.
func Downloads(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1_000:
		return fmt.Sprintf("%.1fK", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer"
)

// Options say which tokenizer is wanted.
type Options struct {
	// Name is a built-in name, a path, or the id of a repository on the hub.
	Name string
	// Revision is a branch, tag or commit; empty is main.
	Revision string
	Hub      *hub.Client
	// AsNamed disables the search for a repository by a name that is not an id.
	AsNamed bool
	// Info is called with the repository that a name was resolved to; nil = not called.
	Info func(message string)
}

// Open finds the files of a tokenizer and brings them to this machine if they are only on the hub. Its error is a
// *Failure.
func Open(ctx context.Context, o Options) (*Bundle, error) {
	if o.Revision == "" {
		o.Revision = "main"
	}
	if o.Info == nil {
		o.Info = func(string) {}
	}
	if o.Hub != nil {
		h := *o.Hub
		h.MaxFile = maxFile
		o.Hub = &h
	}
	b, err := o.open(ctx)
	if err != nil {
		return nil, failure(o.Name, o.Revision, err)
	}
	b.Name = o.Name
	return b, nil
}

// Load returns the tokenizer that Open finds. Its error is a *Failure.
func Load(ctx context.Context, o Options) (tokenizer.Tokenizer, *Bundle, error) {
	b, err := Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	t, err := b.tokenizer()
	if err != nil {
		if errors.Is(err, errNoFiles) && b.config().Custom {
			err = errCustomCode
		}
		return nil, nil, failure(o.Name, o.Revision, fmt.Errorf("%s: %w", b.Where, err))
	}
	return t, b, nil
}

// open finds the files of a tokenizer: in the program, at a path, in the hub's cache, at the hub, in this order. A
// cached snapshot that lacks files is completed, but for runs that may not ask the hub: these take it as it is.
func (o *Options) open(ctx context.Context) (*Bundle, error) {
	if t, ok := tokenizer.Named(o.Name); ok {
		return &Bundle{Where: "the program itself", builtin: t}, nil
	}
	if isPath(o.Name) {
		return openPath(o.Name)
	}
	if id, ok := o.Hub.InCache(o.Name); ok {
		if dir, ok := hub.Snapshot(o.Hub.Dir, hub.Repo{Kind: hub.Models, ID: id, Revision: o.Revision}); ok {
			b := snapshot(dir)
			if o.Hub.Offline != "" || len(b.names()) > 0 && b.complete() {
				o.detected(id)
				return b, nil
			}
		}
		if o.Hub.Offline != "" {
			return nil, &hub.Error{Kind: hub.NotCached,
				Err: fmt.Errorf("the cache has %s, but not its revision %s", id, o.Revision)}
		}
		return o.fetch(ctx, id)
	}
	if o.Hub.Offline != "" {
		return nil, &hub.Error{Kind: hub.NotCached,
			Err: fmt.Errorf("%s is not in the cache %s, and the hub may not be asked: %w by %s", o.Name, o.Hub.Dir,
				hub.ErrOffline, o.Hub.Offline)}
	}
	return o.fetch(ctx, o.Name)
}

// maxFile bounds a file of a tokenizer.
const maxFile = 1 << 30

// isPath reports whether a name is one of this machine's files: by its form, or because there is one.
func isPath(name string) bool {
	if filepath.IsAbs(name) || name == "." || name == ".." {
		return true
	}
	for _, prefix := range []string{"./", "../", `.\`, `..\`} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	_, err := os.Stat(name)
	return err == nil
}

func snapshot(dir string) *Bundle {
	return &Bundle{Where: "the cached snapshot " + dir, Commit: filepath.Base(dir), files: os.DirFS(dir)}
}

// complete reports whether a tokenizer can be made of the files.
func (b *Bundle) complete() bool {
	return b.has(tokenizerJSON) || b.has(tekkenJSON) || b.has(modelFile) || b.rankFile() != "" || b.has(vocabJSON) &&
		b.has(mergesTXT) || b.has(vocabTXT)
}

func (o *Options) detected(id string) {
	if id == o.Name {
		o.Info("✓ Tokenizer " + id + " detected")
	} else {
		o.Info("✓ Tokenizer " + id + " detected for " + o.Name)
	}
}

// fetch asks the hub for a repository, under the given name or the nearest to it, and fetches its files.
func (o *Options) fetch(ctx context.Context, id string) (*Bundle, error) {
	repo := hub.Repo{Kind: hub.Models, ID: id, Revision: o.Revision}
	listing, err := o.Hub.List(ctx, repo)
	if hub.IsNotFound(err) && !o.AsNamed {
		found, searched := o.search(ctx)
		if searched != nil {
			return nil, searched
		}
		if found == "" {
			return nil, err
		}
		repo.ID = found
		listing, err = o.Hub.List(ctx, repo)
	}
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(listing.ID, repo.ID) { // else the cache's folder is named as it was asked for
		repo.ID = listing.ID
	}
	o.detected(repo.ID)
	files := choose(listing.Files)
	if len(files) == 0 {
		return nil, &hub.Error{Kind: hub.MissingFile, Err: fmt.Errorf("%s: %w", repo.ID, errNoFiles)}
	}
	dir, err := o.Hub.Fetch(ctx, repo, listing.Commit, files)
	if err != nil {
		return nil, err
	}
	return snapshot(dir), nil
}

// choose takes the files to fetch: with a tokenizer.json the older forms are not needed.
func choose(all []hub.File) []hub.File {
	whole := slices.ContainsFunc(all, func(f hub.File) bool { return f.Path == tokenizerJSON })
	var files []hub.File
	for _, f := range all {
		switch f.Path {
		case tokenizerJSON, configJSON, specialsJSON, templateJinja, templateJSON:
		default:
			if whole || !wanted(f.Path) {
				continue
			}
		}
		files = append(files, f)
	}
	return files
}

// Ambiguous is a name that the hub knows in several forms.
type Ambiguous struct {
	Name        string
	Suggestions []hub.Model
}

func (a *Ambiguous) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "'%s' is not the id of a repository on the hub. Did you mean:\n", a.Name)
	for _, s := range a.Suggestions {
		fmt.Fprintf(&b, "  %s (%s downloads)\n", s.ID, hub.Downloads(s.Downloads))
	}
	b.WriteString("Give the whole id: --tokenizer " + a.Suggestions[0].ID)
	return b.String()
}

// PanelTitle returns the title under which the message is shown.
func (a *Ambiguous) PanelTitle() string { return "Ambiguous Tokenizer Name" }

// search returns the repository for a name that is not an id; empty if there is none.
func (o *Options) search(ctx context.Context) (string, error) {
	list, err := o.Hub.Search(ctx, o.Name)
	if err != nil || len(list) == 0 {
		return "", err
	}
	best := -1
	for i, m := range list {
		if strings.EqualFold(m.ID, o.Name) {
			return m.ID, nil
		}
		if strings.HasSuffix(strings.ToLower(m.ID), "/"+strings.ToLower(o.Name)) &&
			(best < 0 || m.Downloads > list[best].Downloads) {
			best = i
		}
	}
	if best >= 0 {
		return list[best].ID, nil
	}
	slices.SortStableFunc(list, func(a, b hub.Model) int { return int(min(max(b.Downloads-a.Downloads, -1), 1)) })
	return "", &Ambiguous{o.Name, list[:min(5, len(list))]}
}

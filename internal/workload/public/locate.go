package public

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/rows"
)

// converted is the revision in which the hub keeps every data set as Parquet files, by subset and split.
const converted = "refs/convert/parquet"

func (s *set) repository() hub.Repo { return hub.Repo{Kind: hub.Datasets, ID: s.repo} }

// revisions returns those in which the data set is looked for.
func (s *set) revisions() []string {
	if s.revision != "" {
		return []string{s.revision}
	}
	return []string{"main", converted}
}

// files are those of a data set, in order. The first one is there; fetch brings the others, nil: they are there too.
type files struct {
	paths []string
	fetch func(ctx context.Context, i int) (string, error)
}

// at returns file i, fetched if need be.
func (f *files) at(ctx context.Context, i int) (string, error) {
	if i == 0 || f.fetch == nil {
		return f.paths[i], nil
	}
	return f.fetch(ctx, i)
}

// locate finds the files of a data set, or fetches them.
func (o *Options) locate(ctx context.Context, s set) (*files, error) {
	if o.Path != "" {
		paths, err := s.local(o.Path)
		if err != nil {
			if s.table == nil {
				err = fmt.Errorf("--public-dataset %s: %w", s.name, err)
			}
			return nil, fmt.Errorf("%s: %w", s.pathOption(), err)
		}
		return &files{paths: paths}, nil
	}
	places := o.cachePlaces(s)
	if s.table != nil {
		places = nil // a file of one name would hold all parts
	}
	for _, place := range places {
		if paths, err := s.local(place); err == nil {
			return &files{paths: paths}, nil
		}
	}
	var incomplete error // why the cache's copy does not do
	s.original = true
	if s.repo != "" && o.Hub.Dir != "" {
		for _, revision := range s.revisions() {
			repo := s.repository()
			repo.Revision = revision
			if dir, ok := hub.AnySnapshot(o.Hub.Dir, repo); ok {
				paths, err := s.local(dir)
				if err == nil {
					return &files{paths: paths}, nil
				}
				incomplete = err
			}
		}
	}
	if s.table != nil && !s.table.Download {
		return nil, o.unreachable(s, incomplete)
	}
	var found *files
	err := o.within(ctx, func(ctx context.Context) (err error) {
		found, err = o.download(ctx, s)
		return err
	})
	if err != nil {
		return nil, o.unreachable(s, err)
	}
	return found, nil
}

// cachePlaces returns where a copy may lie in the cache of downloads.
func (o *Options) cachePlaces(s set) []string {
	var places []string
	if s.file != "" {
		places = append(places, filepath.Join(o.CacheDir, s.file))
	}
	for _, name := range []string{s.name, path.Base(s.repo)} {
		if name == "." || name == "" {
			continue
		}
		for _, ending := range []string{".parquet", ".arrow", ".jsonl", ".json", ".csv", ""} {
			places = append(places, filepath.Join(o.CacheDir, name+ending))
		}
	}
	return places
}

// local returns the files of the data set at a place that holds a copy: a file, a folder of files, or a cache of the
// hub.
func (s *set) local(place string) ([]string, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{place}, nil
	}
	if s.repo != "" {
		for _, cache := range []string{place, filepath.Join(place, "hub"), filepath.Join(place, "huggingface", "hub")} {
			repo := s.repository()
			repo.Revision = s.revisions()[0]
			if dir, ok := hub.AnySnapshot(cache, repo); ok {
				place = dir
				break
			}
		}
		if dir, ok := hub.AnySnapshotIn(place, s.revisions()[0]); ok {
			place = dir
		}
	}
	var names []string
	err = filepath.WalkDir(place, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			relative, err := filepath.Rel(place, name)
			if err != nil {
				return err
			}
			names = append(names, filepath.ToSlash(relative))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.file != "" && slices.Contains(names, s.file) {
		names = []string{s.file}
	}
	chosen, err := s.part().Choose(names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	for i, name := range chosen {
		chosen[i] = filepath.Join(place, filepath.FromSlash(name))
	}
	return chosen, nil
}

func (s *set) part() Part { return Part{s.subset, s.split, s.table, s.original} }

// Part is a part of a repository of the hub.
type Part struct {
	// Subset and Split name the part; an empty subset is the whole.
	Subset, Split string
	// Table is set for rows that are read as they are; Original, that its files are as the repository has them.
	Table    *Table
	Original bool
}

// Choose returns, of the names of the files of a repository, those of the part, or an error where there are none. Names
// say what files are: a split stands in the name or is a folder, a subset is a folder. Where nothing says it, all files
// are meant.
func (p Part) Choose(names []string) ([]string, error) {
	var tables []string
	for _, name := range names {
		if rows.Kind(name) != "" && !slices.Contains([]string{"dataset_infos.json", "dataset_info.json", "config.json"},
			path.Base(name)) {
			tables = append(tables, name)
		}
	}
	slices.Sort(tables)
	if len(tables) == 0 {
		return nil, errors.New("there is no Parquet, Arrow, JSON Lines, JSON or CSV file")
	}
	keep := func(from []string, what string, match func(string) bool) []string {
		if what == "" {
			return from
		}
		return slices.DeleteFunc(slices.Clone(from), func(name string) bool { return !match(name) })
	}
	inSplit := func(name string) bool {
		return slices.ContainsFunc(words(name), func(word string) bool { return split(word) == split(p.Split) })
	}
	inSubset := func(name string) bool { return hasSubset(name, p.Subset) }
	ofSubset := keep(tables, p.Subset, inSubset)
	if t := p.Table; t != nil && t.Files != nil && len(ofSubset) == 0 {
		if of := t.filesIn(tables); of != nil {
			return of, nil
		}
		if p.Original {
			return nil, fmt.Errorf("%w %s; there are %s", ErrNoPart, p, strings.Join(tables, ", "))
		}
	}
	chosen := keep(ofSubset, p.Split, inSplit)
	if len(chosen) == 0 && p.Subset != "" && !anyFolders(tables) && (p.Table == nil || len(ofSubset) == 0) {
		chosen = keep(tables, p.Split, inSplit) // a copy of one subset alone
	}
	unnamed := p.Table == nil || !p.Table.Named
	if len(chosen) == 0 && unnamed && p.Table != nil && !slices.ContainsFunc(ofSubset, saysSplit) {
		chosen = ofSubset
	}
	if len(chosen) == 0 && unnamed && !slices.ContainsFunc(tables, saysSplit) &&
		(p.Subset == "" || !anyFolders(tables)) {
		chosen = tables
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%w %s; there are %s", ErrNoPart, p, strings.Join(tables, ", "))
	}
	return oneKind(chosen), nil
}

// String returns what errors call the part.
func (p Part) String() string {
	if p.Subset == "" {
		return "split " + p.Split
	}
	return fmt.Sprintf("split %s of the subset %s", p.Split, p.Subset)
}

// words returns the parts of a path between other characters than letters and digits.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// split returns the common name of a split.
func split(word string) string {
	switch word {
	case "val", "valid", "dev":
		return "validation"
	}
	return word
}

func saysSplit(name string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool {
		return slices.Contains([]string{"train", "test", "validation"}, split(word))
	})
}

func hasSubset(name, subset string) bool {
	parts := strings.Split(name, "/")
	base := parts[len(parts)-1]
	return slices.Contains(parts[:len(parts)-1], subset) || strings.HasPrefix(base, subset+".") ||
		strings.HasPrefix(base, subset+"-") ||
		strings.HasPrefix(base, subset+"_")
}

func anyFolders(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		dir := path.Dir(name)
		return dir != "." && dir != "data"
	})
}

// oneKind keeps the files of one format, where the same rows lie in several.
func oneKind(names []string) []string {
	for _, kind := range []string{"parquet", "arrow", "jsonl", "json", "csv"} {
		var of []string
		for _, name := range names {
			if rows.Kind(name) == kind {
				of = append(of, name)
			}
		}
		if len(of) > 0 {
			return of
		}
	}
	return names
}

// within bounds a download.
func (o *Options) within(ctx context.Context, download func(context.Context) error) error {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout,
			fmt.Errorf("the download took longer than %s; AIPERF_DATASET_PUBLIC_DATASET_TIMEOUT sets the limit, and "+
				"the next run goes on where this one ended", o.Timeout))
		defer cancel()
	}
	err := download(ctx)
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		err = context.Cause(ctx)
	}
	return err
}

// download fetches the files of a data set, of the first revision that has them. The error is that of the first one,
// which is the usual one.
func (o *Options) download(ctx context.Context, s set) (*files, error) {
	if s.url != "" {
		target := filepath.Join(o.CacheDir, s.file)
		return &files{paths: []string{target}}, o.Hub.Download(ctx, s.url, target, "")
	}
	var firstErr error
	for _, revision := range s.revisions() {
		repo := s.repository()
		repo.Revision = revision
		found, err := o.fetch(ctx, s, repo)
		if err == nil {
			return found, nil
		}
		if firstErr == nil {
			firstErr = err
		}
		if errors.Is(err, hub.ErrOffline) || ctx.Err() != nil {
			break
		}
	}
	return nil, firstErr
}

// fetch brings the files of a split. Those of a streamed data set come one after the other: one alone often holds far
// more rows than a run asks for.
func (o *Options) fetch(ctx context.Context, s set, repo hub.Repo) (*files, error) {
	listing, err := o.Hub.List(ctx, repo)
	if err != nil {
		return nil, err
	}
	byName := map[string]hub.File{}
	var names []string
	for _, f := range listing.Files {
		byName[f.Path] = f
		names = append(names, f.Path)
	}
	chosen, err := s.part().Choose(names)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", o.Hub.Page(repo), repo.Revision, err)
	}
	var wanted []hub.File
	for _, name := range chosen {
		wanted = append(wanted, byName[name])
	}
	first := wanted
	if s.streamed {
		first = wanted[:1]
	}
	dir, err := o.Hub.Fetch(ctx, repo, listing.Commit, first)
	if err != nil {
		return nil, err
	}
	found := &files{paths: make([]string, len(chosen))}
	for i, name := range chosen {
		found.paths[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	if s.streamed {
		found.fetch = func(ctx context.Context, i int) (string, error) {
			return found.paths[i], o.within(ctx, func(ctx context.Context) error {
				_, err := o.Hub.Fetch(ctx, repo, listing.Commit, wanted[i:i+1])
				return err
			})
		}
	}
	return found, nil
}

// unreachable returns the error of a data set that is nowhere: it says what to fetch and where to put it.
func (o *Options) unreachable(s set, cause error) error {
	source, files, looked := s.url, s.file, filepath.Join(o.CacheDir, s.file)
	if s.repo != "" {
		source, files = o.Hub.Page(s.repository()), "the files of the "+s.part().String()
		looked = filepath.Join(o.CacheDir, s.name+".parquet") + " (or .arrow, .jsonl, .json, .csv, or a folder " +
			s.name + ")"
		if o.Hub.Dir != "" {
			looked += " and in " + filepath.Join(o.Hub.Dir, s.repository().Folder())
		}
	}
	if s.table != nil {
		return s.table.absent(files, filepath.Join(o.Hub.Dir, s.repository().Folder()), cause)
	}
	return fmt.Errorf("--public-dataset %s is not on this machine and cannot be fetched: %w\n"+
		"Its source is %s; a copy was looked for at %s.\n"+
		"Fetch %s on a machine that reaches the source, and give the file or folder with --dataset-path, or put it "+
		"there "+
		"(AIPERF_DATASET_PUBLIC_CACHE_DIR, HF_HOME and HF_HUB_CACHE name the places), or turn the rows into "+
		"single_turn lines for --input-file",
		s.name, cause, source, looked, files)
}

// convertWeka writes traces that lie in Parquet files as lines that the reader of traces knows.
func (o *Options) convertWeka(ctx context.Context, s set, files []string) (string, error) {
	target := filepath.Join(o.CacheDir, s.name+".jsonl")
	if err := os.MkdirAll(o.CacheDir, 0o755); err != nil {
		return "", err
	}
	out, err := os.CreateTemp(o.CacheDir, s.name+".*.tmp")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	lines := json.NewEncoder(out)
	for _, file := range files {
		err := rows.Each(ctx, file, func(_ int,
			row rows.Row) error {
			return lines.Encode(withoutNulls(map[string]any(row)))
		})
		if err != nil {
			return "", err
		}
	}
	if err := out.Close(); err != nil {
		return "", err
	}
	return target, os.Rename(out.Name(), target)
}

// withoutNulls returns a value without the members that are null.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member != nil {
				out[name] = withoutNulls(member)
			}
		}
		return out
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	case []byte:
		return string(v)
	}
	return v
}

package public_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/public"
	"aiperf/internal/workload/rows"
)

// The files of each benchmark's repository as the hub has them, or has them converted, and those that are read.
func TestFilesOfBenchmarks(t *testing.T) {
	releases := "README.md test.jsonl test2.jsonl test3.jsonl test4.jsonl test5.jsonl test6.jsonl"
	v4, named := []string{"test4.jsonl", "test5.jsonl"}, true
	for _, c := range []struct {
		subset, split   string
		files           []string
		named, original bool
		names, want     string
	}{
		{"gpqa_diamond", "train", nil, false, true, "gpqa_diamond.csv gpqa_experts.csv gpqa_extended.csv gpqa_main.csv", "gpqa_diamond.csv"},
		{"", "train", nil, false, true, "README.md aime_2024_problems.parquet", "aime_2024_problems.parquet"},
		{"", "train", nil, named, true, "data/train-0.parquet data/validation-0.parquet", "data/train-0.parquet"},
		{"", "train", nil, named, false, "hellaswag.jsonl", ""}, // problems are no worked examples
		{"anatomy", "dev", nil, named, false, "anatomy/rows.jsonl", ""},
		{"anatomy", "test", nil, false, false, "anatomy/rows.jsonl virology/rows.jsonl", "anatomy/rows.jsonl"},
		{"anatomy", "dev", nil, named, true, "anatomy/dev/0000.parquet anatomy/test/0000.parquet virology/dev/0000.parquet",
			"anatomy/dev/0000.parquet"},
		{"anatomy", "test", nil, false, true, "mmlu.py data.tar", ""},
		{"v4_v5", "test", v4, false, true, releases, "test4.jsonl test5.jsonl"},
		{"v4_v5", "test", v4, false, true, "test.jsonl", ""}, // another release
		{"v4_v5", "test", v4, false, false, "test.jsonl", "test.jsonl"},
		{"v4_v5", "test", v4, false, false, "v4_v5/test.jsonl v6/test.jsonl", "v4_v5/test.jsonl"},
	} {
		p := public.Part{Subset: c.subset, Split: c.split, Original: c.original,
			Table: &public.Table{Files: c.files, Named: c.named}}
		got, err := p.Choose(strings.Fields(c.names))
		if (err != nil) != (c.want == "") || strings.Join(got, " ") != c.want {
			t.Errorf("%s/%s of %s: %v, %v, want %s", c.subset, c.split, c.names, got, err, c.want)
		}
	}
}

// askedFor is the table of these tests.
func askedFor(download bool) public.Table {
	return public.Table{Source: public.Source{"o/gated", "diamond", "train"}, PathOption: "--accuracy-data",
		DownloadOption: "--accuracy-download", Download: download}
}

func read(t *testing.T, o public.Options, table public.Table) (list []string, err error) {
	t.Helper()
	err = public.Each(context.Background(), o, table, func(n int, row rows.Row) error {
		list = append(list, fmt.Sprint(n, row["q"]))
		return nil
	})
	return list, err
}

func TestRowsOfATableAreThoseOfAllItsFiles(t *testing.T) {
	o := public.Options{Path: t.TempDir(), Hub: offline(t)}
	for name, text := range map[string]string{
		"diamond/train-0.jsonl": `{"q":"a"}` + "\n" + `{"q":"b"}`, "diamond/train-1.jsonl": `{"q":"c"}`, "main/train.jsonl": `{"q":"d"}`,
	} {
		write(t, filepath.Join(o.Path, name), text)
	}
	if got, err := read(t, o, askedFor(false)); err != nil || !slices.Equal(got, []string{"1a", "2b", "3c"}) {
		t.Errorf("%v, %v", got, err)
	}
	table := askedFor(false)
	table.Subset = "other"
	if _, err := read(t, o, table); !errors.Is(err, public.ErrNoPart) || !strings.Contains(err.Error(),
		"there are diamond/train-0.jsonl, diamond/train-1.jsonl, main/train.jsonl") {
		t.Error(err)
	}
	write(t, filepath.Join(o.Path, "bad.jsonl"), "{")
	o.Path = filepath.Join(o.Path, "bad.jsonl")
	if _, err := read(t, o, askedFor(false)); err == nil || strings.Count(err.Error(), "bad.jsonl") != 1 {
		t.Error(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A repository that is gated is asked for only if that is allowed; each refusal is one line that says what to do.
func TestDataThatAreNotThere(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("X-Error-Code", "GatedRepo")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	o := public.Options{Hub: &hub.Client{Endpoint: server.URL, Dir: t.TempDir(), HTTP: server.Client()}}
	cache := filepath.Join(o.Hub.Dir, "datasets--o--gated")
	for _, c := range []struct {
		download bool
		wants    []string
	}{
		{false, []string{"--accuracy-download fetches them"}},
		{true, []string{"cannot be fetched", "is gated", "HF_TOKEN", server.URL}},
	} {
		_, err := read(t, o, askedFor(c.download))
		if err == nil {
			t.Fatal("read")
		}
		for _, want := range append(c.wants, "split train of the subset diamond of o/gated", cache, "--accuracy-data") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q lacks %q", err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") || (asked > 0) != c.download {
			t.Errorf("%q; the hub was asked %d times", err, asked)
		}
	}
	// A copy in the cache needs no hub.
	write(t, filepath.Join(cache, "snapshots", commit, "diamond.csv"), "q,r\nx,1\n")
	before := asked
	if got, err := read(t, o, askedFor(false)); err != nil || !slices.Equal(got, []string{"1x"}) || asked != before {
		t.Errorf("%v, %v", got, err)
	}
	table := askedFor(false)
	table.Split, table.Named = "test", true
	if _, err := read(t, o, table); !errors.Is(err, public.ErrNoPart) || !strings.Contains(err.Error(), "diamond.csv") {
		t.Error(err)
	}
}

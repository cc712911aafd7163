package hub_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/workload/hub"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// server is a hub with one data set of two files; the large one breaks off after half at its first transfer.
func server(t *testing.T, large string) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var requests atomic.Int64
	broken := false
	mux := http.NewServeMux()
	mux.HandleFunc("/api/datasets/o/n/revision/main", func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":"data/train.jsonl","size":%d,"lfs":{"sha256":%q,"size":%d}},
			{"rfilename":"README.md","size":2,"blobId":"abcd"},{"rfilename":"../evil","size":1}]}`, commit, len(large), sum(large), len(large))
	})
	mux.HandleFunc("/datasets/o/n/resolve/"+commit+"/data/train.jsonl", func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Error("the token did not come")
		}
		if !broken {
			broken = true
			w.Header().Set("Content-Length", fmt.Sprint(len(large)))
			fmt.Fprint(w, large[:len(large)/2])
			panic(http.ErrAbortHandler)
		}
		if want := fmt.Sprintf("bytes=%d-", len(large)/2); r.Header.Get("Range") != want {
			t.Errorf("Range %q, want %q", r.Header.Get("Range"), want)
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(large))
	})
	mux.HandleFunc("/datasets/o/n/resolve/"+commit+"/README.md", func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, "hi")
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>sorry")
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s, &requests
}

func client(t *testing.T, endpoint string) *hub.Client {
	return &hub.Client{Endpoint: endpoint, Token: "secret", Dir: t.TempDir(), HTTP: http.DefaultClient}
}

func TestFetchResumesAndFillsTheCacheInTheHubsLayout(t *testing.T) {
	large := strings.Repeat("0123456789\n", 1000)
	s, requests := server(t, large)
	c, repo := client(t, s.URL), hub.Repo{Kind: "datasets", ID: "o/n"}
	listing, err := c.List(context.Background(), repo)
	if err != nil || listing.Commit != commit || len(listing.Files) != 2 {
		t.Fatalf("List: %v, %v", listing, err)
	}
	dir, err := c.Fetch(context.Background(), repo, commit, listing.Files)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "data", "train.jsonl")); err != nil || string(text) != large {
		t.Errorf("the file is not what the hub has: %d bytes, %v", len(text), err)
	}
	if found, ok := hub.Snapshot(c.Dir, repo); !ok || found != dir {
		t.Errorf("Snapshot: %s, %v; want %s", found, ok, dir)
	}
	kept := []string{"refs/main"}
	if at, err := os.Lstat(filepath.Join(dir, "data", "train.jsonl")); err == nil && at.Mode()&os.ModeSymlink != 0 {
		kept = append(kept, "blobs/"+sum(large), "blobs/abcd") // where there are no links the files stand in the snapshot
	}
	for _, path := range kept {
		if _, err := os.Stat(filepath.Join(c.Dir, "datasets--o--n", path)); err != nil {
			t.Error(err)
		}
	}
	before := requests.Load()
	if _, err := c.Fetch(context.Background(), repo, commit, listing.Files); err != nil || requests.Load() != before {
		t.Errorf("a second Fetch asked the server %d times: %v", requests.Load()-before, err)
	}
}

func TestTrapOfflineAsksNobody(t *testing.T) {
	s, requests := server(t, "x")
	for _, name := range []string{"HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"} {
		env := map[string]string{name: "1", "HF_ENDPOINT": s.URL, "HF_HOME": t.TempDir()}
		c := hub.FromEnv(func(n string) (string, bool) { v, ok := env[n]; return v, ok }, hub.Datasets)
		_, listed := c.List(context.Background(), hub.Repo{Kind: "datasets", ID: "o/n"})
		fetched := c.Download(context.Background(), s.URL+"/page", filepath.Join(t.TempDir(), "f"), "")
		for _, err := range []error{listed, fetched} {
			if !errors.Is(err, hub.ErrOffline) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestTrapAnErrorPageIsNeverKept(t *testing.T) {
	s, _ := server(t, "x")
	c, dir := client(t, s.URL), t.TempDir()
	for _, path := range []string{"/page", "/nowhere"} {
		if err := c.Download(context.Background(), s.URL+path, filepath.Join(dir, "f.json"), ""); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "f.json")); err == nil {
		t.Error("the page was kept")
	}
}

func TestAWrongChecksumLeavesNothing(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "other") }))
	defer s.Close()
	dir := t.TempDir()
	err := client(t, s.URL).Download(context.Background(), s.URL+"/f", filepath.Join(dir, "f"), sum("wanted"))
	if err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestRefusalsNameTheToken(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer s.Close()
	c := client(t, s.URL)
	c.Token = ""
	if _, err := c.List(context.Background(), hub.Repo{Kind: "datasets", ID: "o/n"}); err == nil ||
		!strings.Contains(err.Error(), "HF_TOKEN") {
		t.Errorf("got %v", err)
	}
}

func TestPlacesOfTheEnvironment(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "token"), []byte("of-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type places struct{ Dir, Token, Endpoint, Offline string }
	const public = "https://huggingface.co" // the endpoint unless another one is given
	for name, test := range map[string]struct {
		env  map[string]string
		kind string
		want places
	}{
		"home": {map[string]string{"HF_HOME": home, "HF_TOKEN": "t"}, hub.Models,
			places{filepath.Join(home, "hub"), "t", public, ""}},
		"the token's file": {map[string]string{"HF_HOME": home, "HF_ENDPOINT": "http://mirror/"}, hub.Models,
			places{filepath.Join(home, "hub"), "of-file", "http://mirror", ""}},
		"another file": {map[string]string{"HF_HOME": "/h", "HF_TOKEN_PATH": filepath.Join(home, "token")}, hub.Models,
			places{filepath.Join("/h", "hub"), "of-file", public, ""}},
		"cache": {map[string]string{"HF_HOME": "/h", "HF_HUB_CACHE": "/c"}, hub.Models,
			places{"/c", "", public, ""}},
		"older names": {map[string]string{"HF_HOME": "/h", "HUGGINGFACE_HUB_CACHE": "/c",
			"HUGGING_FACE_HUB_TOKEN": "o"}, hub.Models, places{"/c", "o", public, ""}},
		"newer before older": {map[string]string{"HF_HOME": "/h", "HF_HUB_CACHE": "/n", "HUGGINGFACE_HUB_CACHE": "/c",
			"HF_TOKEN": "n", "HUGGING_FACE_HUB_TOKEN": "o"}, hub.Models,
			places{"/n", "n", public, ""}},
		"caches of the user": {map[string]string{"XDG_CACHE_HOME": "/x"}, hub.Models,
			places{filepath.Join("/x", "huggingface", "hub"), "", public, ""}},
		"offline": {map[string]string{"HF_HOME": "/h", "TRANSFORMERS_OFFLINE": "yes"}, hub.Datasets,
			places{filepath.Join("/h", "hub"), "", public, "TRANSFORMERS_OFFLINE"}},
		"not offline": {map[string]string{"HF_HOME": "/h", "HF_HUB_OFFLINE": "0"}, hub.Models,
			places{filepath.Join("/h", "hub"), "", public, ""}},
		"data sets offline": {map[string]string{"HF_HOME": "/h", "HF_DATASETS_OFFLINE": "1"}, hub.Datasets,
			places{filepath.Join("/h", "hub"), "", public, "HF_DATASETS_OFFLINE"}},
		"which says no more than": {map[string]string{"HF_HOME": "/h", "HF_DATASETS_OFFLINE": "1"}, hub.Models,
			places{filepath.Join("/h", "hub"), "", public, ""}},
	} {
		c := hub.FromEnv(func(n string) (string, bool) { v, ok := test.env[n]; return v, ok }, test.kind)
		if got := (places{c.Dir, c.Token, c.Endpoint, c.Offline}); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

// TestTrapTheTokenGoesToTheHubAlone redirects to another port of the same host, where net/http would take it along.
func TestTrapTheTokenGoesToTheHubAlone(t *testing.T) {
	seen := map[string]string{}
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen["storage"+r.URL.Path] = r.Header.Get("Authorization")
		fmt.Fprint(w, "text")
	}))
	defer storage.Close()
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen["hub"+r.URL.Path] = r.Header.Get("Authorization")
		if r.URL.Path == "/renamed" {
			http.Redirect(w, r, "/file", http.StatusTemporaryRedirect)
			return
		}
		http.Redirect(w, r, storage.URL+"/file", http.StatusFound)
	}))
	defer hub.Close()
	c, dir := client(t, hub.URL), t.TempDir()
	for i, address := range []string{hub.URL + "/renamed", storage.URL + "/other"} {
		if err := c.Download(context.Background(), address, filepath.Join(dir, fmt.Sprint(i)), ""); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"hub/renamed": "Bearer secret", "hub/file": "Bearer secret", "storage/file": "",
		"storage/other": ""}
	if !maps.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

func TestACacheIsReadAtItsRevision(t *testing.T) {
	dir := t.TempDir()
	snapshots := filepath.Join(dir, "models--o--n", "snapshots")
	if err := os.MkdirAll(filepath.Join(snapshots, commit), 0o755); err != nil {
		t.Fatal(err)
	}
	repo := func(revision string) hub.Repo { return hub.Repo{Kind: hub.Models, ID: "o/n", Revision: revision} }
	for revision, want := range map[string][2]bool{commit: {true, true}, "": {false, true}, "v1": {false, true},
		"../..": {false, true}} {
		_, exact := hub.Snapshot(dir, repo(revision))
		_, any := hub.AnySnapshot(dir, repo(revision))
		if exact != want[0] || any != want[1] {
			t.Errorf("%q: found %v, as the only one %v; want %v", revision, exact, any, want)
		}
	}
	refs := filepath.Join(dir, "models--o--n", "refs")
	if err := os.MkdirAll(refs, 0o755); err != nil {
		t.Fatal(err)
	}
	for ref, text := range map[string]string{"main": commit + "\n", "evil": "../../.."} {
		if err := os.WriteFile(filepath.Join(refs, ref), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found, ok := hub.Snapshot(dir, repo("main")); !ok || found != filepath.Join(snapshots, commit) {
		t.Errorf("main: %s, %v", found, ok)
	}
	if found, ok := hub.Snapshot(dir, repo("evil")); ok {
		t.Errorf("a revision leads out of the cache: %s", found)
	}
}

func TestAFileBeyondTheBoundIsRefused(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		fmt.Fprint(w, "0123456789")
	}))
	defer s.Close()
	c := client(t, s.URL)
	target := filepath.Join(t.TempDir(), "f")
	c.MaxFile = 9
	if err := c.Download(context.Background(), s.URL+"/f", target, ""); err == nil ||
		!strings.Contains(err.Error(), "larger than 9 bytes") {
		t.Errorf("got %v", err)
	}
	c.MaxFile = 10
	if err := c.Download(context.Background(), s.URL+"/f", target, ""); err != nil {
		t.Error(err)
	}
}

package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
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

func client(t *testing.T, endpoint string) *Client {
	return &Client{Endpoint: endpoint, Token: "secret", Dir: t.TempDir(), HTTP: http.DefaultClient}
}

func TestFetchResumesAndFillsTheCacheInTheHubsLayout(t *testing.T) {
	large := strings.Repeat("0123456789\n", 1000)
	s, requests := server(t, large)
	c, repo := client(t, s.URL), Repo{Kind: "datasets", ID: "o/n"}
	got, files, err := c.List(context.Background(), repo)
	if err != nil || got != commit || len(files) != 2 {
		t.Fatalf("List: %s, %v, %v", got, files, err)
	}
	dir, err := c.Fetch(context.Background(), repo, commit, files)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "data", "train.jsonl")); err != nil || string(text) != large {
		t.Errorf("the file is not what the hub has: %d bytes, %v", len(text), err)
	}
	if found, ok := Snapshot(c.Dir, repo); !ok || found != dir {
		t.Errorf("Snapshot: %s, %v; want %s", found, ok, dir)
	}
	for _, path := range []string{"blobs/" + sum(large), "blobs/abcd", "refs/main"} {
		if _, err := os.Stat(filepath.Join(c.Dir, "datasets--o--n", path)); err != nil {
			t.Error(err)
		}
	}
	before := requests.Load()
	if _, err := c.Fetch(context.Background(), repo, commit, files); err != nil || requests.Load() != before {
		t.Errorf("a second Fetch asked the server %d times: %v", requests.Load()-before, err)
	}
}

func TestTrapOfflineAsksNobody(t *testing.T) {
	s, requests := server(t, "x")
	for _, name := range []string{"HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"} {
		env := map[string]string{name: "1", "HF_ENDPOINT": s.URL, "HF_HOME": t.TempDir()}
		c := FromEnvironment(func(n string) (string, bool) { v, ok := env[n]; return v, ok })
		_, _, listed := c.List(context.Background(), Repo{Kind: "datasets", ID: "o/n"})
		fetched := c.Download(context.Background(), s.URL+"/page", filepath.Join(t.TempDir(), "f"), "")
		for _, err := range []error{listed, fetched} {
			if !errors.Is(err, ErrOffline) || !strings.Contains(err.Error(), name) {
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
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer s.Close()
	c := client(t, s.URL)
	c.Token = ""
	if _, _, err := c.List(context.Background(), Repo{Kind: "datasets", ID: "o/n"}); err == nil || !strings.Contains(err.Error(), "HF_TOKEN") {
		t.Errorf("got %v", err)
	}
}

func TestPlacesOfTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		env        map[string]string
		dir, token string
	}{
		{map[string]string{"HF_HOME": "/h", "HF_TOKEN": "t"}, filepath.Join("/h", "hub"), "t"},
		{map[string]string{"HF_HOME": "/h", "HF_HUB_CACHE": "/c"}, "/c", ""},
		{map[string]string{"XDG_CACHE_HOME": "/x"}, filepath.Join("/x", "huggingface", "hub"), ""},
	} {
		c := FromEnvironment(func(n string) (string, bool) { v, ok := test.env[n]; return v, ok })
		if c.Dir != test.dir || c.Token != test.token || c.Endpoint != defaultEndpoint {
			t.Errorf("%v: %+v", test.env, c)
		}
	}
}

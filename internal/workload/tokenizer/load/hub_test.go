package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer/load"
)

// The files of tokenizers.
const (
	tokenizerJSON = "tokenizer.json"
	tekkenJSON    = "tekken.json"
	modelFile     = "tokenizer.model"
	configJSON    = "tokenizer_config.json"
	vocabJSON     = "vocab.json"
	mergesTXT     = "merges.txt"
	vocabTXT      = "vocab.txt"
)

const (
	commit   = "0123456789abcdef0123456789abcdef01234567"
	tinyJSON = `{"pre_tokenizer":{"type":"Whitespace"},"added_tokens":[{"id":1,"content":"<s>","special":true}],
		"model":{"type":"WordLevel","unk_token":"<unk>","vocab":{"<unk>":0,"<s>":1,"hello":2,"world":3}}}`
)

// fakeHub is a hub with one repository, org/model, whose branch main is at commit.
type fakeHub struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	headers  []http.Header
	files    map[string]string
	// found is the answer to a search; code is the answer for every repository if it is set.
	found []hub.Model
	code  int
	error string
	// cut breaks the next transfer off after so many bytes.
	cut int
	// always breaks off the later ones, too.
	always bool
	// storage is another server that files are redirected to.
	storage *httptest.Server
}

func newFakeHub(t *testing.T) *fakeHub {
	h := &fakeHub{files: map[string]string{tokenizerJSON: tinyJSON, configJSON: `{"bos_token":"<s>"}`,
		"model.safetensors": "weights", "tokenizer.model": "old"}}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *fakeHub) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, r.URL.RequestURI())
	h.headers = append(h.headers, r.Header)
	if h.code != 0 {
		w.Header().Set("X-Error-Code", h.error)
		http.Error(w, "no", h.code)
		return
	}
	if r.URL.Path == "/api/models" {
		json.NewEncoder(w).Encode(h.found)
		return
	}
	if revision, ok := strings.CutPrefix(r.URL.Path, "/api/models/org/model/revision/"); ok {
		if revision != "main" && revision != commit {
			w.Header().Set("X-Error-Code", "RevisionNotFound")
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		answer := map[string]any{"id": "org/model", "sha": commit}
		var list []map[string]string
		for name := range h.files {
			list = append(list, map[string]string{"rfilename": name, "blobId": fmt.Sprintf("e%d", len(name))})
		}
		answer["siblings"] = list
		json.NewEncoder(w).Encode(answer)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/org/model/resolve/"+commit+"/"); ok {
		if h.storage != nil {
			http.Redirect(w, r, h.storage.URL+"/"+name, http.StatusFound)
			return
		}
		h.file(w, r, name)
		return
	}
	w.Header().Set("X-Error-Code", "RepoNotFound")
	http.Error(w, "no", http.StatusUnauthorized)
}

func (h *fakeHub) file(w http.ResponseWriter, r *http.Request, name string) {
	w.Header().Set("Etag", `"e`+fmt.Sprint(len(name))+`"`)
	if h.cut > 0 && name == tokenizerJSON {
		w.Header().Set("Content-Length", fmt.Sprint(len(h.files[name])))
		w.Write([]byte(h.files[name][:h.cut]))
		if !h.always {
			h.cut = 0
		}
		return
	}
	http.ServeContent(w, r, name, time.Time{}, strings.NewReader(h.files[name]))
}

func (h *fakeHub) options(t *testing.T, name string) load.Options {
	return load.Options{Name: name, Hub: &hub.Client{Endpoint: h.URL, Dir: t.TempDir(), HTTP: &http.Client{},
		Token: "secret"}}
}

func mustLoad(t *testing.T, o load.Options) *load.Bundle {
	t.Helper()
	tok, b, err := load.Load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if ids := tok.Encode(nil, "hello world"); fmt.Sprint(ids) != "[2 3]" {
		t.Errorf("ids %v", ids)
	}
	if tok.Specials().BOS != 1 {
		t.Errorf("specials %+v", tok.Specials())
	}
	return b
}

func TestFetchFillsTheCacheOnce(t *testing.T) {
	h := newFakeHub(t)
	o := h.options(t, "org/model")
	var told []string
	o.Info = func(m string) { told = append(told, m) }
	mustLoad(t, o)
	for _, path := range []string{
		"models--org--model/refs/main", "models--org--model/snapshots/" + commit + "/tokenizer.json",
		"models--org--model/snapshots/" + commit + "/tokenizer_config.json", "models--org--model/blobs/e14",
	} {
		if _, err := os.Stat(filepath.Join(o.Hub.Dir, path)); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{"model.safetensors", "tokenizer.model"} {
		if _, err := os.Stat(filepath.Join(o.Hub.Dir, "models--org--model/snapshots", commit, path)); err == nil {
			t.Errorf("%s was fetched", path)
		}
	}
	if len(h.requests) != 3 || h.headers[0].Get("Authorization") != "Bearer secret" ||
		fmt.Sprint(told) != "[✓ Tokenizer org/model detected]" {
		t.Errorf("requests %q, told %q", h.requests, told)
	}
	mustLoad(t, o)
	o.Name = "MODEL" // the only one called so, whatever the case
	mustLoad(t, o)
	o.Revision = commit
	mustLoad(t, o)
	if len(h.requests) != 3 {
		t.Errorf("the cache has it, but the hub was asked: %q", h.requests)
	}
}

func TestABrokenDownloadGoesOn(t *testing.T) {
	h := newFakeHub(t)
	o := h.options(t, "org/model")
	h.cut = 20
	mustLoad(t, o)
	ranges := ""
	for _, header := range h.headers {
		ranges += header.Get("Range") + header.Get("If-Range")
	}
	if ranges != `bytes=20-"e14"` {
		t.Errorf("ranges %q", ranges)
	}
}

func TestADownloadThatKeepsBreakingOffLeavesNoFile(t *testing.T) {
	h := newFakeHub(t)
	o := h.options(t, "org/model")
	h.cut, h.always = 20, true
	_, _, err := load.Load(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "broke off") || !strings.Contains(err.Error(), "4 attempts") {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(o.Hub.Dir, "models--org--model/snapshots", commit, tokenizerJSON)); err == nil {
		t.Error("half a file shows under its name")
	}
	h.cut = 0
	mustLoad(t, o)
}

func TestTheTokenStaysWithTheHub(t *testing.T) {
	h := newFakeHub(t)
	var seen []string
	h.storage = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		h.file(w, r, strings.TrimPrefix(r.URL.Path, "/"))
	}))
	defer h.storage.Close()
	h.storage.URL = strings.Replace(h.storage.URL, "127.0.0.1", "localhost", 1)
	mustLoad(t, h.options(t, "org/model"))
	if len(seen) != 2 || strings.Join(seen, "") != "" {
		t.Errorf("the storage saw %q", seen)
	}
}

func TestTrapOfflineAsksNobody(t *testing.T) {
	h := newFakeHub(t)
	for _, name := range []string{"org/model", "model", "nobody"} {
		o := h.options(t, name)
		o.Hub.Offline = "HF_HUB_OFFLINE"
		wantFailure(t, o, "Offline - Files Not Cached")
	}
	if len(h.requests) > 0 {
		t.Errorf("the hub was asked: %q", h.requests)
	}
}

func wantFailure(t *testing.T, o load.Options, title string) error {
	t.Helper()
	_, _, err := load.Load(context.Background(), o)
	var titled interface{ PanelTitle() string }
	if !errors.As(err, &titled) || titled.PanelTitle() != title {
		t.Fatalf("%s: got %v, want %q", o.Name, err, title)
	}
	var f *load.Failure
	if errors.As(err, &f) && !strings.HasSuffix(err.Error(),
		"Skip tokenizer (non-synthetic data only): --use-server-token-count") {
		t.Errorf("%s: the way out is missing:\n%v", o.Name, err)
	}
	return err
}

func TestFailuresHaveTheirTitles(t *testing.T) {
	h := newFakeHub(t)
	wantFailure(t, h.options(t, "org/nothing"), "Repository Not Found")
	wantFailure(t, h.options(t, "not an id!"), "Repository Not Found")
	o := h.options(t, "org/model")
	o.Revision = "nope"
	wantFailure(t, o, "Invalid Git Revision")
	o.Revision = "../../etc"
	wantFailure(t, o, "Invalid Git Revision")
	h.files = map[string]string{"model.safetensors": ""}
	wantFailure(t, h.options(t, "org/model"), "Missing Tokenizer Files")
	for _, c := range []struct {
		code  int
		error string
		title string
	}{{403, "GatedRepo", "Gated Repository"}, {401, "GatedRepo", "Gated Repository"},
		{500, "", "HuggingFace Hub Error"}, {429, "", "HuggingFace Hub Error"},
		{404, "EntryNotFound", "Missing Tokenizer Files"}} {
		h.code, h.error = c.code, c.error
		wantFailure(t, h.options(t, "org/model"), c.title)
	}
	h.URL = "http://" + testkit.Address(t)
	wantFailure(t, h.options(t, "org/model"), "HuggingFace Hub Error")
	wantFailure(t, h.options(t, "./nowhere"), "Missing Tokenizer Files")
}

func TestASlowHubIsATimeout(t *testing.T) {
	h := newFakeHub(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	_, _, err := load.Load(ctx, h.options(t, "org/model"))
	var f *load.Failure
	if !errors.As(err, &f) || f.Title != "Network Timeout" {
		t.Errorf("got %v", err)
	}
}

func TestANameIsFoundBySearching(t *testing.T) {
	h := newFakeHub(t)
	h.found = []hub.Model{{ID: "other/model-big", Downloads: 9e6}, {ID: "org/model", Downloads: 5},
		{ID: "zzz/model", Downloads: 4}}
	o := h.options(t, "Model")
	var told []string
	o.Info = func(m string) { told = append(told, m) }
	mustLoad(t, o)
	if fmt.Sprint(told) != "[✓ Tokenizer org/model detected for Model]" {
		t.Errorf("told %q", told)
	}
	o = h.options(t, "model")
	o.AsNamed = true
	wantFailure(t, o, "Repository Not Found")
	h.found = []hub.Model{{ID: "a/xmodel", Downloads: 12_300}, {ID: "b/ymodel", Downloads: 8_400_000}}
	err := wantFailure(t, h.options(t, "mode"), "Ambiguous Tokenizer Name")
	if want := "b/ymodel (8.4M downloads)\n  a/xmodel (12.3K downloads)"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

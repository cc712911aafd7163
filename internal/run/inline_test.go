package run

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	resolver "aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/workload/dataset"
)

// pictures is a dataset of one picture a turn.
func pictures(addresses ...string) *dataset.Dataset {
	var all dataset.Memory
	for _, a := range addresses {
		images := []dataset.Media{{Contents: []string{a}}}
		all = append(all, dataset.Conversation{Turns: []dataset.Turn{{Images: images}}})
	}
	return &dataset.Dataset{Conversations: all}
}

func TestImagesAreFetchedOnceAndAFewAtATime(t *testing.T) {
	t.Parallel()
	var now, most, asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		w.Header().Set("Content-Type", "image/png")
		io.WriteString(w, r.URL.Path)
	}))
	defer server.Close()
	var list []string
	for i := range 12 {
		list = append(list, fmt.Sprintf("%s/%d", server.URL, i%6))
	}
	d := pictures(append(list, "data:image/png;base64,QQ==")...)
	if err := inlineImages(t.Context(), d, time.Minute, 2); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 6 || most.Load() > 2 {
		t.Errorf("%d downloads, %d at a time", asked.Load(), most.Load())
	}
	for i, want := range map[int]string{0: "data:image/png;base64,LzA=", 6: "data:image/png;base64,LzA=",
		12: "data:image/png;base64,QQ=="} {
		if got := d.At(i).Turns[0].Images[0].Contents[0]; got != want {
			t.Errorf("picture %d is %s", i, got)
		}
	}
}

func TestDownloadOfAnImageIsBounded(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
	defer server.Close()
	defer close(ended)
	err := inlineImages(t.Context(), pictures(server.URL+"/slow"), 20*time.Millisecond, 1)
	if err == nil || !strings.Contains(err.Error(), server.URL+"/slow cannot be fetched") {
		t.Errorf("error %v", err)
	}
	parsed, err := settings.Parse([]string{"--model", "m"}, func(name string) (string, bool) {
		value, ok := map[string]string{"AIPERF_DATASET_MEDIA_DOWNLOAD_TIMEOUT": "7",
			"AIPERF_DATASET_MEDIA_DOWNLOAD_MAX_CONCURRENCY": "3"}[name]
		return value, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := resolver.Resolve(parsed, Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	if env := cfg.Env.Dataset; env.MediaTimeout != 7*time.Second || env.MediaParallel != 3 {
		t.Errorf("%+v", env)
	}
}

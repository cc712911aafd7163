package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/mockserver"
)

func TestSimultaneousStartLetsTheFirstRequestsLeaveTogether(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	dir := t.TempDir()
	cfg := resolve(t, dir, url, "--simultaneous-start", "--concurrency", "50", "--request-count", "120", "--isl", "10",
		"--osl", "1")
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := outcome.Phases[0].Barrier
	if b.Size != 50 || b.Released != 50 || b.FirstNS < outcome.Phases[0].StartNS || b.Spread() <= 0 {
		t.Errorf("barrier %+v", b)
	}
	if n := len(records(t, dir)); n != 120 {
		t.Errorf("%d records", n)
	}
	data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Health struct {
			Start struct {
				Requests int
				Spread   float64
			} `json:"simultaneous_start"`
		} `json:"client_health"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if got := file.Health.Start; got.Requests != 50 || got.Spread != float64(b.Spread())/1e6 {
		t.Errorf("reported %+v, spread was %v", got, b.Spread())
	}
}

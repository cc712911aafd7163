package gpu_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"aiperf/internal/watch/gpu"
)

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`{"gpu_index":0,"gpu_uuid":"GPU-a","timestamp_ns":5,"telemetry_data":{"gpu_power_usage":1.5,"other":2}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		catalog := gpu.NewCatalog(nil, false)
		r, err := gpu.ParseLine(text, map[string]int{"gpu_power_usage": 0}, catalog.Len())
		if err == nil && len(r.Values) != catalog.Len() {
			t.Errorf("%d values", len(r.Values))
		}
	})
}

func TestCurvesOfTheRecordingAreThoseOfTheStore(t *testing.T) {
	for _, scoped := range []bool{false, true} {
		catalog := gpu.NewCatalog(nil, scoped)
		pages := []string{
			"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\",modelName=\"H\"} " +
				"100\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"GPU-a\",modelName=\"H\"} 1e9\n",
			"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\",modelName=\"H\"} " +
				"120\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"GPU-a\",modelName=\"H\"} 3e9\n",
		}
		store := storeOf(t, catalog, pages...)
		var lines []byte
		for i, text := range pages {
			for _, r := range read(t, catalog, int64(i)*second, text) {
				lines = append(catalog.AppendLine(lines, &r), '\n')
			}
		}
		path := filepath.Join(t.TempDir(), "gpu.jsonl")
		if err := os.WriteFile(path, append(lines, `{"gpu_index":`...), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := gpu.ReadCurves(path)
		if err != nil {
			t.Fatal(err)
		}
		want := store.Curves()
		if len(want) != 2 || len(got) != 2 {
			t.Fatalf("%d and %d curves", len(want), len(got))
		}
		if want[1].What != "" || want[1].Unit != "W" || want[1].Values[1] != 2e6 ||
			!reflect.DeepEqual(got[0].Values, []float64{100, 120}) || got[1].Values[1] != 2e6 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if _, err := gpu.ReadCurves(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

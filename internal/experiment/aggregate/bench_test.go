package aggregate

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"aiperf/internal/experiment/series"
)

// largeRuns makes the runs of a sweep of many cells: 45 distributions and 44 scalars each, as a run of a chat endpoint
// has them.
func largeRuns(cells []series.Cell, trials int) (runs []series.Run) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range trials {
		for i := range cells {
			list := figuresOf(10+r.Float64(), 100+r.Float64())
			for k := range 44 {
				list = append(list, distributionOf(fmt.Sprintf("distribution_%d", k), r.Float64()))
			}
			for k := range 43 {
				list = append(list, scalarOf(fmt.Sprintf("scalar_%d", k), "tokens", r.Float64()))
			}
			runs = append(runs, runOf(&cells[i], trial, list...))
		}
	}
	return runs
}

// Aggregating 1,000 cells of 3 trials takes less than 2 s and 200 MB, the runs included.
func BenchmarkThousandCells(b *testing.B) {
	var values []int64
	for i := range 1000 {
		values = append(values, int64(i+1))
	}
	cells := cellsOf(values...)
	for i := range cells {
		cells[i].Dir = filepath.Join("cells", cells[i].Dir)
	}
	runs := largeRuns(cells, 3)
	dir := b.TempDir()
	var most, before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	for b.Loop() {
		s := New(cells, Options{Version: "test", Trials: 3, Level: 0.95})
		s.Add(runs...)
		if _, err := s.Write(dir); err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&most)
	}
	b.ReportMetric(float64(before.HeapAlloc)/1e6, "MB_runs")
	b.ReportMetric(float64(most.HeapSys-most.HeapReleased)/1e6, "MB_heap")
}

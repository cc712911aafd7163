package aggregate_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/series"
)

// largeRuns makes the runs of a sweep of many cells: 45 distributions and 44 scalars each, as a run of a chat endpoint
// has them.
func largeRuns(cells []series.Cell, trials int, yield func(series.Run)) {
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
			yield(runOf(&cells[i], trial, list...))
		}
	}
}

// thousandCells makes an aggregate of 1,000 cells with 3 trials each.
func thousandCells() *aggregate.Sweep {
	var values []int64
	for i := range 1000 {
		values = append(values, int64(i+1))
	}
	cells := cellsOf(values...)
	for i := range cells {
		cells[i].Dir = filepath.Join("cells", cells[i].Dir)
	}
	s := aggregate.New(cells, aggregate.Options{Version: "test", Trials: 3, Level: 0.95})
	largeRuns(cells, 3, func(r series.Run) { s.Add(r) })
	return s
}

// BenchmarkThousandCells is the end of an experiment whose cells were written as their runs ended: less than 2 s and
// 200 MB, the figures of all runs included.
func BenchmarkThousandCells(b *testing.B) {
	s, dir := thousandCells(), b.TempDir()
	if err := s.WriteCells(dir); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	for b.Loop() {
		if _, err := s.Write(dir); err != nil {
			b.Fatal(err)
		}
	}
	reportHeap(b)
}

// BenchmarkThousandCellsAtOnce writes the files of the cells, too.
func BenchmarkThousandCellsAtOnce(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := thousandCells()
		b.StartTimer()
		if _, err := s.Write(b.TempDir()); err != nil {
			b.Fatal(err)
		}
	}
	reportHeap(b)
}

// BenchmarkAddAfterThousandCells is what one more run costs: its figures, the files of its cell, and the live table.
func BenchmarkAddAfterThousandCells(b *testing.B) {
	s, dir := thousandCells(), b.TempDir()
	if err := s.WriteCells(dir); err != nil {
		b.Fatal(err)
	}
	var next series.Run
	largeRuns([]series.Cell{s.Cells()[500].Cell}, 1, func(r series.Run) { next = r })
	for b.Loop() {
		s.Add(next)
		if err := s.WriteCells(dir); err != nil {
			b.Fatal(err)
		}
		s.Table(tableOptions())
	}
}

func reportHeap(b *testing.B) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys-m.HeapReleased)/1e6, "MB_heap")
}

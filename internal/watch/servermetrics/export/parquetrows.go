package export

import (
	"context"
	"io"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// write makes the row groups on all cores and puts them into the file in their order.
func (t *table) write(ctx context.Context, out io.Writer, metadata map[string]string) error {
	file, err := newParquetFile(out)
	if err != nil {
		return err
	}
	schema := newSchema(t.labels)
	groups := int((t.total + t.groupRows - 1) / t.groupRows)
	queue := newTurns()
	onAllCores(groups, func() func(int) {
		f := newFiller(t, newRowGroup(schema, metadata["aiperf.version"]))
		return func(g int) {
			if queue.failed() {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = f.fill(int64(g)*t.groupRows, min(int64(g+1)*t.groupRows, t.total))
			}
			queue.in(g, err, func() error { return file.add(f.group) })
		}
	})
	if err := queue.err; err != nil {
		return err
	}
	return file.close(metadata)
}

// onAllCores does n things numbered from 0, taken up in that order; newWorker is called once for each core.
func onAllCores(n int, newWorker func() func(int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			do := newWorker()
			for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
				do(i)
			}
		})
	}
	workers.Wait()
}

// turns lets things happen in the order of their numbers until the first error.
type turns struct {
	mu   sync.Mutex
	cond *sync.Cond
	next int
	err  error
}

func newTurns() *turns {
	t := &turns{}
	t.cond = sync.NewCond(&t.mu)
	return t
}

func (t *turns) failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err != nil
}

// in waits for turn n and does what is to do then. An error, given or made, ends all waiting.
func (t *turns) in(n int, err error, do func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.cond.Broadcast()
	for err == nil && t.err == nil && t.next != n {
		t.cond.Wait()
	}
	if err == nil && t.err == nil {
		err = do()
	}
	t.next++
	if t.err == nil {
		t.err = err
	}
}

// filler makes row groups, one after the other, in the same memory.
type filler struct {
	table   *table
	group   *rowGroup
	columns [][]parquet.Value
	nulls   []parquet.Value // for each column

	series  int // whose samples are read, -1 for none
	samples servermetrics.Samples
	bounds  []parquet.Value // of that series
}

func newFiller(t *table, g *rowGroup) *filler {
	f := &filler{table: t, group: g, series: -1}
	n := len(leadingColumns) + len(t.labels) + len(trailingColumns)
	f.columns = make([][]parquet.Value, n)
	for i := range f.columns {
		f.columns[i] = make([]parquet.Value, 0, min(t.groupRows, t.total))
		f.nulls = append(f.nulls, parquet.NullValue().Level(0, 0, i))
	}
	return f
}

// fill makes the group of the rows from up to but without to.
func (f *filler) fill(from, to int64) error {
	for i := range f.columns {
		f.columns[i] = f.columns[i][:0]
	}
	at := sort.Search(len(f.table.starts), func(i int) bool { return f.table.starts[i] > from }) - 1
	for ; from < to; at++ {
		start := f.table.starts[at]
		end := min(start+f.table.series[at].rows, to)
		f.rows(at, int(from-start), int(end-start))
		from = end
	}
	return f.group.write(f.columns)
}

// rows appends rows of a series.
func (f *filler) rows(at, from, to int) {
	s := &f.table.series[at]
	if f.series != at {
		f.series = at
		s.series.Read(&f.samples, s.window)
		f.bounds = f.bounds[:0]
		for _, bound := range s.series.Bounds {
			f.bounds = append(f.bounds, f.text(bound, f.trailing(columnBucket)))
		}
	}
	n := to - from
	f.repeat(columnEndpoint, required(s.series.Endpoint().URL(), columnEndpoint), n)
	f.repeat(columnName, required(s.family.Name, columnName), n)
	f.repeat(columnType, required(s.family.Type.String(), columnType), n)
	f.repeat(columnUnit, f.known(s.unit, columnUnit), n)
	f.repeat(columnDescription, f.text(s.family.Help, columnDescription), n)
	labels := s.series.Labels
	for i, name := range f.table.labels {
		for len(labels) > 0 && labels[0].Name < name {
			labels = labels[1:]
		}
		v := f.nulls[columnLabels+i]
		if len(labels) > 0 && labels[0].Name == name {
			v = f.text(labels[0].Value, columnLabels+i)
		}
		f.repeat(columnLabels+i, v, n)
	}
	if s.family.Type == prom.Histogram {
		f.histogram(from, to)
	} else {
		f.scalar(s.family.Type, from, to)
	}
}

func (f *filler) trailing(column int) int { return columnLabels + len(f.table.labels) + column }

func (f *filler) repeat(column int, v parquet.Value, n int) {
	c := f.columns[column]
	for range n {
		c = append(c, v)
	}
	f.columns[column] = c
}

func (f *filler) null(column, n int) { f.repeat(column, f.nulls[column], n) }

// scalar appends the samples from up to but without to; those of a counter as growth.
func (f *filler) scalar(t prom.Type, from, to int) {
	base := 0.0
	if t == prom.Counter {
		base = f.samples.Value(0)
	}
	first := f.samples.First()
	at := f.trailing(columnValue)
	times, values := f.columns[columnTimestamp], f.columns[at]
	for i := first + from; i < first+to; i++ {
		v := f.samples.Value(i)
		if t == prom.Counter {
			v = max(v-base, 0)
		}
		times = append(times, parquet.Int64Value(f.samples.TimestampNS(i)).Level(0, 0, columnTimestamp))
		values = append(values, parquet.DoubleValue(v).Level(0, 1, at))
	}
	f.columns[columnTimestamp], f.columns[at] = times, values
	for _, c := range [...]int{columnSum, columnCount, columnBucket, columnBucketCount} {
		f.null(f.trailing(c), to-from)
	}
}

// histogram appends rows, of which each sample has one for each bucket.
func (f *filler) histogram(from, to int) {
	s := &f.samples
	first := s.First()
	width := len(f.bounds)
	sum, count, bucket, buckets := f.trailing(columnSum), f.trailing(columnCount), f.trailing(columnBucket),
		f.trailing(columnBucketCount)
	base := s.Buckets(0)
	for row := from; row < to; {
		i, k := first+row/width, row%width
		end := min(width, k+to-row)
		n := end - k
		f.repeat(columnTimestamp, parquet.Int64Value(s.TimestampNS(i)).Level(0, 0, columnTimestamp), n)
		f.repeat(sum, double(s.Sum(i)-s.Sum(0), sum), n)
		f.repeat(count, double(s.Count(i)-s.Count(0), count), n)
		f.columns[bucket] = append(f.columns[bucket], f.bounds[k:end]...)
		grown := f.columns[buckets]
		for j, v := range s.Buckets(i)[k:end] {
			grown = append(grown, double(v-base[k+j], buckets))
		}
		f.columns[buckets] = grown
		row += n
	}
	f.null(f.trailing(columnValue), to-from)
}

// double returns a growth, never below zero.
func double(v float64, column int) parquet.Value {
	return parquet.DoubleValue(max(v, 0)).Level(0, 1, column)
}

func required(s string, column int) parquet.Value {
	return parquet.ByteArrayValue([]byte(s)).Level(0, 0, column)
}

func (f *filler) text(s string, column int) parquet.Value {
	return parquet.ByteArrayValue([]byte(s)).Level(0, 1, column)
}

// known returns null for an empty text.
func (f *filler) known(s string, column int) parquet.Value {
	if s == "" {
		return f.nulls[column]
	}
	return f.text(s, column)
}

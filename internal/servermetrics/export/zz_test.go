package export
import ("testing";"bytes";"runtime";"fmt")
func TestZZ(t *testing.T) {
	run := benchRun(1000, 30, 3)
	for _, p := range []int{1,1,2,2,2} {
	old := runtime.GOMAXPROCS(p)
	a, b := parquetText(t, run), parquetText(t, run)
	runtime.GOMAXPROCS(old)
	fmt.Println(p, len(a), len(b), bytes.Equal(a,b))
	n := 0
	for i := range a { if i < len(b) && a[i] != b[i] { n++; if n < 4 {fmt.Println(i, a[max(0,i-40):i+40], b[max(0,i-40):i+40])} } }
	fmt.Println(n)
	fa := openParquet(t, a); fb := openParquet(t, b)
	for g := range fa.Metadata().RowGroups { for c := range fa.Metadata().RowGroups[g].Columns {
		x, y := fa.Metadata().RowGroups[g].Columns[c].MetaData, fb.Metadata().RowGroups[g].Columns[c].MetaData
		if x.TotalCompressedSize != y.TotalCompressedSize || x.DataPageOffset != y.DataPageOffset { fmt.Println(g, x.PathInSchema, x.DataPageOffset, y.DataPageOffset, x.TotalCompressedSize, y.TotalCompressedSize) }
	}}
	}
}

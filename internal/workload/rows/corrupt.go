package rows

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// corruptColumn says which column of a row group cannot be read and where in the file its data begin, in words that
// follow the place of a row; nothing if every column can be read.
func corruptColumn(file *parquet.File, group int) (words string) {
	defer func() { _ = recover() }() // what is said of the file may be wrong, too
	paths := file.Schema().Columns()
	for i, chunk := range file.RowGroups()[group].ColumnChunks() {
		if readable(chunk) {
			continue
		}
		words = fmt.Sprintf(", in the column %.*q", maxWords, strings.Join(paths[i], "."))
		meta := &file.Metadata().RowGroups[group].Columns[i].MetaData
		at := meta.DataPageOffset
		if meta.DictionaryPageOffset > 0 {
			at = min(at, meta.DictionaryPageOffset)
		}
		return words + fmt.Sprintf(" whose data begin at byte %d", at)
	}
	return ""
}

// readable reports whether all values of a column of a row group can be read.
func readable(chunk parquet.ColumnChunk) (good bool) {
	defer func() {
		if recover() != nil {
			good = false
		}
	}()
	pages := chunk.Pages()
	defer pages.Close()
	buffer := make([]parquet.Value, parquetBatch)
	for {
		page, err := pages.ReadPage()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		values := page.Values()
		for {
			n, err := values.ReadValues(buffer)
			if errors.Is(err, io.EOF) || err == nil && n == 0 {
				break
			}
			if err != nil {
				return false
			}
		}
	}
}

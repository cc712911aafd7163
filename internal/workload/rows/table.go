package rows

import (
	"context"
	"errors"
	"fmt"

	"aiperf/internal/base/bounded"
)

// Column is a column of a file that names the types of its columns.
type Column struct {
	Name string
	// Plain reports that it holds values or lists of values, and nothing deeper.
	Plain bool
}

// EachTyped calls f with the columns of a Parquet or Arrow file, in their order, and every row and its number, from 1
// on. An error of f ends the reading; ErrEnough is none.
func EachTyped(ctx context.Context, path string, f func(number int, columns []Column, row Row) error) error {
	number := 0
	each := eachParquet
	if Kind(path) == arrowKind {
		each = eachArrow
	}
	err := each(path, func(columns []Column, row Row) error {
		if number++; number%checked == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return f(number, columns, row)
	})
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// eachArrow calls f with the columns of an Arrow file and every row.
func eachArrow(path string, f func([]Column, Row) error) error {
	in, err := bounded.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	var failed error
	err = EachArrow(in, info.Size(), maxBody, func(columns []Column, row Row) error {
		failed = f(columns, row)
		return failed
	})
	if err != nil && failed == nil {
		return fmt.Errorf("%s is not an Arrow file that can be read: %w", path, err)
	}
	return err
}

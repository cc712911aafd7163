package loader

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// Lengths is what a mooncake row says of lengths and blocks; what it does not say is 0.
type Lengths struct {
	Input, Output float64
	// IDs are only valid until the next row.
	IDs []int64
}

// EachLengths calls f with every row of a mooncake trace, whatever else its rows hold.
func EachLengths(ctx context.Context, path string, f func(Lengths)) error {
	var r scannedRow
	return Each(ctx, path, 0, func(number int, line []byte) error {
		if r.scan(line) {
			row := Lengths{IDs: r.ids}
			if r.has&hasInput != 0 {
				row.Input = float64(r.input)
			}
			if r.has&hasOutput != 0 {
				row.Output = float64(r.output)
			}
			f(row)
			return nil
		}
		row, err := looseLengths(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		f(row)
		return nil
	})
}

func looseLengths(line []byte) (row Lengths, err error) {
	o, err := parseObject(line)
	if err != nil {
		return row, err
	}
	for _, x := range []struct {
		key string
		to  *float64
	}{{"input_length", &row.Input}, {"output_length", &row.Output}} {
		if !o.has(x.key) {
			continue
		}
		if json.Unmarshal(o.members[x.key], x.to) != nil || *x.to < 0 || *x.to != math.Trunc(*x.to) {
			return row, o.wrong(x.key, "a whole number of at least 0")
		}
	}
	row.IDs, err = o.blockIDs("hash_ids")
	return row, err
}

// Fault is a line that is not a row of its format.
type Fault struct {
	Line int
	Text string
}

// CheckMooncake checks every line of a file against the format of a mooncake row. It returns the number of rows, the
// first faults and how many there are.
func CheckMooncake(ctx context.Context, path string) (rows int, first []Fault, count int, err error) {
	f, _ := lookupFormat(mooncakeTrace)
	l := &lineReader{faults: faults{path: path}, format: f, options: &Options{}}
	err = Each(ctx, path, 0, func(number int, line []byte) error {
		rows++
		if l.scan(line) {
			return nil
		}
		l.line = number
		fault := ""
		if o, _, ok := l.object(line, mooncakeKeys); !ok {
			fault = l.takeMistake()
		} else if err := new(row).mooncakeFields(o); err != nil {
			fault = err.Error()
		}
		if fault != "" {
			if count++; len(first) < maxErrors {
				first = append(first, Fault{number, fault})
			}
		}
		return nil
	})
	return rows, first, count, err
}

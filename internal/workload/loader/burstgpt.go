package loader

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/bounded"
)

// The columns of a BurstGPT trace that are read.
const (
	burstTime   = "Timestamp"
	burstInput  = "Request tokens"
	burstOutput = "Response tokens"
)

// burstGPT reads CSV with a header. Rows that are not requests are left out with a warning.
func (l *load) burstGPT() error {
	in, err := Open(l.path)
	if err != nil {
		return err
	}
	defer in.Close()
	rows := csv.NewReader(l.options.maxLine().Lines(in))
	rows.FieldsPerRecord, rows.ReuseRecord, rows.TrimLeadingSpace = -1, true, true
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return burstError(l.path, err)
	}
	columns, err := burstColumns(header)
	if err != nil {
		return fmt.Errorf("%s:1: %w", l.path, err)
	}
	read := &memoryRows{}
	for n := 0; ; n++ {
		if n%1024 == 0 && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		fields, err := rows.Read()
		var broken *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			l.warnSkipped()
			return l.group(read)
		case errors.As(err, &broken):
			l.skip(broken.StartLine)
			continue
		case err != nil:
			return burstError(l.path, err)
		}
		l.line, _ = rows.FieldPos(0)
		if r, ok := burstRow(fields, columns); ok {
			r.line = l.line
			l.admit(&r)
			read.add(r)
		} else if len(fields) > 1 || strings.TrimSpace(fields[0]) != "" {
			l.skip(l.line)
		}
	}
}

// burstError returns an error of reading the file, with its line where that is known.
func burstError(path string, err error) error {
	if long := new(bounded.LineError); errors.As(err, &long) {
		return fmt.Errorf("%s:%d: %w", path, long.Line, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// burstHeader finds the columns in the first line of a file that stays where it is.
func burstHeader(l *lineReader, s *Source) error {
	in, err := bounded.OpenStream(l.path)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewReader(s.Limit.Lines(in))
	for {
		text, err := lines.ReadBytes('\n')
		s.Before++
		s.From += int64(len(text))
		if s.Before == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 && err == nil {
			continue
		}
		header, csvErr := burstFields(text)
		if csvErr != nil || err != nil {
			return errNotIndexed
		}
		if l.columns, err = burstColumns(header); err != nil {
			return fmt.Errorf("%s:1: %w", l.path, err)
		}
		return nil
	}
}

// burstLine reads one row. A field of several lines is not recognised.
func (l *lineReader) burstLine(line []byte) row {
	fields, err := burstFields(line)
	if errors.Is(err, csv.ErrQuote) {
		l.notAlone = true
		return row{absent: true}
	}
	r, ok := burstRow(fields, l.columns)
	if !ok || err != nil {
		l.skip(l.line)
		return row{absent: true}
	}
	return r
}

func burstFields(line []byte) ([]string, error) {
	if bytes.IndexByte(line, '"') < 0 {
		fields := strings.Split(string(line), ",")
		for i := range fields {
			fields[i] = strings.TrimLeft(fields[i], " \t")
		}
		return fields, nil
	}
	rows := csv.NewReader(bytes.NewReader(line))
	rows.FieldsPerRecord, rows.TrimLeadingSpace = -1, true
	return rows.Read()
}

func burstColumns(header []string) (columns [3]int, err error) {
	for i, name := range []string{burstTime, burstInput, burstOutput} {
		columns[i] = slices.IndexFunc(header, func(h string) bool { return strings.TrimSpace(h) == name })
		if columns[i] < 0 {
			return columns, fmt.Errorf("the column %q is missing", name)
		}
	}
	return columns, nil
}

func burstRow(fields []string, columns [3]int) (r row, ok bool) {
	var values [3]float64
	for i, column := range columns {
		if column >= len(fields) {
			return r, false
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[column]), 64)
		if err != nil || !(v >= 0) || i > 0 && (v != math.Trunc(v) || v > math.MaxInt32) || v > maxMS/1000 {
			return r, false
		}
		values[i] = v
	}
	if r.tokens = int(values[1]); r.tokens == 0 {
		return r, false
	}
	limit := max(1, int(values[2]))
	r.turn.TimestampMS, r.turn.MaxTokens = milliseconds(values[0]), &limit
	return r, true
}

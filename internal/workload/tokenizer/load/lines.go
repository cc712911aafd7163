package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer"
)

// LinesOptions say what to do with which tokenizer and text.
type LinesOptions struct {
	// Action is pack, count or encode.
	Action         string
	Name, Revision string
	Input, Output  string
	Hub            *hub.Client
	Stdin          io.Reader
	Stdout         io.Writer
	Info           func(message string)
}

// Lines packs, counts or encodes, as the options say.
func Lines(ctx context.Context, o *LinesOptions) error {
	from := Options{Name: o.Name, Revision: o.Revision, Hub: o.Hub, Info: o.Info}
	if o.Action == "pack" {
		b, err := Open(ctx, from)
		if err != nil {
			return err
		}
		if err := b.Pack(o.Output); err != nil {
			return fmt.Errorf("%s could not be packed: %w", o.Name, err)
		}
		fmt.Fprintf(o.Stdout, "%s: %s\n", o.Output, b.Where)
		return nil
	}
	t, _, err := Load(ctx, from)
	if err != nil {
		return err
	}
	in, name := o.Stdin, "standard input"
	if o.Input != "-" {
		f, err := os.Open(o.Input)
		if err != nil {
			return err
		}
		defer f.Close()
		in, name = f, o.Input
	}
	out := bufio.NewWriterSize(o.Stdout, 1<<16)
	if err := eachLine(ctx, in, name, func(text string) error { return o.answer(out, t, text) }); err != nil {
		return errors.Join(err, out.Flush())
	}
	return out.Flush()
}

func (o *LinesOptions) answer(out *bufio.Writer, t tokenizer.Tokenizer, text string) error {
	var line []byte
	if o.Action == "count" {
		line = strconv.AppendInt(nil, int64(t.Count(text)), 10)
	} else {
		line = append(line, '[')
		for i, id := range t.Encode(nil, text) {
			if i > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendInt(line, int64(id), 10)
		}
		line = append(line, ']')
	}
	if err := tokenizer.Err(t); err != nil {
		return err
	}
	_, err := out.Write(append(line, '\n'))
	return err
}

// eachLine calls each with the string of every line.
func eachLine(ctx context.Context, in io.Reader, name string, each func(text string) error) error {
	r := bufio.NewReaderSize(in, 1<<16)
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		last := err == io.EOF
		if last && len(line) == 0 {
			return nil
		}
		var text *string
		if err := json.Unmarshal(line, &text); err != nil || text == nil {
			return fmt.Errorf("%s:%d: expected one JSON string per line", name, number)
		}
		if err := each(*text); err != nil {
			return err
		}
		if last || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

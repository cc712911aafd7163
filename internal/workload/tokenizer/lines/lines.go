// Package lines is aiperf tokenizer: packing a tokenizer into one file, and counting or encoding lines of
// text with it.
package lines

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// Help is the help text.
func Help() string {
	return `Usage: aiperf tokenizer pack MODEL [--output FILE] [--tokenizer-revision REVISION]
       aiperf tokenizer count  --tokenizer NAME [--tokenizer-revision REVISION] FILE.jsonl
       aiperf tokenizer encode --tokenizer NAME [--tokenizer-revision REVISION] FILE.jsonl

pack    writes a tokenizer, its configuration and its chat template as one file, for machines without a
        network: --tokenizer FILE reads it. MODEL is a hub id, a folder or a file.
count   reads one JSON string a line and prints the number of its tokens, a line each.
encode  prints the ids as a JSON array, a line each.

Options:
  --tokenizer NAME            hub id, folder, file, packed file or a built-in name:
                              ` + strings.Join(tokenizer.BuiltinNames(), ", ") + `
  --tokenizer-revision NAME   branch, tag or commit on the hub (main)
  -o, --output FILE           file that pack writes (NAME.tokenizer)
  -h, --help                  this text

FILE.jsonl may be - for the standard input. Nothing is added to a text: no BOS, no chat template.
HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE work as in the Hugging Face libraries.
`
}

// Options are the parsed arguments.
type Options struct {
	// Action is pack, count or encode.
	Action         string
	Name, Revision string
	Input, Output  string
	Hub            *hub.Client
	Stdin          io.Reader
	Stdout         io.Writer
	Info           func(message string)
}

// ParseArgs reads the arguments behind "aiperf tokenizer".
func ParseArgs(args []string) (*Options, error) {
	if len(args) == 0 {
		return nil, errors.New("aiperf tokenizer needs an action: pack, count or encode")
	}
	o := &Options{Action: args[0], Revision: "main"}
	if o.Action != "pack" && o.Action != "count" && o.Action != "encode" {
		return nil, fmt.Errorf("aiperf tokenizer has no action %q; it has pack, count and encode", o.Action)
	}
	var free []string
	for i := 1; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		target := o.target(flag)
		switch {
		case args[i] == "-" || !strings.HasPrefix(args[i], "-"):
			free = append(free, args[i])
			continue
		case target == nil:
			return nil, fmt.Errorf("aiperf tokenizer %s has no option %s; see aiperf tokenizer --help", o.Action, flag)
		case !joined:
			if i++; i == len(args) {
				return nil, fmt.Errorf("%s needs a value", flag)
			}
			value = args[i]
		}
		if value == "" {
			return nil, fmt.Errorf("%s needs a value", flag)
		}
		*target = value
	}
	return o, o.place(free)
}

func (o *Options) target(flag string) *string {
	switch flag {
	case "--tokenizer":
		return &o.Name
	case "--tokenizer-revision":
		return &o.Revision
	case "-o", "--output":
		if o.Action == "pack" {
			return &o.Output
		}
	}
	return nil
}

// place gives the arguments without a flag their meaning.
func (o *Options) place(free []string) error {
	if o.Action == "pack" && o.Name == "" && len(free) > 0 {
		o.Name, free = free[0], free[1:]
	}
	if o.Name == "" {
		if o.Action == "pack" {
			return errors.New("aiperf tokenizer pack needs the name of a tokenizer: a hub id, a folder or a file")
		}
		return fmt.Errorf("aiperf tokenizer %s needs --tokenizer NAME", o.Action)
	}
	if o.Action != "pack" {
		if len(free) == 0 {
			return fmt.Errorf("aiperf tokenizer %s needs a file with one JSON string a line, or - for the standard input", o.Action)
		}
		o.Input, free = free[0], free[1:]
	} else if o.Output == "" {
		o.Output = strings.ReplaceAll(strings.Trim(filepath.ToSlash(filepath.Clean(o.Name)), "./"), "/", "_") + ".tokenizer"
	}
	if len(free) > 0 {
		return fmt.Errorf("one argument too many: %s", free[0])
	}
	return nil
}

// Run does what the options ask for.
func Run(ctx context.Context, o *Options) error {
	from := load.Options{Name: o.Name, Revision: o.Revision, Hub: o.Hub, Info: o.Info}
	if o.Action == "pack" {
		b, err := load.Open(ctx, from)
		if err != nil {
			return err
		}
		if err := b.Pack(o.Output); err != nil {
			return fmt.Errorf("%s could not be packed: %w", o.Name, err)
		}
		fmt.Fprintf(o.Stdout, "%s: %s\n", o.Output, b.Where)
		return nil
	}
	t, _, err := load.Load(ctx, from)
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

func (o *Options) answer(out *bufio.Writer, t tokenizer.Tokenizer, text string) error {
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
			return fmt.Errorf("%s:%d: want one JSON string a line", name, number)
		}
		if err := each(*text); err != nil {
			return err
		}
		if last || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

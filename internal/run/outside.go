package run

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/env"
	"aiperf/internal/config/pluginfile"
	"aiperf/internal/config/settings"
	"aiperf/internal/wire/plugin"
)

// outside returns how a program of a plug-in is started.
func outside(p *pluginfile.Program, limits *env.Plugin) plugin.Options {
	metadata, err := artifact.AppendJSON(nil, append(artifact.Object{}, p.Metadata...))
	if err != nil { // infinite numbers
		metadata = nil
	}
	return plugin.Options{
		Command: p.Command, Dir: p.Dir, CallLimit: limits.CallTimeout, StartLimit: limits.StartTimeout, Quote: true,
		Greeting: plugin.Greeting{Category: p.Category, Name: p.Name, Metadata: metadata},
	}
}

// CheckProgram starts a program of a plug-in, exchanges greetings with it and ends it.
func CheckProgram(ctx context.Context, p *pluginfile.Program, limits *env.Plugin) error {
	o := outside(p, limits)
	if p.Category == pluginfile.Endpoint {
		o.Greeting.Requests = &plugin.Requests{Model: "check", Models: []string{"check"}, Extra: json.RawMessage("{}")}
	}
	h, err := plugin.Start(ctx, o)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	h.Close()
	return nil
}

// LoadFile has a program turn the input file of settings into a file of its dataset format, in a temporary folder that
// the returned function removes.
func LoadFile(ctx context.Context, asked *settings.Settings, p *pluginfile.Program) (path string, remove func(),
	err error) {
	remove = func() {}
	file, err := filepath.Abs(asked.Text("input-file"))
	if err != nil {
		return "", remove, err
	}
	limit := asked.Env.Service.ProfileConfigureTimeout
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	h, err := plugin.Start(ctx, outside(p, &asked.Env.Plugin))
	if err != nil {
		return "", remove, fmt.Errorf("%s: %w", p, err)
	}
	defer h.Close()
	defer context.AfterFunc(ctx, h.Close)() // a call does not wait for its own limit then
	temporary, err := artifact.NewTemporary("dataset")
	if err != nil {
		return "", remove, err
	}
	remove = temporary.Remove
	path = filepath.Join(temporary.Dir, filepath.Base(file)+".jsonl")
	if err = writeLoaded(ctx, path, h, file, p.Format); err != nil {
		remove()
		switch ctx.Err() {
		case context.DeadlineExceeded:
			err = fmt.Errorf("the dataset was not ready within %s; raise "+
				"AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT", limit)
		case context.Canceled:
			err = errors.New("it was interrupted")
		}
		return "", func() {}, fmt.Errorf("%s cannot load %s: %w", p, asked.Text("input-file"), err)
	}
	return path, remove, nil
}

func writeLoaded(ctx context.Context, path string, h *plugin.Host, file, format string) error {
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(to, 1<<20)
	err = h.Load(ctx, file, format, func(line []byte) error {
		_, err := w.Write(line)
		return err
	})
	return cmp.Or(err, w.Flush(), to.Close()) // all three happen
}

// checkPlugins makes sure that the programs that get the results can be started, before there are any.
func (b *base) checkPlugins(ctx context.Context) error {
	for _, list := range [][]pluginfile.Program{b.cfg.Plugins.Metrics, b.cfg.Plugins.Exporters} {
		for i := range list {
			if err := CheckProgram(ctx, &list[i], &b.cfg.Env.Plugin); err != nil {
				return err
			}
		}
	}
	return nil
}

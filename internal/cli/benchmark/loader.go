package benchmark

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/run"
)

// loadedFile is what the program of a plug-in made of the input file.
type loadedFile struct {
	from   *config.Loaded
	path   string
	remove func()
}

// named is a message that names the user's file instead of the one that was made of it.
func (l loadedFile) named(text string) string {
	if l.from == nil {
		return text
	}
	return strings.ReplaceAll(text, l.path, l.from.Path+" as "+l.from.By+" reads it")
}

// loadFile has the program of a plug-in read the input file where one is to, and returns settings with the file that it
// made: everything that follows sees a file of a format of ours.
func loadFile(e *command.Env, p *settings.Settings) (*settings.Settings, loadedFile, error) {
	none := loadedFile{remove: func() {}}
	found := resolve.Plugins(p)
	program := resolve.Loader(p, found)
	if program == nil {
		return p, none, nil
	}
	if err := found.Faults.Err(); err != nil {
		return p, none, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, remove, err := run.LoadFile(ctx, p, program)
	if err != nil {
		return p, none, err
	}
	from := &config.Loaded{Path: p.Text("input-file"), By: program.Name}
	loaded := loadedFile{from, path, remove}
	e.Rename = loaded.named
	return p.WithInput(path, program.Format), loaded, nil
}

// note puts the user's file into the configuration, for its exports.
func (l loadedFile) note(cfg *config.Run) { cfg.Dataset.Loaded = l.from }

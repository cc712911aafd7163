package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/settings"
)

// OpenConfig reads a configuration file; "-" is the standard input.
func (e *Env) OpenConfig(name string) (*file.Source, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(io.LimitReader(os.Stdin, document.MaxBytes+1))
	} else {
		data, err = ReadConfig(name)
	}
	if err != nil {
		return nil, Unreadable("the configuration file", name, err)
	}
	return file.Open(name, data, e.LookupEnv)
}

// Unreadable is the error of a file that the user named and that could not be read.
func Unreadable(what, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s does not exist", what, name)
	}
	return fmt.Errorf("%s %s cannot be read: %w", what, name, err)
}

// ReadConfig reads the text of a configuration file.
func ReadConfig(name string) ([]byte, error) {
	in, err := bounded.OpenStream(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, document.MaxBytes+1)) // what is longer is refused when it is read
}

// HideFile has errors show none of the secrets of a file and of the arguments.
func (e *Env) HideFile(source *file.Source, parsed *settings.Settings) {
	var secrets settings.Secrets
	for _, v := range source.Variables {
		if v.Secret() {
			secrets.Add(v.Value)
		}
	}
	trees := []*document.Node{source.Raw}
	if rendered, err := document.Render(source.File, source.Raw); err == nil { // secrets that variables hold
		trees = append(trees, rendered)
	}
	for _, tree := range trees {
		if o, ok := tree.Any().(artifact.Object); ok {
			secrets.Members(o)
		}
	}
	if parsed != nil {
		secrets.Settings(parsed)
	}
	secrets.Environment(e.LookupEnv)
	e.Redactor = artifact.NewRedactor(secrets.List...)
}

package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"aiperf/internal/base/pattern"
)

// An id names a folder of the agent: it is no path.
var idForm = pattern.New(`^[0-9A-Za-z][0-9A-Za-z_-]{0,127}$`)

// allows returns an error for work that an agent does not do for whoever holds the token of the fleet: it starts no
// program and opens no file that its own command line does not allow.
func (o *AgentOptions) allows(w *work) error {
	if !idForm.MatchString(w.ID) || w.Share.Index < 0 {
		return fmt.Errorf("the id %q of share %d is none", w.ID, w.Share.Index)
	}
	if o.Local {
		return nil
	}
	endpoint := &w.Config.Endpoint
	if !o.Programs && (endpoint.Plugin != "" || endpoint.Program != nil) {
		return errors.New("the run's endpoint is a program, which this agent would have to start: " +
			"aiperf agent --allow-programs lets it")
	}
	for _, path := range [...]string{endpoint.UnixSocket, endpoint.TLS.CAFile, endpoint.TLS.CertFile, endpoint.TLS.KeyFile} {
		if path != "" && !o.allowsPath(path) {
			return fmt.Errorf("the run names the file %s, which this agent would have to open: "+
				"aiperf agent --allow-path %s lets it", path, filepath.Dir(path))
		}
	}
	return nil
}

// allowsPath reports whether a path is an allowed one or below it. Links are not resolved: an allowed folder is trusted
// with what it links to.
func (o *AgentOptions) allowsPath(path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	for _, allowed := range o.Paths {
		if allowed, err = filepath.Abs(allowed); err != nil {
			continue
		}
		below, err := filepath.Rel(allowed, path)
		if err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

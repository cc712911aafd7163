package command

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"aiperf/internal/base/artifact"
)

// WriteFile replaces a file by what draw writes, as a whole or not at all.
func WriteFile(path string, draw func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return artifact.WriteStream(path, func(out *bufio.Writer) error { return draw(out) })
}

// OpenBrowser opens an address in the user's browser.
func OpenBrowser(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the browser may stay open for as long as it likes
	return nil
}

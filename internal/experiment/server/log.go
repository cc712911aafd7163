package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/base/pattern"
	"aiperf/internal/base/terminal"
)

// Bounds of what is shown of a log.
const (
	tailBytes = 16 << 10
	tailLines = 15
	tailWidth = 300
)

// isHead matches what logHead returns.
var isHead = pattern.New(`^# \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \$ `)

// logHead is the line that begins a log: when the command line was started.
func logHead(line string) string {
	return fmt.Sprintf("# %s $ %s\n", time.Now().UTC().Format(time.RFC3339), line)
}

// LastLines returns the last lines of a server's log, at most 15 of at most 300 characters, safe to print; the command
// line that begins it is no part of them. redact hides the secrets. A log that cannot be read has none.
func LastLines(path string, redact func(string) string) (lines []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(info.Size()-tailBytes, 0)
	text, _ := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if i := bytes.IndexByte(text, '\n'); from > 0 && i >= 0 {
		text = text[i+1:] // half a line
	}
	for line := range strings.SplitSeq(redact(string(text)), "\n") {
		if line = strings.TrimRight(line, " \r"); line == "" || isHead.MatchString(line) {
			continue
		}
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:] // a progress bar shows its last state
		}
		if runes := []rune(terminal.Text(line)); len(runes) > tailWidth {
			line = string(runes[:tailWidth]) + "…"
		} else {
			line = string(runes)
		}
		lines = append(lines, line)
	}
	return lines[max(len(lines)-tailLines, 0):]
}

// share notes that a further cell begins.
func (p *process) share(path string) {
	if path == p.logPath {
		return
	}
	if info, err := os.Stat(p.logPath); err == nil {
		p.shared, p.from = path, info.Size()
	}
}

// copyLog copies what the server wrote during a cell to the log of that cell, where it writes elsewhere.
func (p *process) copyLog() {
	to := p.shared
	p.shared = ""
	if to == "" {
		return
	}
	in, err := os.Open(p.logPath)
	if err != nil {
		return
	}
	defer in.Close()
	if os.MkdirAll(filepath.Dir(to), 0o755) != nil {
		return
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return
	}
	defer out.Close()
	fmt.Fprintf(out, "# the server of %s, which served this cell too\n", p.logPath)
	if _, err := in.Seek(p.from, io.SeekStart); err == nil {
		_, _ = io.Copy(out, in)
	}
}

// dialPatience bounds the look at whether an address is free.
const dialPatience = time.Second

// free returns an error if somebody listens at one of the addresses.
func free(ctx context.Context, addresses []string) error {
	for _, address := range addresses {
		d := net.Dialer{Timeout: dialPatience}
		if c, err := d.DialContext(ctx, "tcp", address); err == nil {
			c.Close()
			return fmt.Errorf("--serve-cmd: something listens at %s already and would be measured in place of the new "+
				"server: end it, or give the server and --url another port", address)
		}
	}
	return nil
}

// reset runs the command between two cells of a server, and waits until the server is ready again. What the command
// writes is added to the log of the cell.
func (s *Supervisor) reset(ctx context.Context, c Cell) error {
	if s.options.Reset == "" {
		return nil
	}
	line, err := filled(s.options.Reset, c.Params)
	if err != nil {
		return err
	}
	log, err := s.openLog(c.LogPath, s.options.Redact(line))
	if err != nil {
		return err
	}
	p, err := launch(line, log, resetGrace)
	log.Close()
	if err != nil {
		return fmt.Errorf("--reset-cmd could not be started: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	select {
	case <-p.died:
		if p.how != exitedWell {
			err = fmt.Errorf("--reset-cmd ended with %s%s", p.how, s.tail(c.LogPath))
		}
	case <-bounded.Done():
		if err = ctx.Err(); err == nil {
			err = fmt.Errorf("--reset-cmd did not end within %s; raise --serve-timeout%s", s.options.Timeout,
				s.tail(c.LogPath))
		}
	}
	if err = errors.Join(err, p.end(resetGrace)); err != nil || c.Ready == nil {
		return err
	}
	if err := c.Ready(bounded); err != nil {
		return fmt.Errorf("the server is not ready after --reset-cmd: %w", err)
	}
	return nil
}

// resetGrace is how long a reset that takes too long may take to end.
const resetGrace = 5 * time.Second

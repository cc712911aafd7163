//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"aiperf/internal/result/chart"
)

// warmUp is the share of the time that slopes leave out: pools and data structures get their size in it.
const warmUp = 0.1

// report prints what came of it. The error says what must not be: a request that one side knows and the other does
// not, or a run that failed.
func (s *soak) report(out io.Writer, t *table, c *collector) error {
	end := min(t.lastWhole(), s.length.Seconds()) // then files are written
	fmt.Fprintf(out, "\nfrom second %.0f to %.0f\n%-15s %-12s %14s %16s %14s\n", warmUp*end, end, "client", "what", "mean",
		"per hour", "95 % ±")
	for i, client := range t.clients {
		for k, q := range quantities {
			f := fit(t.seconds, t.values[i][k], warmUp*end, end)
			if math.IsNaN(f.mean) {
				continue
			}
			fmt.Fprintf(out, "%-15s %-12s %14.1f %+16.2f %14.2f\n", client.name, q.name, f.mean*q.scale,
				f.perHour*q.scale, f.half*q.scale)
		}
	}
	fmt.Fprintln(out)
	var errs []error
	for _, client := range t.clients {
		fmt.Fprintf(out, "%s: pages of the API read: %d; exit: %s\n", client.name, client.pagesRead.Load(),
			client.cmd.ProcessState)
		errs = append(errs, client.err)
	}
	fmt.Fprintf(out, "OTLP pushes: %d, %d bytes\n", c.pushes.Load(), c.bytes.Load())
	return errors.Join(append(errs, s.compareLogs(out))...)
}

// lastWhole is the last instant at which all clients had values.
func (t *table) lastWhole() (at float64) {
	for i, second := range t.seconds {
		whole := true
		for _, c := range t.values {
			whole = whole && !math.IsNaN(c[0][i])
		}
		if whole {
			at = second
		}
	}
	return at
}

// compareLogs compares the clients' records with the servers' logs, request by request.
func (s *soak) compareLogs(out io.Writer) error {
	type seen struct{ server, client uint8 }
	requests := map[string]seen{}
	for _, server := range s.servers {
		err := eachLine(server.log, func(line []byte) error {
			var r struct {
				ID string `json:"request_id"`
			}
			if err := json.Unmarshal(line, &r); err != nil {
				return err
			}
			k := requests[r.ID]
			k.server++
			requests[r.ID] = k
			return nil
		})
		if err != nil {
			return err
		}
	}
	failed := map[string]int{}
	for _, c := range s.clients {
		err := eachLine(filepath.Join(c.dir, "profile_export.jsonl"), func(line []byte) error {
			var r struct {
				Metadata struct {
					ID string `json:"x_request_id"`
				}
				Error *struct {
					Type string
					Code int
				}
			}
			if err := json.Unmarshal(line, &r); err != nil {
				return err
			}
			k := requests[r.Metadata.ID]
			k.client++
			requests[r.Metadata.ID] = k
			if r.Error != nil {
				failed[fmt.Sprintf("%s %d", r.Error.Type, r.Error.Code)]++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var lost, unknown, twice int
	for _, k := range requests {
		switch {
		case k.client == 0:
			lost++
		case k.server == 0:
			unknown++
		case k.client > 1 || k.server > 1:
			twice++
		}
	}
	fmt.Fprintf(out, "requests: %d; in a server's log and not in the records: %d; the reverse: %d; twice: %d\n",
		len(requests), lost, unknown, twice)
	for kind, n := range failed {
		fmt.Fprintf(out, "  failed as planned: %d × %s\n", n, kind)
	}
	if lost+unknown+twice > 0 {
		return fmt.Errorf("%d requests are not once in both logs", lost+unknown+twice)
	}
	return nil
}

func eachLine(path string, take func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := take(lines.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return lines.Err()
}

// drawn is the largest number of samples in a chart.
const drawn = 400

// draw writes a chart of each quantity, as SVG and as PNG.
func (t *table) draw(dir string) error {
	every := 1 + len(t.seconds)/drawn
	var minutes []float64
	for i := 0; i < len(t.seconds); i += every {
		minutes = append(minutes, t.seconds[i]/60)
	}
	for k, q := range quantities {
		f := chart.Figure{Title: "Soak: " + q.label, X: chart.Axis{Label: "Minutes"},
			Y: chart.Axis{Label: q.label, Zero: true}}
		for i, c := range t.clients {
			layer := chart.Layer{Kind: chart.Line, Name: c.name, X: minutes}
			for j := 0; j < len(t.seconds); j += every {
				layer.Y = append(layer.Y, t.values[i][k][j]*q.scale)
			}
			f.Layers = append(f.Layers, layer)
		}
		for kind, write := range map[string]func(io.Writer, chart.Theme, chart.Size) error{
			"svg": f.SVG, "png": f.PNG,
		} {
			err := toFile(filepath.Join(dir, "soak_"+q.name+"."+kind), func(w io.Writer) error {
				return write(w, chart.Light, chart.DefaultSize())
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func toFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

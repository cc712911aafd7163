//go:build unix

package main

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// quantity is what is sampled of a client. A value that cannot be read is not a number.
type quantity struct {
	name string
	// scale turns a value into what the plot shows.
	scale float64
	label string
	read  func(*client) float64
}

var quantities = []quantity{
	{"rss", 1e-6, "Resident memory, MB", func(c *client) float64 { return 1024 * c.status("VmRSS:") }},
	{"descriptors", 1, "Descriptors", (*client).descriptors},
	{"threads", 1, "Threads", func(c *client) float64 { return c.status("Threads:") }},
	{"goroutines", 1, "Goroutines", (*client).goroutines},
}

// status reads a number of /proc/PID/status.
func (c *client) status(key string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), "\n"+key)
	if fields := strings.Fields(rest); len(fields) > 0 {
		if v, err := strconv.ParseFloat(fields[0], 64); err == nil {
			return v
		}
	}
	return math.NaN()
}

func (c *client) descriptors() float64 {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.cmd.Process.Pid))
	if err != nil {
		return math.NaN()
	}
	return float64(len(list))
}

// goroutines reads their number from the client's profiles.
func (c *client) goroutines() float64 {
	response, err := http.Get("http://" + c.pprof + "/debug/pprof/goroutine?debug=1")
	if err != nil {
		return math.NaN()
	}
	defer response.Body.Close()
	line, _ := bufio.NewReader(response.Body).ReadString('\n')
	_, count, _ := strings.Cut(strings.TrimSpace(line), "total ")
	v, err := strconv.ParseFloat(count, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// table are the samples: the seconds since the start, and of each client each quantity at these instants.
type table struct {
	file    *os.File
	began   time.Time
	clients []*client
	seconds []float64
	values  [][][]float64 // by client and quantity
}

func newTable(path string, clients []*client) (*table, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	t := &table{file: file, began: time.Now(), clients: clients, values: make([][][]float64, len(clients))}
	line := []string{"seconds"}
	for i, c := range clients {
		t.values[i] = make([][]float64, len(quantities))
		for _, q := range quantities {
			line = append(line, c.name+" "+q.name)
		}
	}
	_, err = fmt.Fprintln(file, strings.Join(line, ","))
	return t, err
}

// sample adds a row; false after all clients have ended. A client that ended has no values any more.
func (t *table) sample() (alive bool, err error) {
	at := time.Since(t.began).Seconds()
	line := []string{strconv.FormatFloat(at, 'f', 3, 64)}
	t.seconds = append(t.seconds, at)
	for i, c := range t.clients {
		ended := c.ended()
		alive = alive || !ended
		for k, q := range quantities {
			v := math.NaN()
			if !ended {
				v = q.read(c)
			}
			t.values[i][k] = append(t.values[i][k], v)
			line = append(line, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	_, err = fmt.Fprintln(t.file, strings.Join(line, ","))
	return alive, err
}

func (t *table) close() error { return t.file.Close() }

package collect

import (
	"context"
	"encoding/csv"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/watch/gpu"
)

// SMIColumn is a column of nvidia-smi --query-gpu.
type SMIColumn struct {
	Query string
	// Field is what it becomes, "" for those of identity; Scale turns its unit into that of the field.
	Field string
	Scale float64
}

// SMIColumns returns the columns that every nvidia-smi of the last decade understands.
func SMIColumns() []SMIColumn {
	return []SMIColumn{
		{Query: "index"}, {Query: "uuid"}, {Query: "name"}, {Query: "pci.bus_id"},
		{"power.draw", "gpu_power_usage", 1},
		{"utilization.gpu", "gpu_utilization", 1},
		{"utilization.memory", "mem_utilization", 1},
		{"memory.used", "gpu_memory_used", 0.001048576},
		{"temperature.gpu", "gpu_temperature", 1},
	}
}

// smiNewer are the columns of those that know about codecs.
var smiNewer = []SMIColumn{
	{"utilization.encoder", "encoder_utilization", 1},
	{"utilization.decoder", "decoder_utilization", 1},
	{"utilization.jpeg", "jpg_utilization", 1},
}

// ParseSMI reads a line of nvidia-smi with the given columns into fields of the catalog. What the GPU does not support
// is left out.
func ParseSMI(c *gpu.Catalog, columns []SMIColumn, line []byte) (gpu.Reading, error) {
	rows := csv.NewReader(strings.NewReader(string(line)))
	rows.TrimLeadingSpace = true
	rows.LazyQuotes = true
	cells, err := rows.Read()
	if err != nil || len(cells) != len(columns) {
		return gpu.Reading{}, errors.New("not a line of nvidia-smi")
	}
	r := gpu.Reading{Values: c.NewValues()}
	if r.Index, err = strconv.Atoi(strings.TrimSpace(cells[0])); err != nil {
		return gpu.Reading{}, errors.New("not a line of nvidia-smi")
	}
	r.Device.Device = "nvidia" + strconv.Itoa(r.Index)
	for i, column := range columns {
		text := strings.TrimSpace(cells[i])
		if strings.HasPrefix(text, "[") || strings.EqualFold(text, "N/A") {
			continue
		}
		switch column.Query {
		case "uuid":
			r.UUID = text
		case "name":
			r.Model = text
		case "pci.bus_id":
			r.PCIBusID = text
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && column.Field != "" && !math.IsNaN(v) {
			c.Set(r.Values, column.Field, v*column.Scale)
		}
	}
	return r, nil
}

// nvidiaSMI reads the GPUs by nvidia-smi, which repeats by itself: starting it for each reading would cost more than
// the reading.
type nvidiaSMI struct {
	owner *localGPUs

	held
	highest int
	round   chan struct{} // closed and replaced after each reading of the last GPU
}

func newNvidiaSMI(owner *localGPUs) gpuSource { return &nvidiaSMI{owner: owner} }

func (n *nvidiaSMI) name() string          { return "nvidia-smi" }
func (n *nvidiaSMI) period() time.Duration { return 0 }

// open finds out what this nvidia-smi knows, and starts one that prints all GPUs at the interval: a process for each
// reading would cost more than what it measures. Older versions refuse a query with columns that they do not know, so
// that these are tried first and left out then.
func (n *nvidiaSMI) open(ctx context.Context) error {
	path, err := n.owner.options.LookPath("nvidia-smi")
	if err != nil {
		return errors.New("it is not installed")
	}
	columns := append(SMIColumns(), smiNewer...)
	query := func(c []SMIColumn) []string {
		var names []string
		for _, column := range c {
			names = append(names, column.Query)
		}
		return []string{"--query-gpu=" + strings.Join(names, ","), "--format=csv,noheader,nounits"}
	}
	text, err := output(ctx, path, query(columns)...)
	if err != nil {
		columns = SMIColumns()
		if text, err = output(ctx, path, query(columns)...); err != nil {
			return err
		}
	}
	gpus := 0
	for line := range strings.Lines(string(text)) {
		if r, err := ParseSMI(n.owner.options.Catalog, columns, []byte(line)); err == nil {
			gpus++
			n.highest = max(n.highest, r.Index)
		}
	}
	if gpus == 0 {
		return errNoGPUs
	}
	n.mu.Lock()
	n.round = make(chan struct{})
	n.mu.Unlock()
	every := "-lms=" + strconv.FormatInt(max(n.owner.options.Interval.Milliseconds(), 10), 10)
	p, err := startProcess(path, append(query(columns), every), func(line []byte) { n.take(columns, line) })
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.process = p
	n.mu.Unlock()
	return nil
}

func (n *nvidiaSMI) take(columns []SMIColumn, line []byte) {
	r, err := ParseSMI(n.owner.options.Catalog, columns, line)
	if err != nil {
		return
	}
	n.owner.deliver([]gpu.Reading{r})
	if r.Index >= n.highest {
		n.mu.Lock()
		close(n.round)
		n.round = make(chan struct{})
		n.mu.Unlock()
	}
}

// read waits for the next reading that nvidia-smi takes by itself.
func (n *nvidiaSMI) read(ctx context.Context) error {
	n.mu.Lock()
	p, round := n.process, n.round
	n.mu.Unlock()
	if p == nil {
		return errors.New("it is not running")
	}
	select {
	case <-round:
		return nil
	case <-p.done:
		return p.end
	case <-ctx.Done():
		return ctx.Err()
	}
}

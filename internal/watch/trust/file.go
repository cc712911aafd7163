package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"aiperf/internal/base/artifact"
)

// schema is the version of the file's layout; files of another one are not read.
const schema = 1

// maxFile bounds what is read of a file.
const maxFile = 64 << 10

// CapacityPath returns where the measurement is kept: aiperf/selftest.json in the user's cache directory, which XDG_CACHE_HOME
// moves on Linux.
func CapacityPath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("the user's cache directory is not known: %w", err)
	}
	return filepath.Join(dir, "aiperf", "selftest.json"), nil
}

// content is the file.
type content struct {
	Schema    int       `json:"schema"`
	Measured  time.Time `json:"measured"`
	Machine   Machine   `json:"machine"`
	Streams   int       `json:"streams"`
	Pace      float64   `json:"tokens_per_second_each"`
	UnaryRate float64   `json:"unary_requests_per_second"`
}

// SaveCapacity writes the measurement, with its directory.
func SaveCapacity(path string, c *Capacity) error {
	data, err := json.MarshalIndent(content{schema, c.Measured.UTC().Truncate(time.Second), c.Machine, c.Streams,
		c.Pace, c.UnaryRate}, "", "  ")
	if err != nil {
		return fmt.Errorf("the measured capacity: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("the measured capacity cannot be stored: %w", err)
	}
	return artifact.WriteFile(path, append(data, '\n'))
}

// LoadCapacity reads the measurement if it belongs to the machine, whose facts are asked for only then. nil without an error:
// there is none. An error says why the one that is there cannot be used.
func LoadCapacity(path string, machine func() Machine) (*Capacity, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	c, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if other := c.Machine.differs(machine()); other != "" {
		return nil, fmt.Errorf("%s was measured with another %s", path, other)
	}
	return c, nil
}

func parse(data []byte) (*Capacity, error) {
	var f content
	switch err := json.Unmarshal(data, &f); {
	case len(data) > maxFile:
		return nil, errors.New("the file is too large")
	case err != nil:
		return nil, err
	case f.Schema != schema:
		return nil, fmt.Errorf("schema %d, this version reads %d", f.Schema, schema)
	case f.Streams < 0 || !validFigure(f.Pace) || !validFigure(f.UnaryRate) || f.Streams > 0 && f.Pace == 0:
		return nil, errors.New("the figures are not valid")
	}
	return &Capacity{Machine: f.Machine, Measured: f.Measured, Streams: f.Streams, Pace: f.Pace,
		UnaryRate: f.UnaryRate}, nil
}

func validFigure(v float64) bool { return v >= 0 && v <= math.MaxInt64 }

package trace

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/workload/loader"
)

// SynthesizeOptions are those of synthesize agentic-code.
type SynthesizeOptions struct {
	Sessions       int
	Output, Config string
	Seed           int
	// MaxISL and MaxOSL bound the context and the answers; 0 is the configuration's own.
	MaxISL, MaxOSL int
	// Now names the folder.
	Now time.Time
}

// Synthesize makes the data set and returns its folder and the files in it.
func Synthesize(ctx context.Context, o SynthesizeOptions) (dir string, files []string, err error) {
	c, name, err := readConfig(o.Config)
	if err != nil {
		return "", nil, err
	}
	if o.MaxISL > 0 {
		c.MaxPromptTokens = o.MaxISL
	}
	if o.MaxOSL > 0 {
		c.Generation.Max = float64(o.MaxOSL)
		c.Generation.Min = min(c.Generation.Min, c.Generation.Max)
	}
	if err := c.check(); err != nil {
		return "", nil, fmt.Errorf("the configuration %s: %w", name, err)
	}
	sessions, err := newGenerator(c, uint64(o.Seed)).sessions(o.Sessions)
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(o.Output, fmt.Sprintf("%s_%ds_seed%d_%s", name, o.Sessions, o.Seed,
		o.Now.UTC().Format("20060102-150405")))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	data := filepath.Join(dir, "dataset.jsonl")
	if err := writeSessions(data, sessions); err != nil {
		return "", nil, err
	}
	if _, first, faults, err := loader.CheckMooncake(ctx, data); err != nil || faults > 0 {
		return "", nil, errors.Join(err,
			fmt.Errorf("%s is not what it should be: %d faults, first %v", data, faults, first))
	}
	analysis, err := Analyze(ctx, data, c.BlockSize)
	if err != nil {
		return "", nil, err
	}
	quality := measureQuality(&c, sessions)
	manifest := struct {
		Seed     int           `json:"seed"`
		Sessions int           `json:"num_sessions"`
		Name     string        `json:"config_name"`
		Params   SessionConfig `json:"generation_params"`
	}{o.Seed, o.Sessions, name, c}
	if err := writeJSON(filepath.Join(dir, "manifest.json"), manifest); err != nil {
		return "", nil, err
	}
	if err := writeJSON(filepath.Join(dir, "quality.json"), quality); err != nil {
		return "", nil, err
	}
	files = []string{data, filepath.Join(dir, "manifest.json"), filepath.Join(dir, "quality.json")}
	for _, p := range pages(name, &c, sessions, quality, analysis) {
		path := filepath.Join(dir, p.name)
		if err := p.write(path); err != nil {
			return "", nil, err
		}
		files = append(files, path)
	}
	return dir, files, nil
}

func writeSessions(path string, sessions []session) error {
	return artifact.WriteStream(path, func(out *bufio.Writer) error {
		lines := json.NewEncoder(out)
		for _, s := range sessions {
			for i := range s.rows {
				if err := lines.Encode(&s.rows[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Compared is a quantity as it was asked for and as it came out.
type Compared struct {
	Name         string `json:"name"`
	TargetMean   number `json:"target_mean"`
	TargetMedian number `json:"target_median"`
	Observed     *Stats `json:"observed"`
}

// Quality says how the sessions came out.
type Quality struct {
	Sessions   int            `json:"sessions"`
	Requests   int            `json:"requests"`
	Ends       map[string]int `json:"end_reasons"`
	Groups     map[string]int `json:"sessions_by_group"`
	Compared   []Compared     `json:"target_vs_observed"`
	Turns      *Stats         `json:"turns_per_session"`
	Context    *Stats         `json:"context_tokens"`
	ToolShare  number         `json:"agentic_delay_share"`
	ToolTarget number         `json:"agentic_delay_share_target"`
}

// measureQuality compares what was drawn with what was asked for. The first turn counts as neither new tokens nor a
// delay: it is the shared context.
func measureQuality(c *SessionConfig, sessions []session) *Quality {
	q := &Quality{Sessions: len(sessions), Ends: map[string]int{}, Groups: map[string]int{},
		ToolTarget: number(c.Delay.AgenticFraction)}
	var fresh, output, tools, people, layer2, turns, contexts []float64
	for _, s := range sessions {
		q.Ends[s.end]++
		q.Groups[strconv.Itoa(s.group)]++
		q.Requests += len(s.rows)
		turns, layer2 = append(turns, float64(len(s.rows))), append(layer2, float64(s.layer2))
		for i, row := range s.rows {
			output, contexts = append(output, float64(row.Output)), append(contexts, float64(row.context))
			switch {
			case i == 0:
			case row.agentic:
				tools = append(tools, row.delayMS)
			default:
				people = append(people, row.delayMS)
			}
			if i > 0 {
				fresh = append(fresh, float64(row.Input))
			}
		}
	}
	if n := len(tools) + len(people); n > 0 {
		q.ToolShare = number(float64(len(tools)) / float64(n))
	}
	for _, x := range []struct {
		name   string
		target Lognormal
		values []float64
	}{
		{"new tokens per turn", c.NewTokens, fresh}, {"answer tokens", c.Generation, output},
		{"delay of tools (ms, shorter in full contexts)", c.Delay.Agentic, tools},
		{"delay of people (ms, shorter in full contexts)", c.Delay.Human, people},
		{"layer 2 tokens", c.Cache.Layer2, layer2},
	} {
		bias := x.target.Bias
		if bias == 0 {
			bias = 1
		}
		q.Compared = append(q.Compared,
			Compared{x.name, number(math.Round(x.target.Mean * bias)), number(math.Round(x.target.Median * bias)),
				statsOf(x.values)})
	}
	q.Turns, q.Context = statsOf(turns), statsOf(contexts)
	return q
}

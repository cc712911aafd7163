package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"aiperf/internal/base/bounded"
	"aiperf/internal/base/random"
)

// Lognormal is a distribution of sizes; Min and Max bound it, 0 is no bound.
type Lognormal struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	Min    float64 `json:"min,omitempty"`
	Max    float64 `json:"max,omitempty"`
	// Bias multiplies what is drawn, 0 is 1.
	Bias float64 `json:"bias,omitempty"`
}

// Parameters returns those of the normal distribution of the logarithm.
func (l Lognormal) Parameters() (mu, sigma float64) {
	return math.Log(l.Median), math.Sqrt(2 * math.Log(l.Mean/l.Median))
}

// DefaultBlockSize is how many tokens a hash id stands for unless it is said.
const DefaultBlockSize = 512

// boundedTries is how often a value outside of the bounds is drawn again before it is cut.
const boundedTries = 100

func (l Lognormal) draw(r *random.Rand) float64 {
	mu, sigma := l.Parameters()
	bias := l.Bias
	if bias == 0 {
		bias = 1
	}
	high := l.Max
	if high == 0 {
		high = math.Inf(1)
	}
	x := 0.0
	for range boundedTries {
		x = math.Exp(mu+float64(sigma*r.Normal())) * bias
		if x >= l.Min && x <= high {
			return x
		}
	}
	return min(max(x, l.Min), high)
}

func (l Lognormal) check(name string) error {
	switch {
	case !(l.Median > 0) || !(l.Mean >= l.Median) || math.IsInf(l.Mean, 0):
		return fmt.Errorf("%s: want a median above 0 and a mean of at least it, got %v and %v", name, l.Median, l.Mean)
	case l.Min < 0 || l.Max < 0 || l.Max > 0 && l.Min > l.Max || l.Bias < 0:
		return fmt.Errorf("%s: min, max and bias must be at least 0, and min at most max", name)
	}
	return nil
}

// SessionConfig says what coding sessions are like. Lengths are tokens, delays milliseconds.
type SessionConfig struct {
	NewTokens  Lognormal `json:"new_tokens_per_turn"`
	Generation Lognormal `json:"generation_length"`
	Delay      struct {
		AgenticFraction float64   `json:"agentic_fraction"`
		Agentic         Lognormal `json:"agentic"`
		Human           Lognormal `json:"human"`
	} `json:"inter_turn_delay"`
	Reset struct {
		BaseProbability float64 `json:"base_probability"`
		ContextScaling  float64 `json:"context_scaling"`
	} `json:"reset"`
	MaxPromptTokens int `json:"max_prompt_tokens"`
	BlockSize       int `json:"block_size"`
	Cache           struct {
		Layer1Tokens  int       `json:"layer1_tokens"`
		Layer15Tokens int       `json:"layer1_5_tokens"`
		Layer2        Lognormal `json:"layer2"`
		Groups        int       `json:"groups"`
		ZipfAlpha     float64   `json:"zipf_alpha"`
	} `json:"cache"`
	RestartProbability float64 `json:"restart_initial_probability"`
	RestartTurns       [2]int  `json:"restart_turn_range"`
	// Turns fixes how many turns sessions have; nil lets resets end them.
	Turns *turnCount `json:"turns,omitempty"`
}

// turnCount is a distribution of the turns of a session.
type turnCount struct {
	Lognormal
	AllowTruncation bool `json:"allow_truncation"`
	MaxAttempts     int  `json:"max_session_attempts"`
}

// leastGeneration is the shortest answer, unless the longest is shorter.
const leastGeneration = 30

// defaultConfig holds the values of what a file leaves out.
func defaultConfig() SessionConfig {
	var c SessionConfig
	c.NewTokens = Lognormal{Mean: 3500, Median: 1800, Bias: 1}
	c.Generation = Lognormal{Mean: 500, Median: 300}
	c.Delay.AgenticFraction = 0.7
	c.Delay.Agentic, c.Delay.Human = Lognormal{Mean: 2500, Median: 1800}, Lognormal{Mean: 40000, Median: 25000}
	c.Reset.BaseProbability, c.Reset.ContextScaling = 0.02, 2
	c.MaxPromptTokens, c.BlockSize = 200_000, DefaultBlockSize
	c.Cache.Layer1Tokens, c.Cache.Layer15Tokens, c.Cache.Layer2 = 32_000, 20_000, Lognormal{Mean: 10_000, Median: 5000}
	c.Cache.Groups, c.Cache.ZipfAlpha = 50, 1.2
	c.RestartTurns = [2]int{5, 15}
	return c
}

// bundledConfig returns the one named "default".
func bundledConfig() SessionConfig {
	c := defaultConfig()
	c.NewTokens = Lognormal{Mean: 6000, Median: 6000, Max: 10_000, Bias: 1.1}
	c.Generation = Lognormal{Mean: 1000, Median: 1000, Max: 1500}
	c.Delay.Agentic.Max, c.Delay.Human.Max = 10_000, 120_000
	c.Reset.BaseProbability, c.Reset.ContextScaling = 0.01, 1.5
	c.MaxPromptTokens = 167_000
	c.Cache.Layer15Tokens, c.Cache.Groups, c.Cache.ZipfAlpha = 0, 1, 0.6
	c.Cache.Layer2 = Lognormal{Mean: 15_000, Median: 5000, Max: 30_000}
	return c
}

const bundledName = "default"

// readConfig returns a bundled configuration, a file with one, or that of an earlier manifest.
func readConfig(from string) (c SessionConfig, name string, err error) {
	if from == "" || from == bundledName {
		return bundledConfig(), bundledName, nil
	}
	text, err := bounded.ReadFile(from)
	if err != nil {
		return c, "", fmt.Errorf("--config: there is no bundled configuration %q and no such file: %w", from, err)
	}
	name = strings.TrimSuffix(filepath.Base(from), filepath.Ext(from))
	var manifest struct {
		Name   string          `json:"config_name"`
		Params json.RawMessage `json:"generation_params"`
	}
	if json.Unmarshal(text, &manifest) == nil && manifest.Params != nil {
		text = manifest.Params
		if manifest.Name != "" {
			name = manifest.Name
		}
	}
	c = defaultConfig()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, "", fmt.Errorf("--config %s: %w", from, err)
	}
	if filepath.Base(name) != name || name == "." || name == ".." {
		return c, "", fmt.Errorf("--config %s: %q is not a name for a folder", from, name)
	}
	return c, name, nil
}

// Bounds of the ids: groups and sessions have ranges of their own.
const (
	maxGroups     = 1000
	groupBlocks   = 200
	sessionBlocks = 4000
)

// check returns the first setting that is not valid. Bounds on blocks keep the ids of groups and sessions apart, which
// are ranges of numbers.
func (c *SessionConfig) check() error {
	for name, l := range map[string]Lognormal{
		"new_tokens_per_turn": c.NewTokens, "generation_length": c.Generation,
		"inter_turn_delay.agentic": c.Delay.Agentic,
		"inter_turn_delay.human":   c.Delay.Human, "cache.layer2": c.Cache.Layer2,
	} {
		if err := l.check(name); err != nil {
			return err
		}
	}
	share := func(p float64) bool { return p >= 0 && p <= 1 }
	switch {
	case !share(c.Delay.AgenticFraction), !share(c.Reset.BaseProbability), !share(c.RestartProbability):
		return errors.New("agentic_fraction, base_probability and restart_initial_probability must be from 0 to 1")
	case c.Reset.ContextScaling < 0, c.BlockSize < 1, c.Cache.Layer1Tokens < 0, c.Cache.Layer15Tokens < 0,
		!(c.Cache.ZipfAlpha >= 0):
		return errors.New("context_scaling, layers and zipf_alpha must be at least 0, block_size at least 1")
	case c.Cache.Groups < 1 || c.Cache.Groups > maxGroups:
		return fmt.Errorf("cache.groups is %d: want 1 to %d", c.Cache.Groups, maxGroups)
	case blocksOf(c.Cache.Layer15Tokens, c.BlockSize) > groupBlocks:
		return fmt.Errorf("cache.layer1_5_tokens are more than %d blocks", groupBlocks)
	case c.MaxPromptTokens <= c.Cache.Layer1Tokens+c.Cache.Layer15Tokens+1:
		return fmt.Errorf("max_prompt_tokens (or --max-isl) is %d, and the shared layers alone have %d",
			c.MaxPromptTokens, c.Cache.Layer1Tokens+c.Cache.Layer15Tokens)
	case blocksOf(c.MaxPromptTokens, c.BlockSize) > sessionBlocks:
		return fmt.Errorf("max_prompt_tokens are more than %d blocks of block_size", sessionBlocks)
	case c.RestartTurns[0] < 1 || c.RestartTurns[1] <= c.RestartTurns[0]:
		return errors.New("restart_turn_range: want [from, to) with from at least 1")
	}
	if t := c.Turns; t != nil {
		if t.MaxAttempts < 0 {
			return errors.New("turns.max_session_attempts must be at least 0")
		}
		if c.RestartProbability > 0 {
			return errors.New("turns excludes restart_initial_probability")
		}
		return t.check("turns")
	}
	return nil
}

func blocksOf(tokens, size int) int { return (tokens + size - 1) / size }

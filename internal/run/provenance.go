package run

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"runtime"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/file"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/trust"
)

// provenance says what measured what, so that two results can be told to be of the same kind: the
// versions, hashes of what was asked and of what was sent, the machine and its clock.
func (c *content) provenance() artifact.Object {
	m := trust.ThisMachine(c.options.Version)
	p := summary.Provenance{AIPerfVersion: c.options.Version, GoVersion: runtime.Version(),
		Further: file.ExportedFurther(c.cfg), ClockSource: clockSource(),
		Host: summary.MachineDocument{System: m.System, Processors: runtime.NumCPU(), GOMAXPROCS: m.CPUs, Model: m.Model,
			Kernel: m.Kernel}}
	p.ConfigHash = configHash(file.Exported(c.cfg), p.Further)
	p.DatasetHash, _ = c.datasetHash()
	if c.tokenizer != nil {
		p.Tokenizer = &summary.TokenizerFingerprint{Name: c.tokenizer.Name(), Fingerprint: fingerprint(c.tokenizer)}
	}
	return artifact.ObjectOf(p)
}

// inputConfig is the configuration as the files of the run carry it. In a run of a series or a sweep every default is
// written out, as the original does there, which starts such a run from its whole configuration.
func (b *base) inputConfig() artifact.Object {
	given := file.Exported(b.cfg)
	if b.options.Info.RunLabel == "" {
		return given
	}
	return file.CompleteBody(given)
}

// runConfigDocument is run_config.json: which run of a series it is, and its configuration.
type runConfigDocument struct {
	BenchmarkID string          `json:"benchmark_id"`
	Config      artifact.Object `json:"cfg"`
	Trial       int             `json:"trial"`
	Dir         string          `json:"artifact_dir"`
	Label       string          `json:"label"`
	CLICommand  string          `json:"cli_command"`
	RandomSeed  *int64          `json:"random_seed,omitempty"`
}

func (b *base) runConfig() artifact.Object {
	info := b.options.Info
	d := runConfigDocument{BenchmarkID: b.id, Config: b.inputConfig(), Trial: info.Trial, Dir: b.cfg.Artifacts.Dir,
		Label: info.RunLabel, CLICommand: b.cfg.CLICommand}
	if seed := b.cfg.RandomSeed; seed != nil {
		d.RandomSeed = new(int64(*seed))
	}
	return artifact.ObjectOf(d)
}

// ownMembers are those of the configuration that differ between two runs of the same benchmark.
var ownMembers = []string{"artifacts", "runtime"}

// ConfigHash is the hash under which the summary of a run names its configuration.
func ConfigHash(cfg *config.Run) string {
	return configHash(file.Exported(cfg), file.ExportedFurther(cfg))
}

// configHash is the hash of what the benchmark is: where its files go and how it is shown are left out.
func configHash(known, further artifact.Object) string {
	own := func(m artifact.Member) bool { return slices.Contains(ownMembers, m.Key) }
	o := append(slices.DeleteFunc(slices.Clone(known), own),
		artifact.Member{Key: "further_config", Value: slices.DeleteFunc(slices.Clone(further), own)})
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// clockSource is what the system's clock is made of, where it tells; intervals are taken from its
// monotonic clock everywhere.
func clockSource() string {
	text, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return "monotonic (" + name + ")"
	}
	return "monotonic"
}

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
	"aiperf/internal/watch/trust"
)

// provenance says what measured what, so that two results can be told to be of the same kind: the
// versions, hashes of what was asked and of what was sent, the machine and its clock.
func (c *content) provenance() artifact.Object {
	further := file.ExportedFurther(c.cfg)
	out := artifact.Object{
		{Key: "aiperf_version", Value: c.options.Version},
		{Key: "go_version", Value: runtime.Version()},
		{Key: "config_sha256", Value: configHash(file.Exported(c.cfg), further)},
	}
	if len(further) > 0 {
		out = append(out, artifact.Member{Key: "further_config", Value: further})
	}
	if hash, ok := c.datasetHash(); ok {
		out = append(out, artifact.Member{Key: "dataset_sha256", Value: hash})
	}
	if c.tokenizer != nil {
		out = append(out, artifact.Member{Key: "tokenizer", Value: artifact.Object{
			{Key: "name", Value: c.tokenizer.Name()},
			{Key: "fingerprint_sha256", Value: fingerprint(c.tokenizer)},
		}})
	}
	m := trust.ThisMachine(c.options.Version)
	host := artifact.Object{{Key: "system", Value: m.System}, {Key: "processors", Value: runtime.NumCPU()},
		{Key: "gomaxprocs", Value: m.CPUs}}
	if m.Model != "" {
		host = append(host, artifact.Member{Key: "processor_model", Value: m.Model})
	}
	if m.Kernel != "" {
		host = append(host, artifact.Member{Key: "kernel", Value: m.Kernel})
	}
	return append(out,
		artifact.Member{Key: "host", Value: host},
		artifact.Member{Key: "clock_source", Value: clockSource()},
	)
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

// runConfig is the document of run_config.json: which run of a series it is, and its configuration.
func (b *base) runConfig() artifact.Object {
	info := b.options.Info
	out := artifact.Object{
		{Key: "benchmark_id", Value: b.id},
		{Key: "cfg", Value: b.inputConfig()},
		{Key: "trial", Value: info.Trial},
		{Key: "artifact_dir", Value: b.cfg.Artifacts.Dir},
		{Key: "label", Value: info.RunLabel},
		{Key: "cli_command", Value: b.cfg.CLICommand},
	}
	if seed := b.cfg.RandomSeed; seed != nil {
		out = append(out, artifact.Member{Key: "random_seed", Value: int64(*seed)})
	}
	return out
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

package resolve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
)

// declare writes a manifest with programs into dir.
func declare(t *testing.T, dir, programs string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "schema_version: \"1.0\"\nname: own\nversion: \"2.1\"\nprovides:\n" + programs
	if err := os.WriteFile(filepath.Join(dir, "plugin.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const everyCategory = `  - {category: endpoint, name: tgi, entry: python3 tgi.py}
  - {category: custom_dataset_loader, name: book, entry: ./book,
     metadata: {format: mooncake_trace, extensions: [.book]}}
  - {category: data_exporter, name: mail, entry: ./mail}
  - {category: metric, name: words, entry: ./words, metadata: {header: Words, unit: words}}
`

func TestProgramsOfPluginsAreNamedAsTypesAndFormats(t *testing.T) {
	dir := declare(t, t.TempDir(), everyCategory)
	run := resolvedRun(t, "-m m --endpoint-type TGI --streaming --plugin-dir "+dir)
	if e := run.Endpoint; e.Type != PluginType || e.Plugin != "python3 tgi.py" || e.Program.Dir != dir || !e.Streaming {
		t.Errorf("%+v", e)
	}
	if p := run.Plugins; len(p.Exporters) != 1 || len(p.Metrics) != 1 || p.Metrics[0].Header != "Words" {
		t.Errorf("%+v", p)
	}
	file := configtest.WriteFile(t, "a.book", "{\"timestamp\":1}\n")
	for _, flags := range []string{"", " --custom-dataset-type Book"} {
		parsed := mustParse(t, "-m m --plugin-dir "+dir+" --input-file "+file+flags)
		if p := Loader(parsed, Plugins(parsed)); p == nil || p.Name != "book" {
			t.Errorf("%q: %+v", flags, p)
		}
	}
	if p := run.Profiling(); p.Mode == config.FixedSchedule {
		t.Errorf("%+v", p)
	}
}

func TestNamesThatNoPluginHas(t *testing.T) {
	dir := declare(t, t.TempDir(), everyCategory)
	file := configtest.WriteFile(t, "a.txt", "a")
	for _, c := range [][2]string{
		{"--endpoint-type chta",
			"--endpoint-type chta: did you mean chat? Allowed are "},
		{"--endpoint-type xyz --plugin-dir " + dir,
			", or of plug-ins tgi"},
		{"--custom-dataset-type single_trun --input-file " + file,
			"did you mean single_turn?"},
		{"--custom-dataset-type tgi --input-file " + file + " --plugin-dir " + dir,
			", or of plug-ins book"},
		{"--plugin-dir " + declare(t, t.TempDir(), "  - {category: metric, name: request_latency, entry: a}"),
			"the metric request_latency is built in"},
		{"--plugin-dir " + declare(t, t.TempDir(), "  - {category: metric}"),
			"plugin.yaml:5:5: name is missing"},
		{"--plugin-dir " + t.TempDir(),
			"has no plugin.yaml"},
	} {
		flags, want := c[0], c[1]
		if faults := resolveError(t, "-m m "+flags); !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: %v, want %s", flags, faults, want)
		}
	}
}

// A program in the working directory may be anybody's.
func TestTrapPluginsOfTheWorkingDirectoryNeedTheirFlag(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	declare(t, filepath.Join(dir, ".aiperf", "plugins", "own"), everyCategory)
	d := check(t, "-m m")
	if len(d.plugins.found.Programs) > 0 {
		t.Errorf("%+v", d.plugins.found)
	}
	configtest.WantText(t, "warnings", configtest.Texting(d.warnings), "--plugin-dir .aiperf/plugins uses them")
	if d := check(t, "-m m --plugin-dir .aiperf/plugins"); len(d.plugins.found.Programs) != 4 ||
		strings.Contains(configtest.Texting(d.warnings), "not used") {
		t.Errorf("%+v %s", d.plugins.found, configtest.Texting(d.warnings))
	}
}

func TestTrapPluginsOfTheUsersFolderAndThePath(t *testing.T) {
	home, path := t.TempDir(), declare(t, t.TempDir(), "  - {category: metric, name: b, entry: b}\n")
	declare(t, filepath.Join(home, ".aiperf", "plugins", "own"), "  - {category: metric, name: a, entry: a}\n")
	parsed := mustParse(t, "-m m", "HOME="+home, "AIPERF_PLUGIN_PATH="+path)
	if s := Plugins(parsed); len(s.Programs) != 2 || len(s.Faults) > 0 {
		t.Errorf("%+v", s)
	}
}

func TestPluginInThePlaceOfABuiltInOne(t *testing.T) {
	for priority, replaces := range map[string]bool{"0": true, "-1": false} {
		dir := declare(t, t.TempDir(), "  - {category: endpoint, name: chat, entry: a, priority: "+priority+"}\n")
		d := check(t, "-m m --plugin-dir "+dir)
		if got := d.plugins.endpoint != nil; got != replaces {
			t.Errorf("priority %s: replaces %v", priority, got)
		}
		if got := strings.Contains(configtest.Texting(d.warnings), "replaces the built-in chat"); got != replaces {
			t.Errorf("priority %s: %s", priority, configtest.Texting(d.warnings))
		}
	}
}

func TestMetricsOfPluginsNeedRecords(t *testing.T) {
	dir := declare(t, t.TempDir(), everyCategory)
	d := check(t, "-m m --export-level summary --plugin-dir "+dir)
	if p := d.run().Plugins; len(p.Metrics) > 0 || len(p.Exporters) != 1 {
		t.Errorf("%+v", p)
	}
	configtest.WantText(t, "warnings", configtest.Texting(d.warnings),
		"The metric words of a plug-in needs the records")
}

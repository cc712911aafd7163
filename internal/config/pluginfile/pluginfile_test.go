package pluginfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config/pluginfile"
)

// write writes a manifest into a folder of its own below dir.
func write(t *testing.T, dir, plugin, text string) string {
	t.Helper()
	folder := filepath.Join(dir, plugin)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, pluginfile.FileName)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const head = "schema_version: \"1.0\"\nname: own\nversion: 0.3\nprovides:\n"

func TestManifestOfEveryCategory(t *testing.T) {
	path := write(t, t.TempDir(), "own", head+`
  - {category: endpoint, name: tgi, kind: process, entry: python3 tgi.py}
  - category: Custom-Dataset-Loader
    name: lines
    entry: ./lines --fast
    priority: -2
    metadata: {description: Lines., format: multi_turn, extensions: [.lines, .log], depth: 3}
  - {category: data_exporter, name: mail, entry: mail}
  - {category: metric, name: words, entry: words, metadata: {header: Words, unit: words}}
`)
	p, err := pluginfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "own" || p.Version != "0.3" || len(p.Provides) != 4 {
		t.Fatalf("%+v", p)
	}
	endpoint, loader, metric := p.Provides[0], p.Provides[1], p.Provides[3]
	if endpoint.Category != pluginfile.Endpoint || endpoint.Command != "python3 tgi.py" || endpoint.Dir != filepath.Dir(path) ||
		endpoint.Place != path+":6" {
		t.Errorf("%+v", endpoint)
	}
	depth, _ := loader.Metadata.Get("depth")
	if loader.Category != pluginfile.Loader || loader.Priority != -2 || loader.Format != "multi_turn" ||
		loader.Description != "Lines." ||
		!slices.Equal(loader.Extensions, []string{".lines", ".log"}) || depth != int64(3) {
		t.Errorf("%+v", loader)
	}
	if metric.Header != "Words" || metric.Unit != "words" {
		t.Errorf("%+v", metric)
	}
}

func TestFaultsOfManifests(t *testing.T) {
	for _, c := range [][2]string{
		{"", "empty"},
		{"schema_version: \"2.0\"\nname: x\nprovides: [{category: metric, name: a, entry: a}]",
			":1:17: schema_version is 2.0"},
		{"name: x\nprovides: [{category: metric, name: a, entry: a}]",
			"schema_version is missing"},
		{head, "provides"},
		{head + "  - {category: metric, name: a}", ":5:5: entry is missing"},
		{head + "  - {category: metrics, name: a, entry: a}",
			"did you mean metric?"},
		{head + "  - {category: metric, name: A b, entry: a}",
			"lower-case"},
		{head + "  - {category: data_exporter, name: a/b, entry: a}",
			"letters, digits"},
		{head + "  - {category: metric, name: a, kind: wasm, entry: a}",
			"the kind wasm is not available"},
		{head + "  - {category: metric, name: a, entry: a, prioritty: 1}",
			"did you mean priority?"},
		{head + "  - {category: metric, name: a, entry: a, priority: high}",
			"whole number"},
		{head + "  - {category: custom_dataset_loader, name: a, entry: a}",
			"metadata.format is missing"},
		{head + "  - {category: custom_dataset_loader, name: a, entry: a, metadata: {format: single_trun}}",
			"did you mean single_turn?"},
		{head + "  - {category: custom_dataset_loader, name: a, entry: a, metadata: {format: single_turn, " +
			"extensions: [log]}}",
			"begins with a dot"},
	} {
		text, want := c[0], c[1]
		_, err := pluginfile.Read(write(t, t.TempDir(), "x", text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), pluginfile.FileName+":") {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
}

func TestTrapOfTwoProgramsOfOneNameTheHigherPriorityWins(t *testing.T) {
	declare := func(priority string) string {
		return head + "  - {category: data_exporter, name: mail, entry: x, priority: " + priority + "}\n"
	}
	for _, c := range []struct {
		first, second string
		used          string
	}{{"0", "0", "first"}, {"0", "1", "second"}, {"1", "0", "first"}} {
		named, path := t.TempDir(), t.TempDir()
		write(t, named, "first", declare(c.first))
		write(t, path, "second", declare(c.second))
		s := pluginfile.Find(pluginfile.Folders([]string{named}, path, ""))
		if len(s.Faults) > 0 || len(s.Plugins) != 2 || len(s.Programs) != 1 || len(s.Notes) != 1 ||
			filepath.Base(s.Programs[0].Dir) != c.used {
			t.Errorf("%v: %+v", c, s)
		}
	}
}

func TestFolders(t *testing.T) {
	home, one := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, pluginfile.Local), "a", head+"  - {category: metric, name: a, entry: a}\n")
	path := write(t, one, ".", head+"  - {category: metric, name: b, entry: b}\n")
	s := pluginfile.Find(pluginfile.Folders([]string{filepath.Dir(path)}, one, home))
	if len(s.Plugins) != 2 || s.Lookup(pluginfile.Metric, "A") == nil || s.Lookup(pluginfile.Metric, "b") == nil || len(s.Notes) > 0 {
		t.Errorf("a folder that is named twice: %+v", s)
	}
	if s := pluginfile.Find(pluginfile.Folders(nil, "", t.TempDir())); len(s.Faults) > 0 {
		t.Errorf("a home without plug-ins: %v", s.Faults)
	}
	for _, dir := range []string{filepath.Join(one, "none"), t.TempDir()} {
		if s := pluginfile.Find(pluginfile.Folders(nil, dir, "")); !strings.Contains(s.Faults.Error(), dir) ||
			!strings.Contains(s.Faults.Error(), "AIPERF_PLUGIN_PATH") {
			t.Errorf("%s: %v", dir, s.Faults)
		}
	}
}

package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config/schema"
)

// Difference is a key of the configuration, or of what else decides what is measured, whose values differ. A value is
// "" where the run does not have the key.
type Difference struct{ Key, Base, New string }

// text says the two values of the key.
func (d Difference) text() string {
	value := func(v string) string {
		if v == "" {
			return "not set"
		}
		return v
	}
	return fmt.Sprintf("%s is %s and %s", d.Key, value(d.Base), value(d.New))
}

// elsewhere are the keys that may differ between two runs of the same benchmark.
var elsewhere = []string{"input_config.artifacts", "input_config.runtime", "provenance.config_sha256",
	"provenance.dataset_sha256", "provenance.tokenizer.fingerprint_sha256", "provenance.go_version",
	"provenance.host.kernel", "provenance.clock_source", "provenance.further_config.artifacts",
	"provenance.further_config.runtime"}

// differences returns the keys in which the first runs of two systems differ, in the order of the files.
func differences(base, next *System) (list []Difference) {
	if len(base.Runs) == 0 || len(next.Runs) == 0 {
		return nil
	}
	return differing(base, next, base.Runs[0].Figures.Config, next.Runs[0].Figures.Config)
}

// differing returns the keys in which the configurations of two systems differ. Those of different tools, or formats, have
// few keys in common: only these count.
func differing(base, next *System, a, b artifact.Object) []Difference {
	list := configDifferences(a, b)
	if base.origin() == next.origin() && base.converted() == next.converted() {
		return list
	}
	return slices.DeleteFunc(list, func(d Difference) bool { return d.Base == "" || d.New == "" })
}

// configDifferences returns the keys in which two configurations differ.
func configDifferences(base, next artifact.Object) (list []Difference) {
	keys, a := flattened(base)
	further, b := flattened(next)
	if len(keys) == 0 || len(further) == 0 {
		return nil
	}
	for _, key := range further {
		if _, both := a[key]; !both {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if a[key] != b[key] && !leftOut(key, a, b) {
			list = append(list, Difference{Key: shortKey(key), Base: a[key], New: b[key]})
		}
	}
	slices.SortStableFunc(list, func(x, y Difference) int {
		return cmp.Compare(strings.Count(x.Key, "host.")+strings.Count(x.Key, "aiperf_version"),
			strings.Count(y.Key, "host.")+strings.Count(y.Key, "aiperf_version"))
	})
	return list
}

// indices are those in a path.
var indices = pattern.New(`\[(\d+)\]`)

// leftOut reports whether one of two configurations leaves a key out whose default the other writes, as runs of a series
// do.
func leftOut(key string, a, b map[string]string) bool {
	x, inA := a[key]
	y, inB := b[key]
	path, ofInput := strings.CutPrefix(key, "input_config.")
	if inA == inB || !ofInput {
		return false
	}
	value := cmp.Or(x, y)
	if strings.HasSuffix(path, ".stddev") {
		return value == "0"
	}
	k, ok := schema.Find("benchmark." + indices.ReplaceAllString(path, ""))
	if !ok || k.Default == nil {
		return ok && k.Holds() == schema.Switch && value == "false"
	}
	preset := k.Default
	if list, isList := preset.([]any); isList {
		at := indices.FindAllStringSubmatch(path, -1)
		if len(at) == 0 {
			return false
		}
		i, err := strconv.Atoi(at[len(at)-1][1])
		if err != nil || i >= len(list) {
			return false
		}
		preset = list[i]
	}
	return valueText(path, preset) == value
}

// shortKey leaves out the name of the member that holds the whole configuration.
func shortKey(key string) string {
	for _, of := range []string{"input_config.", "provenance.further_config.", "provenance."} {
		if rest, ok := strings.CutPrefix(key, of); ok {
			return rest
		}
	}
	return key
}

// flattened returns the values of a document by their paths, and the paths in their order.
func flattened(o artifact.Object) (keys []string, values map[string]string) {
	values = map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if slices.ContainsFunc(elsewhere, func(of string) bool { return path == of }) {
			return
		}
		switch v := v.(type) {
		case artifact.Object:
			for _, m := range v {
				walk(strings.TrimPrefix(path+"."+m.Key, "."), m.Value)
			}
			return
		case []any:
			for i, element := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), element)
			}
			return
		}
		if _, seen := values[path]; !seen {
			keys = append(keys, path)
		}
		values[path] = valueText(path, v)
	}
	walk("", o)
	return keys, values
}

// valueText is a value of the configuration as people write it, without secrets.
func valueText(path string, v any) string {
	text := fmt.Sprint(v)
	switch v := v.(type) {
	case json.Number:
		text = strings.TrimSuffix(v.String(), ".0")
	case string:
		text = artifact.RedactURLs(v)
		if v == "" {
			text = `""`
		}
	case nil:
		text = "null"
	}
	if name := path[strings.LastIndexByte(path, '.')+1:]; artifact.IsSensitiveName(name) {
		return artifact.Redacted
	}
	return shortened(text, 200)
}

// shortened cuts a text to so many columns.
func shortened(s string, longest int) string { return terminal.Cut(s, longest, "…") }

// configurationNote lists the keys that differ.
func configurationNote(base, next *System, list []Difference) string {
	const most = 8
	var keys []string
	for _, d := range list {
		keys = append(keys, d.Key)
	}
	more := ""
	if len(keys) > most {
		more = fmt.Sprintf(" and %d more", len(keys)-most)
		keys = keys[:most]
	}
	return fmt.Sprintf("%s and %s differ in their configuration: %s%s", base.Name, next.Name, strings.Join(keys, ", "),
		more)
}

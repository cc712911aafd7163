package sweep

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
)

// label is how a variation is called that has no name of its own: path=value, path=value.
func label(values artifact.Object) string {
	parts := make([]string, len(values))
	for i, m := range values {
		parts[i] = m.Key + "=" + pythonText(document.Of(m.Value))
	}
	return strings.Join(parts, ", ")
}

// folder is the name of a folder: leaf_value parts joined by two underscores, or the label if a value is no scalar.
func folder(values artifact.Object, label string) string {
	if len(values) == 0 {
		return FolderName(label)
	}
	parts := make([]string, len(values))
	for i, m := range values {
		switch m.Value.(type) {
		case artifact.Object, []any:
			return FolderName(label)
		}
		parts[i] = leaf(m.Key) + "_" + pythonText(document.Of(m.Value))
	}
	return FolderName(strings.Join(parts, "__"))
}

// leaf is the last segment of a path; of a distribution it is the name of what is distributed.
func leaf(path string) string {
	segments := strings.Split(path, ".")
	last := segments[len(segments)-1]
	if len(segments) == 1 {
		return last
	}
	switch above := segments[len(segments)-2]; last {
	case "mean", "value":
		return above
	case "stddev":
		return above + "_stddev"
	}
	return last
}

// longest is the length of a folder's name in bytes, which leaves room for the files in it on every system.
const longest = 180

// FolderName makes the name of a folder of a text: "" if nothing is left, or too much. That of a FolderName is itself.
func FolderName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\<>:"|?*`, r) || unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name)
	for strings.Contains(name, "..") {
		name = strings.ReplaceAll(name, "..", "")
	}
	name = strings.TrimLeft(strings.TrimRight(name, ". "), " ")
	if strings.Trim(name, ".") == "" || len(name) > longest {
		return ""
	}
	if stem, _, _ := strings.Cut(name, "."); isDevice(stem) {
		name = stem + "_" + name[len(stem):]
	}
	return name
}

// isDevice reports whether Windows takes a name for that of a device.
func isDevice(name string) bool {
	name = strings.ToUpper(strings.TrimSpace(name))
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, name) {
		return true
	}
	return (strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")) && len(name) == 4 && name[3] >= '1'
}

// folders gives variations without a usable folder one by their index, and reports two with the same folder: systems
// that ignore case would mix their files.
func (x *expansion) folders() {
	sampled := x.plan.Design != nil
	block := x.raw.Get("sweep")
	taken := map[string]int{}
	repeated := 0
	for i := range x.plan.Variations {
		v := &x.plan.Variations[i]
		if v.Dir == "" {
			v.Dir = fmt.Sprintf("variation_%d", i)
		}
		if first, twice := taken[strings.ToLower(v.Dir)]; twice && sampled {
			repeated++
			if v.Label == x.plan.Variations[first].Label {
				v.Label += fmt.Sprintf(", sample=%d", i)
			}
			v.Dir += fmt.Sprintf("__sample_%d", i)
		}
		if first, twice := taken[strings.ToLower(v.Dir)]; twice {
			other := x.plan.Variations[first].Label
			x.fault(block, "sweep", "variations %d (%s) and %d (%s) would write to the same folder %s; give them "+
				"names or values that differ in more than case and marks", first, fault.Shorten(other), i,
				fault.Shorten(v.Label), v.Dir)
			return
		}
		taken[strings.ToLower(v.Dir)] = i
	}
	if repeated > 0 {
		x.warn(block, "sweep", "%d of %d variations repeat the values of another one: the ranges hold fewer different "+
			"values", repeated, len(x.plan.Variations))
	}
}

// pythonText writes a value as the original does, in Python's words: True, None, 1e-05, {'mean': 5}; a text is itself.
// It leaves out what addresses hold of secrets.
func pythonText(n *document.Node) string {
	if s, ok := n.Scalar.(string); ok {
		return artifact.RedactURLs(s)
	}
	return artifact.RedactURLs(repr(n))
}

// repr writes a value as Python's repr does.
func repr(n *document.Node) string {
	switch v := n.Scalar.(type) {
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return fmt.Sprint(v)
	case float64:
		if !artifact.Finite(v) {
			return strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
		}
		return string(artifact.AppendFloat(nil, v))
	case string:
		return reprText(v)
	}
	switch n.Kind {
	case document.List:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = repr(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case document.Map:
		parts := make([]string, len(n.Members))
		for i, m := range n.Members {
			parts[i] = reprText(m.Key) + ": " + repr(m.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "None"
}

func reprText(s string) string {
	mark := `'`
	if strings.Contains(s, `'`) && !strings.Contains(s, `"`) {
		mark = `"`
	}
	escaped := strings.NewReplacer(`\`, `\\`, mark, `\`+mark, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	return mark + escaped + mark
}

// sampleName is the name of a point of a sampled sweep.
func sampleName(kind string, i int) string { return fmt.Sprintf("%s_%04d", kind, i) }

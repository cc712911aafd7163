package gpu

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/pattern"
)

// Custom is a field that the user's metrics file adds.
type Custom struct {
	Sample string // as DCGM names it
	Field  Field
	Scale  float64
}

// maxCustomLine bounds a line of a metrics file.
const maxCustomLine = 1 << 20

// ParseCustom reads a metrics file: lines "FIELD, type, help text", as the DCGM exporter's own configuration has
// them. What a line has wrong is a warning that names it, and the line is left out. The error is that of reading.
func ParseCustom(name string, r io.Reader) (custom []Custom, warnings []string, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxCustomLine)
	seen := map[string]bool{}
	for number := 1; lines.Scan(); number++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		m, problem := parseCustomLine(text)
		switch {
		case problem != "":
			warnings = append(warnings, fmt.Sprintf("%s:%d: %s; the line is skipped", name, number, problem))
		case isBuiltin(m.Sample) || seen[m.Field.Name]:
		default:
			seen[m.Field.Name] = true
			custom = append(custom, m)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	return custom, warnings, nil
}

func parseCustomLine(text string) (m Custom, problem string) {
	parts := strings.SplitN(text, ",", 3)
	if len(parts) < 3 {
		return m, fmt.Sprintf("expected FIELD, type, help text, got %d of these 3", len(parts))
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	sample, kind, help := parts[0], parts[1], parts[2]
	if !strings.HasPrefix(sample, "DCGM_FI_") {
		return m, fmt.Sprintf("%q does not start with DCGM_FI_", sample)
	}
	m = Custom{Sample: sample, Scale: 1, Field: Field{Platform: NVIDIA}}
	switch kind {
	case "gauge":
	case "counter":
		m.Field.Kind = Counter
	default:
		return m, fmt.Sprintf("the type %q is neither gauge nor counter", kind)
	}
	m.Field.Name = strings.ToLower(strings.TrimPrefix(sample, "DCGM_FI_DEV_"))
	m.Field.Display = displayName(help, m.Field.Name)
	m.Field.Unit, m.Scale = unitIn(help)
	return m, ""
}

// acronyms are written in capitals.
var acronyms = map[string]bool{
	"gpu": true, "xid": true, "sm": true, "nvlink": true, "pci": true, "pcie": true, "cpu": true, "ram": true,
	"vram": true, "ecc": true,
}

// displayName returns the help text up to its first parenthesis, or the name of the field, every word capitalised.
func displayName(help, field string) string {
	text, _, _ := strings.Cut(help, "(")
	if text = strings.TrimSpace(text); text == "" {
		text = strings.ReplaceAll(field, "_", " ")
	}
	words := strings.Fields(text)
	for i, w := range words {
		if acronyms[strings.ToLower(w)] {
			words[i] = strings.ToUpper(w)
			continue
		}
		first, size := utf8.DecodeRuneInString(w)
		words[i] = string(unicode.ToUpper(first)) + w[size:]
	}
	return strings.Join(words, " ")
}

var inUnit = pattern.New(`\(in ([^\s)]+)\)`)

// customUnits are the units that help texts name, and the scale to the unit shown. Binary multiples are shown as
// decimal ones.
var customUnits = map[string]struct {
	unit  string
	scale float64
}{
	"w": {"W", 1}, "%": {"%", 1}, "percent": {"%", 1}, "gb": {"GB", 1}, "mb": {"MB", 1}, "kb": {"KB", 1},
	"gib": {"GB", 1.073741824}, "mib": {"MB", 1.048576}, "kib": {"KB", 1.024},
	"mhz": {"MHz", 1}, "ghz": {"GHz", 1}, "c": {"°C", 1}, "°c": {"°C", 1}, "celsius": {"°C", 1},
	"count": {"count", 1}, "us": {"us", 1}, "ms": {"ms", 1}, "s": {"s", 1}, "mj": {"mJ", 1}, "j": {"J", 1},
}

// unitIn returns the unit that a help text names as (in X), count if it names none that is known.
func unitIn(help string) (unit string, scale float64) {
	if m := inUnit.FindStringSubmatch(help); m != nil {
		if u, ok := customUnits[strings.ToLower(m[1])]; ok {
			if strings.HasPrefix(m[1], "MJ") {
				return "MJ", 1
			}
			return u.unit, u.scale
		}
	}
	return "count", 1
}

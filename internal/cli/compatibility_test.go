package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/run"
)

// TestDocsOfCompatibility keeps the table of what is refused in docs/compatibility.md equal to what the program refuses
// of the options and commands of AIPerf 0.13: nothing is missing there, and nothing that is accepted stands there.
func TestDocsOfCompatibility(t *testing.T) {
	const path, begin, end = "../../docs/compatibility.md", "<!-- refused: written by make docs -->\n",
		"<!-- /refused -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no table between %q and %q", path, begin, end)
	}
	testkit.Golden(t, path, []byte(before+begin+refusedTable(t)+end+after))
}

// refusedTable has a row for each reason.
func refusedTable(t *testing.T) string {
	var reasons []string
	byReason := map[string][]string{}
	refuse := func(what, reason string) {
		if byReason[reason] == nil {
			reasons = append(reasons, reason)
		}
		byReason[reason] = append(byReason[reason], "`"+what+"`")
	}
	for _, o := range originalOptions(t, "profile") {
		for _, r := range refusals(t, o) {
			refuse(r.what, r.reason)
		}
	}
	for _, o := range option.All() {
		if !o.Sweep {
			continue
		}
		if reason, refused := unavailable("--"+o.Name, twoValues(&o)); refused {
			refuse("--"+o.Name+" A,B", reason)
		}
	}
	for _, c := range missingCommands {
		refuse("aiperf "+c.name, c.instead)
	}
	if len(reasons) == 0 {
		return "Nothing: every option and command of 0.13 is accepted.\n"
	}
	var b strings.Builder
	b.WriteString("| Flag or command | Status | Reason |\n|---|---|---|\n")
	for _, reason := range reasons {
		fmt.Fprintf(&b, "| %s | refused | %s |\n", strings.Join(byReason[reason], " "), reason)
	}
	return b.String()
}

type refusal struct{ what, reason string }

// refusals are the spellings of an option that the program refuses for what it lacks, and why: the option as a whole,
// or some of its values.
func refusals(t *testing.T, o originalOption) []refusal {
	t.Helper()
	if o.kind == "flag" {
		if reason, refused := unavailable(o.name); refused {
			return []refusal{{o.name, reason}}
		}
		return nil
	}
	var out []refusal
	for _, value := range o.values {
		if ours, known := ourOption(o.name); known && ours.MustExist {
			value = existingFile(t)
		}
		reason, refused := unavailable(o.name, value)
		if strings.HasPrefix(reason, "use ") {
			reason = "`aiperf profile --help` lists the values that there are"
		}
		if refused {
			out = append(out, refusal{o.name + " " + value, reason})
		}
	}
	if len(out) == len(o.values) {
		return []refusal{{o.name, out[0].reason}}
	}
	return out
}

// unavailable reports why the program refuses arguments for what it lacks.
func unavailable(args ...string) (reason string, refused bool) {
	p, err := settings.Parse(append([]string{"--url", "http://h", "--model", "m"}, args...),
		func(string) (string, bool) { return "", false })
	if err != nil {
		return "", false
	}
	_, _, err = resolve.Resolve(p, run.Catalog{})
	var faults fault.List
	if !errors.As(err, &faults) {
		return "", false
	}
	for _, f := range faults {
		if f.Rule == fault.Unavailable {
			_, reason, _ := strings.Cut(f.Message, "not available in this release: ")
			return reason, true
		}
	}
	return "", false
}

// twoValues is a list that makes an option a dimension of a sweep.
func twoValues(o *option.Option) string {
	first := 1.0
	for !o.Limits.Contains(first) || !o.Limits.Contains(first/2) {
		first *= 2
	}
	if o.Type == option.Float {
		return fmt.Sprintf("%v,%v", first, first/2)
	}
	return fmt.Sprintf("%v,%v", first*2, first*4)
}

func existingFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

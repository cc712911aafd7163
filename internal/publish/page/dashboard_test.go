package page

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/publish/progress"
)

// dashboard is what the test reads of docs/grafana-dashboard.json.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Query string }
	}
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, LegendFormat string }
	}
}

var (
	metricName = regexp.MustCompile(`\baiperf_[a-z0-9_]+`)
	selector   = regexp.MustCompile(`(aiperf_[a-z0-9_]+)\{([^}]*)\}`)
	labelName  = regexp.MustCompile(`(\w+)\s*(?:=~|=|!=)`)
	grouping   = regexp.MustCompile(`by \(([^)]*)\)`)
	legendPart = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// familyOf finds the family of a metric's name as queries write it.
func familyOf(name string) (Family, bool) {
	for _, f := range allFamilies() {
		if f.Name == name && f.Type != "histogram" {
			return f, true
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if f.Type == "histogram" && f.Name+suffix == name {
				return f, true
			}
		}
	}
	return Family{}, false
}

// Each query of the dashboard asks for families that the page has, by labels that they have.
func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	ofTheScrape := []string{"instance", "run", "le"}
	check := func(where, expr string) {
		names := metricName.FindAllString(expr, -1)
		if len(names) == 0 {
			t.Errorf("%s asks for nothing: %s", where, expr)
		}
		var labels []string
		for _, name := range names {
			f, found := familyOf(name)
			if !found {
				t.Errorf("%s asks for %s, which no page has", where, name)
			}
			labels = append(labels, f.Labels...)
		}
		for _, m := range selector.FindAllStringSubmatch(expr, -1) {
			f, _ := familyOf(m[1])
			for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(append(ofTheScrape, f.Labels...), l[1]) {
					t.Errorf("%s selects %s by the label %s, which it has not", where, m[1], l[1])
				}
			}
		}
		for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
			for l := range strings.SplitSeq(m[1], ",") {
				if l = strings.TrimSpace(l); !slices.Contains(append(ofTheScrape, labels...), l) {
					t.Errorf("%s groups by the label %s, which is not there", where, l)
				}
			}
		}
	}
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %q: its number is another's, or it is too wide", p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			check("panel "+p.Title, target.Expr)
			for _, l := range legendPart.FindAllStringSubmatch(target.LegendFormat, -1) {
				if f, _ := familyOf(metricName.FindString(target.Expr)); !slices.Contains(append(ofTheScrape,
					f.Labels...), l[1]) {
					t.Errorf("panel %s names series by the label %s, which is not there", p.Title, l[1])
				}
			}
		}
	}
	if len(ids) < 15 {
		t.Errorf("only %d panels were read", len(ids))
	}
	for _, v := range d.Templating.List {
		if strings.Contains(v.Query, "label_values") {
			check("variable "+v.Name, v.Query)
		}
	}
}

// The list of Families is that of the page: a run that has everything has all of them.
func TestThePageHasAllFamilies(t *testing.T) {
	p := &Page{}
	run := runOf(t, "run_0001")
	number, count, duration := 5, int64(10), 2500*time.Millisecond
	for i := range run.Phases {
		run.Phases[i] = progress.Plan{Kind: run.Phases[i].Kind, Concurrency: &number, PrefillConcurrency: &number,
			Rate: 1.5, Requests: &count, Duration: &duration}
	}
	p.Begin(run)
	p.Record(failed("Timeout", 0))
	s := halfDone()
	s.Client.Figures = nil
	s.Accuracy = &progress.Accuracy{Correct: 3, Total: 4}
	for name, family := range clientFamilies {
		labels := []string{"a", "b"}[:len(family.Labels)]
		s.Client.Figures = append(s.Client.Figures, progress.Figure{Name: name, Labels: labels, Value: 1})
	}
	p.Show(s)
	families, err := p.Gather()
	if err != nil {
		t.Fatal(err)
	}
	listed := allFamilies()
	for _, f := range families {
		at := slices.IndexFunc(listed, func(l Family) bool { return l.Name == f.GetName() })
		if at < 0 {
			t.Errorf("%s is on the page but not in the list", f.GetName())
			continue
		}
		l := listed[at]
		listed = slices.Delete(listed, at, at+1)
		if want := strings.ToLower(f.GetType().String()); l.Type != want || l.Help != f.GetHelp() {
			t.Errorf("%s: a %s in the list, a %s on the page", l.Name, l.Type, want)
		}
		for _, m := range f.Metric {
			for _, label := range m.Label {
				if !slices.Contains(append(l.Labels, "run"), label.GetName()) {
					t.Errorf("%s has the label %s on the page", l.Name, label.GetName())
				}
			}
		}
	}
	for _, l := range listed {
		t.Errorf("%s is in the list but not on the page", l.Name)
	}
}

// docs/telemetry.md has a row for each family.
func TestThePageIsDescribed(t *testing.T) {
	text, err := os.ReadFile("../../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Live Prometheus page\n")
	if !found {
		t.Fatal("the page lacks the section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string]bool{}
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| `aiperf_") {
			rows[strings.TrimSpace(line)] = true
		}
	}
	for _, f := range allFamilies() {
		row := "| `" + f.Name + "` | " + f.Type + " | " + strings.Join(f.Labels, ", ") + " | " + f.Help + " |"
		if !rows[row] {
			t.Errorf("the section lacks the row\n%s", row)
		}
		delete(rows, row)
	}
	for row := range rows {
		t.Errorf("no family is that of the row\n%s", row)
	}
}

// allFamilies lists all that can stand on a page.
func allFamilies() []Family {
	phase := []string{"phase"}
	list := []Family{infoFamily}
	for _, t := range []total{outcomes, good} {
		list = append(list, Family{t.name, "counter", t.help, phase})
	}
	list[1].Labels = []string{"phase", "outcome"}
	list = append(list, Family{failures.name, "counter", failures.help, []string{"phase", "type", "code"}})
	for _, t := range totals {
		list = append(list, Family{t.name, "counter", t.help, phase})
	}
	for _, d := range distributions {
		list = append(list, Family{d.name, "histogram", d.help, phase})
	}
	for _, l := range lags {
		list = append(list, Family{l.name, "histogram", l.help, phase})
	}
	for _, l := range snapshotFamilies {
		list = append(list, l.Family)
	}
	return list
}

package prom_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/watch/prom"
)

// labelText writes labels as they stand in a page.
func labelText(labels []prom.Label) string {
	var parts []string
	for _, l := range labels {
		parts = append(parts, fmt.Sprintf("%s=%q", l.Name, l.Value))
	}
	return strings.Join(parts, ",")
}

// dump writes samples as lines: type, name, labels, and the value or the buckets, count and sum.
func dump(samples []prom.Sample) string {
	var b strings.Builder
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, s := range samples {
		fmt.Fprintf(&b, "%s %s{%s}", s.Series.Family.Type, s.Series.Family.Name, labelText(s.Series.Labels))
		if !s.Series.Family.Type.Bucketed() {
			b.WriteString(" " + number(s.Value) + "\n")
			continue
		}
		for i, bound := range s.Series.Bounds {
			fmt.Fprintf(&b, " %s:%s", bound, number(s.Buckets[i]))
		}
		b.WriteString(" count " + number(s.Count) + " sum " + number(s.Sum) + "\n")
	}
	return b.String()
}

// collected are the notices of a parser.
type collected []string

func (c *collected) add(kind prom.NoticeKind, name, _ string) {
	*c = append(*c, string(kind)+" "+name)
}

// parse reads bodies with one parser; the result is the dump of the last one.
func parse(t testing.TB, bodies ...string) (string, collected) {
	t.Helper()
	var notices collected
	p := prom.NewParser(prom.Options{Notice: notices.add})
	got := ""
	for _, body := range bodies {
		samples, err := p.Parse([]byte(body), false)
		if err != nil {
			t.Fatalf("%v in\n%s", err, body)
		}
		got = dump(samples)
	}
	return got, notices
}

// lines makes a body of lines.
func lines(s ...string) string {
	if len(s) == 0 {
		return ""
	}
	return strings.Join(s, "\n") + "\n"
}

// check compares the samples of the last body, and all notices.
func check(t *testing.T, want string, wantNotices []string, bodies ...string) {
	t.Helper()
	got, notices := parse(t, bodies...)
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if g, w := strings.Join(notices, "\n"), strings.Join(wantNotices, "\n"); g != w {
		t.Errorf("notices\n%s\nwant\n%s", g, w)
	}
}

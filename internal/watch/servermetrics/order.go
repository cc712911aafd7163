package servermetrics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/watch/prom"
)

// Family is a metric over all endpoints.
type Family struct {
	prom.Family
	Series []*Series // sorted by endpoint, then by label text
}

// Families returns the families of all endpoints, sorted by name, and warnings about endpoints that disagree
// about a type: the first one that has the family, in order of configuration, decides about type and
// description; the series of the others are left out.
func (s *Store) Families() ([]Family, []string) {
	return s.familiesOf((*EndpointStore).Series)
}

// familiesOf returns the families of some series of each endpoint.
func (s *Store) familiesOf(list func(*EndpointStore) []*Series) ([]Family, []string) {
	at := map[string]int{}
	var families []Family
	var warnings []string
	for _, e := range s.Endpoints() {
		disagreed := map[string]bool{}
		for _, series := range list(e) {
			i, known := at[series.Family.Name]
			if !known {
				i = len(families)
				at[series.Family.Name] = i
				families = append(families, Family{Family: *series.Family})
			}
			f := &families[i]
			if f.Type == series.Family.Type {
				f.Series = append(f.Series, series)
			} else if !disagreed[f.Name] {
				disagreed[f.Name] = true
				warnings = append(warnings, fmt.Sprintf("Server metrics: %s is a %s at %s, but a %s elsewhere; its "+
					"series there are left out",
					f.Name, series.Family.Type, e.url, f.Type))
			}
		}
	}
	slices.SortFunc(families, func(a, b Family) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range families {
		sortSeries(f.Series)
	}
	return families, warnings
}

// sortSeries sorts by endpoint, then by label text.
func sortSeries(series []*Series) {
	type labelled struct {
		*Series
		text string
	}
	list := make([]labelled, len(series))
	for i, s := range series {
		list[i] = labelled{s, LabelText(s.Labels)}
	}
	slices.SortStableFunc(list, func(a, b labelled) int {
		if c := cmp.Compare(a.endpoint.url, b.endpoint.url); c != 0 {
			return c
		}
		return cmp.Compare(a.text, b.text)
	})
	for i, s := range list {
		series[i] = s.Series
	}
}

// LabelText returns the text by which exports order label sets: {'k': 'v', 'k2': 'v2'}, empty without labels.
func LabelText(labels []prom.Label) string {
	if len(labels) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, l := range labels {
		if i > 0 {
			b.WriteString(", ")
		}
		quote(&b, l.Name)
		b.WriteString(": ")
		quote(&b, l.Value)
	}
	b.WriteByte('}')
	return b.String()
}

// quote writes a string in single quotes, in double ones if it holds single and no double quotes.
func quote(b *strings.Builder, s string) {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b.WriteByte(q)
	for i := range len(s) {
		switch c := s[i]; {
		case c == q || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte(q)
}

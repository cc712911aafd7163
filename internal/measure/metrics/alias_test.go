package metrics

import "testing"

func TestAliasesStandForMetricsAndHideNone(t *testing.T) {
	for _, a := range Aliases() {
		if _, known := Lookup(a.Tag); !known {
			t.Errorf("alias %s stands for %s, which is no metric", a.Name, a.Tag)
		}
		if _, taken := Lookup(a.Name); taken {
			t.Errorf("alias %s is a metric itself", a.Name)
		}
		if Canonical(a.Name) != a.Tag || Canonical(a.Tag) != a.Tag {
			t.Errorf("alias %s becomes %s", a.Name, Canonical(a.Name))
		}
	}
	if slo, err := NewSLO("ttft", 5); err != nil || slo.Tag != "time_to_first_token" {
		t.Errorf("%v, %v", slo, err)
	}
}

package resolve

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
)

func TestOTelOptions(t *testing.T) {
	for _, tt := range []struct {
		flags           string
		url             string
		metrics, timing bool
	}{
		{"", "", false, false},
		{"--otel-url c", "//c", true, true},
		{"--otel-url c:1 --stream", "//c:1", true, true},
		{"--otel-url HTTPS://c/x --stream default", "https://c/x", true, true},
		{"--otel-url grpc://c --stream timing", "grpc://c", false, true},
		{"--otel-url c --stream metrics", "//c", true, false},
		{"--otel-url c --stream metrics,timing", "//c", true, true},
		{"--otel-url c --stream timing default", "//c", true, true},
	} {
		p, err := settings.Parse(strings.Fields("-m m "+tt.flags), func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := Resolve(p, fakeCatalog{})
		if err != nil {
			t.Fatalf("%s: %v", tt.flags, err)
		}
		got := ""
		if r.OTel.URL != nil {
			got = r.OTel.URL.String()
		}
		if got != tt.url || r.OTel.Metrics != tt.metrics || r.OTel.Timing != tt.timing {
			t.Errorf("%s: %q %v %v", tt.flags, got, r.OTel.Metrics, r.OTel.Timing)
		}
	}
}

func TestOTelAttributesOfOneNameReplaceOneAnother(t *testing.T) {
	got, err := parse.Attributes([]string{"a=1", " b = x=y ", "a=2", "c="})
	want := []config.Attribute{{Name: "a", Value: "2"}, {Name: "b", Value: "x=y"}, {Name: "c", Value: ""}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

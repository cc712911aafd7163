package servermetrics

import (
	"testing"

	"aiperf/internal/watch/prom"
)

func TestLabelText(t *testing.T) {
	for _, c := range []struct {
		labels []prom.Label
		want   string
	}{
		{nil, ""},
		{[]prom.Label{{Name: "k", Value: "v"}}, `{'k': 'v'}`},
		{[]prom.Label{{Name: "k", Value: "v"}, {Name: "k2", Value: ""}}, `{'k': 'v', 'k2': ''}`},
		{[]prom.Label{{Name: "k", Value: `it's`}}, `{'k': "it's"}`},
		{[]prom.Label{{Name: "k", Value: `it's "so"`}}, `{'k': 'it\'s "so"'}`},
		{[]prom.Label{{Name: "k", Value: "a\\b\nc\td\re\x01f"}}, `{'k': 'a\\b\nc\td\re\x01f'}`},
		{[]prom.Label{{Name: "k", Value: "Zürich"}}, `{'k': 'Zürich'}`},
	} {
		if got := LabelText(c.labels); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestSeriesAreSortedByEndpointThenLabels(t *testing.T) {
	store := NewStore(Options{})
	family := &prom.Family{Name: "x", Type: prom.Gauge}
	other := &prom.Family{Name: "a", Type: prom.Gauge, Help: "first"}
	for _, url := range []string{"http://b", "http://a"} {
		var samples []prom.Sample
		for _, labels := range [][]prom.Label{{{Name: "k", Value: "2"}}, {{Name: "k", Value: "10"}}, nil,
			{{Name: "a", Value: "z"}}} {
			samples = append(samples, prom.Sample{Series: &prom.Series{Family: family, Labels: labels}})
		}
		store.Endpoint(url).Add(Scrape{Samples: append(samples, samplesOf(&prom.Series{Family: other}, 1)...)})
		other = &prom.Family{Name: "a", Type: prom.Gauge, Help: "second"}
	}
	r := Compute(store, Settings{Phase: Window{0, 1}})
	if len(r.Families) != 2 || r.Families[0].Name != "a" || r.Families[0].Help != "first" {
		t.Fatalf("families are %+v", r.Families)
	}
	var got string
	for _, s := range r.Families[1].Series {
		got += s.EndpointURL + LabelText(s.Labels) + " "
	}
	const want = "http://a http://a{'a': 'z'} http://a{'k': '10'} http://a{'k': '2'} " +
		"http://b http://b{'a': 'z'} http://b{'k': '10'} http://b{'k': '2'} "
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

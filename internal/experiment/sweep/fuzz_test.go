package sweep_test

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/config/document"
	"aiperf/internal/experiment/sweep"
)

func FuzzExpand(f *testing.F) {
	for _, s := range []string{
		`sweep: {type: grid, parameters: {rate: [1, 2], concurrency: [8, 16]}}`,
		`sweep: {type: zip, parameters: {phases.0.rate: [1, 2], datasets.main.isl: [{mean: 1}, {value: 2}]}}`,
		runs(`{name: a, benchmark: {phases: [{name: profiling, rate: 100}], dataset: {isl: 3}, model: x}}, ` +
			`{values: {a: 1}}`),
		sobol(`samples: 4, dimensions: [{path: concurrency, lo: 1, hi: 64, kind: int, scale: log}, ` +
			`{path: variables.x, choices: [a, b]}]`),
		`sweep: {type: latin_hypercube, samples: 5, optimization: random-cd, dimensions: [{path: rate, lo: 1, ` +
			`hi: 2}, {path: endpoint.timeout, lo: 1, hi: 2}]}`,
		`sweep: {type: adaptive_search, max_iterations: 9, objectives: [{metric: a, direction: maximize}], ` +
			`search_space: [{path: users, lo: 1, hi: 9, kind: int}]}`,
	} {
		f.Add(s + body)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := document.Read("f.yaml", []byte(text))
		if err != nil || len(text) > 10_000 {
			return
		}
		before := fmt.Sprintf("%#v", file.Root.Any())
		p, err := sweep.Expand(file, file.Root)
		if err != nil {
			return
		}
		if len(p.Variations) > sweep.MaxVariations {
			t.Fatalf("%d variations", len(p.Variations))
		}
		folders := map[string]bool{}
		for i := range p.Variations {
			v := &p.Variations[i]
			if folders[strings.ToLower(v.Dir)] || sweep.FolderName(v.Dir) != v.Dir || v.Dir == "" {
				t.Fatalf("folder %q of %q", v.Dir, v.Label)
			}
			folders[strings.ToLower(v.Dir)] = true
			if i < 20 {
				v.Envelope().Set("benchmark", document.Of(nil))
			}
		}
		if fmt.Sprintf("%#v", file.Root.Any()) != before {
			t.Fatal("expanding changed the tree")
		}
	})
}

package document_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/config/document"
)

// seeds are files of all kinds.
var seeds = []string{
	"a: 1\n", "a:\n  - b: [1, {c: d}]\n    e: 'f'\n  - |\n    g\n", "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n",
	`{"a": [1, 2.5e3, null, "\u00e4"]}`, "%YAML 1.2\n---\na: >-\n  b\n  c\n...\n", "? a\n: !!str 1\n",
	"a: \"{{ b | int }}\"\nvariables: {b: '${C:1}'}\n", "a: [\n- b\n", "\ta: 1", "a: *a\n", "a: &a [*a]\n",
	"- - - a\n", "a: b: c\n", "a: \"\\x41\n  b\"\n", "a:\r\n  b: |+\r\n\r\n", "\ufeffa: 1", "a: {b, c: , ? d}\n",
	bomb(3),
}

func FuzzRead(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := document.Read("f.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") || strings.Contains(err.Error(), "runtime error") {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := document.Read("f.yaml", document.AppendYAML(nil, file.Root, 0))
		if err != nil {
			t.Fatalf("%v\nof:\n%s", err, document.AppendYAML(nil, file.Root, 0))
		}
		if diff := cmp.Diff(file.Root, again.Root, same); diff != "" {
			t.Fatalf("%s\nof:\n%s", diff, document.AppendYAML(nil, file.Root, 0))
		}
	})
}

// same compares trees by what they say.
var same = cmp.Options{
	cmpopts.IgnoreFields(document.Node{}, "Pos", "Written"), cmpopts.IgnoreFields(document.Member{}, "Pos"),
	cmpopts.EquateEmpty(), cmpopts.EquateNaNs(),
}

func FuzzRender(f *testing.F) {
	for _, text := range append(seeds,
		"variables: {a: '{{ b }}', b: '{{ a }}'}\n", "a: '{% for x in b %}{{ x }}{% endfor %}'\nb: [1, 2]\n",
		"a: '${B'\n", "a: '{{'\n", "a: '{% if'\n",
		"benchmark: {phases: [{name: p, rate: '{{ a ** 2 }}'}]}\na: '${B}'\n",
	) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := document.Read("f.yaml", text)
		if err != nil {
			return
		}
		if err := document.Environment(file, lookup(map[string]string{"B": "{{ a }}", "C": "2"})); err != nil {
			return
		}
		before := file.Root.Clone()
		root, err := document.Render(file, file.Root)
		if diff := cmp.Diff(before, file.Root, same); diff != "" {
			t.Fatalf("the tree that was read was changed: %s", diff)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") || strings.Contains(err.Error(), "runtime error") {
				t.Fatalf("%v", err)
			}
			return
		}
		if len(root.Members) != len(before.Members) {
			t.Fatalf("%d keys became %d", len(before.Members), len(root.Members))
		}
	})
}

// BenchmarkFile reads a file of a thousand lines with variables of the environment and templates.
func BenchmarkFile(b *testing.B) {
	var text strings.Builder
	text.WriteString("variables:\n  base: 16\n  double: \"{{ base * 2 }}\"\nbenchmark:\n  phases:\n")
	lines := 5
	for ; lines < 1000; lines += 10 {
		text.WriteString(`  - name: phase
    # what it is for
    type: poisson
    rate: "{{ double * 2 }}"
    duration: ${DURATION:30s}
    concurrency: 8
    headers: {x-one: "a text", x-two: 'another'}
    list: [1, 2, 3, 4.5]
    nested:
      deep: {mean: 512, stddev: 10}
`)
	}
	data := []byte(text.String())
	b.ReportAllocs()
	for b.Loop() {
		f, err := document.Read("f.yaml", data)
		if err != nil {
			b.Fatal(err)
		}
		if err := document.Environment(f, lookup(nil)); err != nil {
			b.Fatal(err)
		}
		if _, err := document.Render(f, f.Root); err != nil {
			b.Fatal(err)
		}
	}
}

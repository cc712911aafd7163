package metrics

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/record"
)

func TestDocsOfTheMetrics(t *testing.T) {
	testkit.Golden(t, "../../../docs/metrics.md", []byte(Markdown()))
}

// Every row is complete, and has exactly the code its kind needs.
func TestTableRowsAreComplete(t *testing.T) {
	tagForm := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, d := range Table() {
		if !tagForm.MatchString(d.Tag) || d.Header == "" || d.Short == "" || d.Doc == "" || d.Formula == "" ||
			d.Absent == "" || d.Unit == "" || d.Display == "" || d.Group == "" {
			t.Errorf("%s: an empty column: %+v", d.Tag, d)
		}
		if !strings.HasSuffix(d.Doc, ".") {
			t.Errorf("%s: the meaning is no sentence: %s", d.Tag, d.Doc)
		}
		if back := d.toDisplay() * d.toInternal(); !near(back, 1) {
			t.Errorf("%s: %s → %s → %s is × %v", d.Tag, d.Unit, d.Display, d.Unit, back)
		}
		for _, code := range []struct {
			formulas string
			n        int
			wanted   bool
		}{
			{"a row", int(count(d.integer != nil) + count(d.float != nil) + count(d.list)), d.Kind.HasRows()},
			{"an aggregate", int(count(d.increment != nil)), d.Kind == KindAggregate},
			{"a derived one", int(count(d.derive != nil)), d.Kind == KindDerived},
		} {
			if code.n != int(count(code.wanted)) {
				t.Errorf("%s (%s): %d formulas of %s", d.Tag, d.Kind, code.n, code.formulas)
			}
		}
	}
}

// A record metric reads only the facts it declares, and each of them matters: the column store
// decodes no others.
func TestRecordMetricsReadWhatTheyDeclare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range Table() {
		if !d.Kind.HasRows() || d.list {
			continue
		}
		if none := record.NewFacts(); len(d.reads) == 1 { // the engine does not ask for it then
			if v, ok := d.value(&none); ok {
				t.Errorf("%s is %v without its only fact", d.Tag, v)
			}
		}
		matters := map[record.Field]bool{}
		for range testkit.Seeds(500, 3000) {
			row := randomFacts(rng)
			v, ok := d.value(&row)
			bare := record.NewFacts()
			for _, i := range d.reads {
				bare[i] = row[i]
			}
			if w, has := d.value(&bare); w != v || has != ok {
				t.Fatalf("%s reads facts other than %v", d.Tag, d.reads)
			}
			for _, i := range d.reads {
				changed := bare
				changed[i] = record.Absent
				if w, has := d.value(&changed); w != v || has != ok {
					matters[i] = true
				}
			}
		}
		for _, i := range d.reads {
			if !matters[i] {
				t.Errorf("%s declares fact %d, which never matters", d.Tag, i)
			}
		}
	}
}

// No rate is a quotient of noise: none has more in a second than all of it in the error of an instant.
func TestNoRateIsAQuotientOfNoise(t *testing.T) {
	perSecond := map[Unit]bool{TokensPerSecond: true, TokensPerSecondPerUser: true, ImagesPerSecond: true,
		ImagesPerSecondPerUser: true}
	rapid.Check(t, func(t *rapid.T) {
		cfg := chatConfig()
		cfg.SupportsImage, cfg.ProducesImages = true, true
		set, err := NewSet(cfg)
		if err != nil {
			t.Fatal(err)
		}
		e := set.NewEngine()
		gap := rapid.SampledFrom([]int64{0, 1, 7, 1000, int64(record.InstantError) - 1, int64(record.InstantError), ms})
		most := 0.0
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			first := gap.Draw(t, "first")
			second := first + gap.Draw(t, "second")
			last := second + gap.Draw(t, "last")
			r := success(rapid.Int64Range(0, 3*ms).Draw(t, "start"), last+gap.Draw(t, "end"), first, second, last)
			n := rapid.Int64Range(0, 1000)
			r.Facts[record.InputTokens], r.Facts[record.OutputTokens] = n.Draw(t, "input"), n.Draw(t, "output")
			r.Facts[record.Images] = n.Draw(t, "images")
			most += float64(r.Facts[record.InputTokens] + r.Facts[record.OutputTokens] + r.Facts[record.Images])
			e.Add(r)
		}
		limit := most / record.InstantError.Seconds() * (1 + 1e-9)
		for _, r := range e.Results() {
			if perSecond[Unit(r.Unit)] && max(r.Stats.Avg, r.Stats.Max) > limit {
				t.Fatalf("%s is %v, of %v at once", r.Tag, r.Stats, most)
			}
		}
	})
}

// randomFacts draws small numbers, so that ties, zeros and contradictions occur.
func randomFacts(rng *rand.Rand) record.Facts {
	f := record.NewFacts()
	for i := range f {
		if rng.IntN(4) > 0 {
			f[i] = rng.Int64N(6)
			if record.Field(i) < record.Contents || record.Field(i) == record.ReadLag {
				f[i] *= tick
			}
		}
	}
	return f
}

func TestOrdersAreUniqueWithinATable(t *testing.T) {
	type place struct {
		group Group
		order int
	}
	seen := map[place]string{}
	for _, d := range Table() {
		if d.Order == 0 {
			continue
		}
		at := place{d.Group, d.Order}
		if other := seen[at]; other != "" {
			t.Errorf("%s and %s both stand at %v", d.Tag, other, at)
		}
		seen[at] = d.Tag
	}
}

func TestUnfitDependenciesAreStartUpErrors(t *testing.T) {
	none := func(*scalars) (float64, bool) { return 0, false }
	derived := func(tag string, requires ...string) Definition {
		return Definition{Tag: tag, Kind: KindDerived, Requires: requires, derive: none}
	}
	for _, c := range []struct {
		name string
		defs []Definition
		want string
	}{
		{"unknown", []Definition{derived("a", "b")}, "a depends on the unknown metric b"},
		{"cycle of one", []Definition{derived("a", "a")}, "a depends on itself"},
		{"cycle of three", []Definition{derived("a", "b"), derived("b", "c"), derived("c", "a")},
			"a depends on itself"},
		{"optional cycle", []Definition{derived("a", "b"), {Tag: "b", Kind: KindDerived, Uses: []string{"a"}}},
			"a depends on itself"},
		{"upwards", []Definition{{Tag: "r", Kind: KindRecord, Requires: []string{"a"}}, derived("a")},
			"r (record) cannot depend on a (derived)"},
		{"twice", []Definition{derived("a"), derived("a")}, "a is defined twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newSet(c.defs, DefaultConfig())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestEvaluationOrderPutsDependenciesFirst(t *testing.T) {
	defs := Table()
	slices.Reverse(defs)
	order, err := evaluationOrder(defs)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, n := range order {
		at[defs[n].Tag] = i
	}
	for _, d := range defs {
		for _, tag := range slices.Concat(d.Requires, d.Uses) {
			if at[tag] > at[d.Tag] {
				t.Errorf("%s is computed before %s, which it needs", d.Tag, tag)
			}
		}
	}
	if len(order) != len(defs) {
		t.Errorf("%d of %d metrics are in the order", len(order), len(defs))
	}
}

func TestFlagNames(t *testing.T) {
	f := StreamingTokensOnly | LargerIsBetter | FixedScheduleOnly
	if got := strings.Join(flagsOf(f), " "); got != "STREAMING_ONLY PRODUCES_TOKENS_ONLY LARGER_IS_BETTER FIXED_SCHEDULE_ONLY" {
		t.Errorf("flags print as %q", got)
	}
}

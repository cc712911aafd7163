package page

import (
	"testing"

	"aiperf/internal/base/clock"
	"aiperf/internal/mockserver/api"
)

var model = []byte(`"m"`)

// accounted enters a whole reply of some tokens.
func accounted(a *Account, r *api.Reply, tokens int) {
	r.Request.Model = model
	r.Plan = api.Plan{PromptTokens: 10, Content: tokens, Finish: "stop"}
	a.Begin(r)
	a.Admit(100)
	a.Place(1)
	for k := range tokens - 1 {
		a.Write(1000, k+1, nil)
	}
	a.Write(2000, tokens, &Ending{Bytes: 50, Status: 200, Output: tokens, Parsed: true, Whole: true})
}

func exporter(t testing.TB, o Options) *Exporter {
	e, err := NewExporter(o, clock.New())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAccountsAllocateNothing(t *testing.T) {
	tally := exporter(t, Options{}).Tally()
	a := tally.Account()
	r := api.Reply{Arrival: 1}
	allocs := testing.AllocsPerRun(100, func() { accounted(&a, &r, 3) })
	if sum := tally.collect(); allocs != 0 || sum.count[cStop] == 0 || sum.level != [levels]int64{} {
		t.Errorf("%v allocations for each request, %v", allocs, sum.level)
	}
}

func BenchmarkAccount(b *testing.B) {
	a := exporter(b, Options{}).Tally().Account()
	r := api.Reply{Arrival: 1}
	b.ReportAllocs()
	for b.Loop() {
		accounted(&a, &r, 1)
	}
}

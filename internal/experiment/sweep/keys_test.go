package sweep_test

import (
	"testing"

	"aiperf/internal/config/schema"
)

// The table for editors has the keys that the block is read by: an unknown one is refused with the list of those of its
// type, in their order.
func TestSchemaHasTheKeysOfTheBlock(t *testing.T) {
	table, _ := schema.Find("sweep")
	kinds, _ := table.Field("type")
	for _, kind := range kinds.Values {
		names := ""
		for _, f := range table.Fields {
			if f.Has(kind) {
				names += ", " + f.Name
			}
		}
		wantFault(t, "sweep: {type: "+kind+", qqqqqqqqqqqqqqqqqqqqqqqqq: 1}", body, "known are "+names[2:])
	}
	for list, block := range map[string]string{
		"search_space":        "{type: adaptive_search, search_space: [{qqqqqqqqqqqqqqqqqqqqqqqqq: 1}]}",
		"objectives":          "{type: adaptive_search, objectives: [{qqqqqqqqqqqqqqqqqqqqqqqqq: 1}]}",
		"outcome_constraints": "{type: adaptive_search, outcome_constraints: [{qqqqqqqqqqqqqqqqqqqqqqqqq: 1}]}",
		"sla_tiers":           "{type: adaptive_search, sla_tiers: [{qqqqqqqqqqqqqqqqqqqqqqqqq: 1}]}",
		"sla_filters":         "{type: grid, sla_filters: [{qqqqqqqqqqqqqqqqqqqqqqqqq: 1}]}",
		"post_process":        "{type: grid, post_process: {qqqqqqqqqqqqqqqqqqqqqqqqq: 1}}",
		"runs":                "{type: scenarios, runs: [{qqqqqqqqqqqqqqqqqqqqqqqqq: 1}]}",
		"dimensions":          "{type: sobol, dimensions: [{qqqqqqqqqqqqqqqqqqqqqqqqq: 1}]}",
	} {
		section, _ := table.Field(list)
		names := ""
		for _, f := range section.Fields {
			names += ", " + f.Name
		}
		if names == "" {
			t.Fatalf("%s has no keys in the table", list)
		}
		wantFault(t, "sweep: "+block, body, "known are "+names[2:])
	}
}

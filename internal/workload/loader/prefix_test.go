package loader

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

// prefixes are the known and all blocks of the turns, conversation by conversation.
func prefixes(d *dataset.Dataset) string {
	var all []string
	for i := range d.All() {
		var turns []string
		for _, t := range d.At(i).Turns {
			if t.Prefix == nil {
				turns = append(turns, "-")
				continue
			}
			turns = append(turns, fmt.Sprintf("%d/%d", t.Prefix.Hits, t.Prefix.Blocks))
		}
		all = append(all, strings.Join(turns, " "))
	}
	return strings.Join(all, ", ")
}

// The longest beginning counts that any request of the same recording has sent before, whoever sent it.
func TestKnownBlocksOfRecordings(t *testing.T) {
	trace := `{"id":"%s","models":["m"],"block_size":64,"hash_id_scope":"local","requests":[` +
		`{"t":0,"type":"n","model":"m","in":256,"out":1,"hash_ids":[1,2,3,4],"api_time":1},` +
		`{"t":2,"type":"subagent","agent_id":"a","requests":[{"t":2,"type":"n","model":"m","in":192,"out":1,"hash_ids":[1,2,9],"api_time":1}]},` +
		`{"t":5,"type":"n","model":"m","in":256,"out":1,"hash_ids":[1,2,9,4],"api_time":1},` +
		`{"t":7,"type":"n","model":"m","in":64,"out":1}]}` + "\n"
	r := loadWith(t, fmt.Sprintf(trace, "x")+fmt.Sprintf(trace, "y"), "weka_trace", Options{})
	same(t, "known blocks", prefixes(r.Dataset), "0/4 3/4 -, 2/3, 0/4 3/4 -, 2/3")

	rows := roundRow("a", 0, 0, 200, 1, event("user_message", "10.0")) + roundRow("a", 1, 200, 100, 1,
		event("tool_result", "11.0")) +
		roundRow("b", 0, 0, 64, 1, event("user_message", "12.0"))
	r = loadWith(t, rows, "tracelab", Options{})
	same(t, "known blocks of rounds", prefixes(r.Dataset), "0/3 3/4, 0/1")
}

package metrics

import (
	"aiperf/internal/measure/record"
)

const (
	prefixHits   = "prefix_cache_hit_blocks"
	prefixBlocks = "prefix_cache_blocks"
)

// prefixTable holds what a cache without bounds would have known of the prompts of a recording.
func prefixTable() []Definition {
	const none = "the data set counts no blocks"
	blocks := func(tag, header, doc, formula string, increment func(*occurrence) (int64, bool)) Definition {
		return Definition{
			Tag: tag, Header: header, Short: header, ShortHidesUnit: true,
			Kind: KindAggregate, Unit: Count, Display: Count, Group: GroupNone,
			Flags: NoIndividualRecords | Internal,
			Doc:   doc, Formula: formula, Absent: none, increment: increment,
		}
	}
	return []Definition{
		blocks(prefixHits, "Prefix Cache Hit Blocks",
			"Blocks that the prompts share, from their beginning, with one sent before.",
			"Σ blocks sent before, from 0 to the blocks of the prompt, over valid records",
			func(o *occurrence) (int64, bool) {
				all, ok := o.Get(record.PrefixBlocks)
				return max(0, min(o.Facts[record.PrefixHits], all)), ok && all > 0
			}),
		blocks(prefixBlocks, "Prefix Cache Blocks", "Blocks of the prompts.",
			"Σ blocks of the prompt over valid records",
			func(o *occurrence) (int64, bool) {
				all, ok := o.Get(record.PrefixBlocks)
				return all, ok && all > 0
			}),
		{
			Tag: "theoretical_prefix_cache_hit", Header: "Theoretical Prefix Cache Hit", Short: "Theor. Prefix Hit",
			Kind: KindDerived, Unit: Percent, Display: Percent, Group: GroupNone, Flags: LargerIsBetter,
			Doc:      "Share of the blocks of all prompts that an unlimited prefix cache would have held.",
			Formula:  prefixHits + " / " + prefixBlocks + " × 100; its sum and its count are these two",
			Absent:   none,
			Requires: []string{prefixHits, prefixBlocks},
			parts:    &parts{sum: prefixHits, count: prefixBlocks},
			derive: func(s *scalars) (float64, bool) {
				q, ok := s.quotient(prefixHits, prefixBlocks)
				return 100 * q, ok
			},
		},
	}
}

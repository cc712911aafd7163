package run

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/twin"
	"aiperf/internal/result/summary"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
)

// twinWatch compares the requests of a run that plays recorded ones with the recording.
type twinWatch struct {
	passive
	content *content
	replay  *twin.Collector
	// scheduled reports that recorded times are kept.
	scheduled bool
	// facts are known when the run is over.
	facts *summary.Recorded
}

// newTwinWatch returns nil for a run that plays nothing recorded, or not once and as it is.
func newTwinWatch(c *content) *twinWatch {
	d := &c.cfg.Dataset
	measured := c.cfg.PhasesOf(config.ProfilingPhase)
	if len(measured) != 1 || d.Kind == config.SyntheticDataset || c.cfg.Accuracy != nil || c.data.Branches() ||
		c.data.Turns() > twin.Most || c.data.Len() == 0 || measured[0].Lanes != nil {
		return nil
	}
	w := &twinWatch{content: c, scheduled: measured[0].Schedule != nil}
	if !w.scheduled && !d.Played.Is {
		return nil
	}
	w.replay = twin.NewCollector(true)
	return w
}

func (w *twinWatch) record(r *record.Record) {
	if r.Phase == record.PhaseProfiling {
		w.replay.Add(r)
	}
}

// finish compares both sides.
func (w *twinWatch) finish(o *ended) error {
	list, sent, ok := w.replay.Requests()
	if !ok || len(list) == 0 {
		return nil
	}
	expected, prompts := w.recorded()
	w.facts = &summary.Recorded{Facts: twin.Recorded(expected)}
	w.facts.Scheduled = w.scheduled
	w.facts.Facts.Cache, w.facts.Replayed = w.sharing(expected, prompts, sent)
	w.facts.Server = w.serverShare()
	o.Result.CompareWith(w.facts, list)
	return nil
}

// recorded returns the requests of the recording as they are to be played, and the turns that they are. A turn that
// waits for the one before comes when that one ended in the recording, and as much later as it waits.
func (w *twinWatch) recorded() (list []twin.Request, turns []*dataset.Turn) {
	data := w.content.data
	for i := range data.Len() {
		c := data.At(i)
		whole := len(c.Turns) == 1 || data.Mode(c) == dataset.MessageArrayWithResponses
		ended := math.NaN()
		for k := range c.Turns {
			t := &c.Turns[k]
			q := twin.Request{Session: uint64(i), Turn: k, TookMS: math.NaN(), ThinkMS: math.NaN(), Input: -1, Output: -1}
			if k > 0 && t.DelayMS != nil {
				q.ThinkMS = *t.DelayMS
			}
			switch {
			case t.TimestampMS != nil:
				q.AtMS = *t.TimestampMS
			case k == 0 && t.Recorded != nil:
				q.AtMS = t.Recorded.AtMS
			default:
				q.AtMS = ended + q.ThinkMS
			}
			if t.MaxTokens != nil {
				q.Output = int64(*t.MaxTokens)
			}
			if of := t.Recorded; of != nil {
				q.TookMS, q.Input = of.TookMS, int64(of.Input)
				if t.MaxTokens == nil {
					q.Output = int64(of.Output)
				}
			}
			if t.Prompt != nil && whole {
				q.Input = int64(t.Prompt.Tokens)
			}
			ended = q.AtMS + q.TookMS
			list, turns = append(list, q), append(turns, t)
		}
	}
	return list, turns
}

// sharing counts what a cache without bounds knows of the prompts of both sides, in the order in which they came; nil
// where prompts have no blocks, or are not whole.
func (w *twinWatch) sharing(expected []twin.Request, turns []*dataset.Turn, sent []twin.Sent) (of, by *twin.Cache) {
	size := w.content.data.BlockSize
	blocks := func(t *dataset.Turn) bool { return t.Prompt != nil && len(t.Prompt.Blocks) > 0 }
	if size <= 0 || slices.ContainsFunc(turns, func(t *dataset.Turn) bool { return t.Prompt == nil }) ||
		!slices.ContainsFunc(turns, blocks) ||
		slices.ContainsFunc(expected, func(q twin.Request) bool { return q.Input < 0 }) {
		return nil, nil
	}
	data := w.content.data
	starts, first := map[string]int{}, 0
	for i := range data.Len() {
		starts[data.At(i).SessionID] = first
		first += data.TurnsOf(i)
	}
	order := make([]int, len(turns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(expected[a].AtMS, expected[b].AtMS) })
	played := make([]int, 0, len(sent))
	slices.SortStableFunc(sent, func(a, b twin.Sent) int { return cmp.Compare(a.AtMS, b.AtMS) })
	for _, s := range sent {
		if start, known := starts[s.Conversation]; known && start+s.Turn < len(turns) {
			played = append(played, start+s.Turn)
		}
	}
	return known(turns, order, size), known(turns, played, size)
}

// known counts what a cache without bounds knows of some prompts in their order.
func known(turns []*dataset.Turn, order []int, size int) *twin.Cache {
	var cache loader.PrefixCache
	sum := &twin.Cache{}
	for _, i := range order {
		p := turns[i].Prompt
		sum.Tokens += int64(p.Tokens)
		if hits := cache.Take(p.Blocks[:min(len(p.Blocks), p.Tokens/size)]); hits != nil {
			sum.Known += int64(hits.Hits * size)
		}
	}
	return sum
}

// serverShare is the share of prompt tokens that the recorded server took from its cache; nil if it did not say.
func (w *twinWatch) serverShare() *float64 {
	var cached, prompts int64
	for _, c := range w.content.data.All() {
		for i := range c.Turns {
			if of := c.Turns[i].Recorded; of != nil && of.Cached >= 0 && of.Prompt > 0 {
				cached, prompts = cached+int64(of.Cached), prompts+int64(of.Prompt)
			}
		}
	}
	if prompts == 0 {
		return nil
	}
	share := float64(cached) / float64(prompts)
	return &share
}

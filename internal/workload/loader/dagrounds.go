package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/workload/dataset"
)

// maxRounds bounds the rounds of one orchestrator.
const maxRounds = 100_000

// orchestrator reads a session that sends nothing: each round is a silent turn that waits for the children of the
// round before.
func orchestrator(o *object) (turns []dataset.Turn, branches []dagBranch, err error) {
	var on bool
	if json.Unmarshal(o.members["orchestrator"], &on) != nil || !on {
		return nil, nil, o.wrong("orchestrator", "true")
	}
	if err := onlyKeys(o, dagOrchestratorKeys); err != nil {
		return nil, nil, err
	}
	think, err := thinking(o)
	if err != nil {
		return nil, nil, err
	}
	rounds, err := rounds(o)
	if err != nil {
		return nil, nil, err
	}
	for i, r := range rounds {
		turn := dataset.Turn{Silent: true}
		if i > 0 {
			turn.Think = think
		}
		if r.thinkMS != nil {
			turn.Think, turn.DelayMS = nil, r.thinkMS
		}
		b := dagBranch{turn: i, children: r.spawns}
		if i < len(rounds)-1 {
			b.branch.JoinAt = i + 1
		}
		turns, branches = append(turns, turn), append(branches, b)
	}
	return turns, branches, nil
}

// thinking reads the wait of an orchestrator between its rounds; nil: none.
func thinking(o *object) (*dataset.Think, error) {
	var t dataset.Think
	median, err := o.milliseconds("think_time_ms")
	if err == nil {
		t.MinMS, err = o.milliseconds("think_time_min_ms")
	}
	if err == nil {
		t.MaxMS, err = o.milliseconds("think_time_max_ms")
	}
	if err != nil {
		return nil, err
	}
	if o.has("think_time_sigma") {
		if json.Unmarshal(o.members["think_time_sigma"], &t.Sigma) != nil || t.Sigma < 0 || math.IsInf(t.Sigma, 0) {
			return nil, o.wrong("think_time_sigma", "a number of at least 0")
		}
	}
	switch {
	case median == nil && (o.has("think_time_sigma") || t.MinMS != nil || t.MaxMS != nil):
		return nil, errors.New(`field "think_time_ms" is missing: it is the median of the think time`)
	case median == nil:
		return nil, nil
	case t.MinMS != nil && t.MaxMS != nil && *t.MinMS > *t.MaxMS:
		return nil, o.wrong("think_time_max_ms", fmt.Sprintf("at least think_time_min_ms, which is %v", *t.MinMS))
	}
	t.MedianMS = *median
	return &t, nil
}

type round struct {
	spawns  []string
	thinkMS *float64
}

// rounds reads what an orchestrator spawns, round by round.
func rounds(o *object) ([]round, error) {
	if o.isList("rounds") {
		if o.has("spawns") {
			return nil, errors.New(
				`fields "spawns" and "rounds" exclude each other where the rounds have spawns of their own`)
		}
		items, err := o.list("rounds", "a list of at least one round")
		if err != nil {
			return nil, err
		}
		var all []round
		for i, item := range items {
			r, err := oneRound(item)
			if err != nil {
				return nil, fmt.Errorf("rounds[%d]: %w", i, err)
			}
			all = append(all, r)
		}
		return all, nil
	}
	ids, err := o.ids("spawns")
	if err != nil {
		return nil, err
	}
	n := 1
	if o.has("rounds") {
		count, err := o.positive("rounds")
		if err != nil || *count > maxRounds {
			return nil, o.wrong("rounds", fmt.Sprintf("a whole number from 1 to %d, or a list of rounds", maxRounds))
		}
		n = *count
	}
	return slices.Repeat([]round{{spawns: ids}}, n), nil
}

func oneRound(item []byte) (r round, err error) {
	o, err := parseObject(item)
	if err != nil {
		return r, err
	}
	if err := onlyKeys(o, dagRoundKeys); err != nil {
		return r, err
	}
	if r.spawns, err = o.ids("spawns"); err != nil {
		return r, err
	}
	r.thinkMS, err = o.milliseconds("think_time_ms")
	return r, err
}

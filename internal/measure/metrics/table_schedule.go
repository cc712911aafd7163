package metrics

import (
	"aiperf/internal/measure/record"
)

// replayDegradedMS is exceeded by the lag of a replay that did not keep to its schedule.
const replayDegradedMS = 500

// scheduleTable holds how well a replay kept to the times of its schedule.
func scheduleTable() []Definition {
	rows := []Definition{{
		Tag: "replay_send_schedule_offset", Header: "Replay Send Schedule Offset", Short: "Sched Offset",
		Kind: KindRecord, Unit: Nanoseconds, Display: Nanoseconds, Group: GroupNone,
		Flags: FixedScheduleOnly | Internal,
		Doc: "Wall time of the send less the request's time in the schedule: the same for all requests of a " +
			"replay that keeps to it.",
		Formula: "request_start_ns − timestamp of the turn in ms × 1e6",
		Absent:  "the turn has no time in the schedule",
		reads:   []record.Field{record.StartWall, record.Scheduled}, integer: scheduleOffset,
	}}
	for i, name := range replayRankNames {
		rows = append(rows, Definition{
			Tag: "replay_sched_lag_" + name, Header: "Replay Schedule Lag " + name, Short: "Sched Lag " + name,
			Kind: KindDerived, Unit: Milliseconds, Display: Milliseconds, Group: GroupNone,
			Flags:   FixedScheduleOnly,
			Doc:     "How late requests of the schedule were sent, relative to the earliest one.",
			Formula: name + " of (replay_send_schedule_offset − its minimum)",
			Absent:  "no turn has a time in the schedule; in time slices",
			derive: func(s *scalars) (float64, bool) {
				return s.replay.lagsMS[i], s.replay.present
			},
		})
	}
	return append(rows, Definition{
		Tag: "replay_sched_degraded", Header: "Replay Schedule Degraded", Short: "Sched Degraded",
		Kind: KindDerived, Unit: Count, Display: Count, Group: GroupNone,
		Flags:    FixedScheduleOnly,
		Doc:      "Whether the replay fell behind its schedule.",
		Formula:  "1 if replay_sched_lag_p99 > 500 ms, else 0",
		Absent:   "replay_sched_lag_p99 is missing",
		Requires: []string{"replay_sched_lag_p99"},
		derive: func(s *scalars) (float64, bool) {
			p99, ok := s.get("replay_sched_lag_p99")
			return float64(count(p99 > replayDegradedMS)), ok
		},
	})
}

func scheduleOffset(f *record.Facts) (int64, bool) {
	start, started := f.Get(record.StartWall)
	scheduled, ok := f.Get(record.Scheduled)
	return start - scheduled, ok && started
}

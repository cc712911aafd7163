package resolve

import (
	"testing"
	"time"

	"aiperf/internal/config/settings"
)

func TestTrapEachPhaseOfAFileHasItsOwnStopConditions(t *testing.T) {
	const common = "-m x --url h:1 --endpoint-type chat "
	lines := []string{"--concurrency 2 --request-count 5", "--concurrency 3 --benchmark-duration 30",
		"--request-rate 5 --num-sessions 4", "--request-rate 5 --benchmark-duration 60"}
	for first := range lines { // the first measured phase is not resolved in the way of the others
		p := mustParse(t, common)
		for i := range lines {
			p.Phases = append(p.Phases, settings.Phase{Name: string(rune('a' + i)), Kind: "profiling",
				Settings: mustParse(t, common+lines[(first+i)%len(lines)])})
		}
		run, _, err := Resolve(p, fakeCatalog{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range run.Phases {
			ph := &run.Phases[i]
			got := [3]int64{}
			if ph.Requests != nil {
				got[0] = *ph.Requests
			}
			if ph.Sessions != nil {
				got[1] = *ph.Sessions
			}
			if ph.Duration != nil {
				got[2] = int64(*ph.Duration / time.Second)
			}
			if want := [][3]int64{{5}, {0, 0, 30}, {0, 4}, {0, 0, 60}}[(first+i)%len(lines)]; got != want {
				t.Errorf("%s: requests, sessions and seconds are %v, want %v", lines[(first+i)%len(lines)], got, want)
			}
		}
	}
}

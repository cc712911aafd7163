package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/mockserver/httpd"
)

// The reasons for which a GPU is slowed down.
const (
	throttlePower  = "power"  // it is at its power limit
	throttleHeat   = "heat"   // it is too hot
	throttleClocks = "clocks" // its clocks are set lower
)

// ThrottleReasons returns the reasons that [ParseThrottle] takes.
func ThrottleReasons() []string { return []string{throttlePower, throttleHeat, throttleClocks} }

// Throttle slows all GPUs down, and with them the work of the server. The zero value does not.
type Throttle struct {
	Reason string
	Speed  float64 // what remains of the clocks
	After  time.Duration
}

// ParseThrottle parses REASON=SHARE, or REASON=SHARE@SECONDS since the start of the server.
func ParseThrottle(text string) (Throttle, error) {
	reason, value, ok := strings.Cut(text, "=")
	share, after, timed := strings.Cut(value, "@")
	t := Throttle{Reason: reason}
	if !ok || !slices.Contains(ThrottleReasons(), reason) {
		return t, fmt.Errorf("%q is not REASON=SHARE with a reason of %s", text, strings.Join(ThrottleReasons(), ", "))
	}
	if err := scalar.SetFloat(&t.Speed, share, 0.01, 1); err != nil {
		return t, err
	}
	if timed {
		return t, scalar.SetTime(&t.After, after, time.Second, httpd.MaxFaultWait)
	}
	return t, nil
}

// SpeedAt returns what remains of the speed at an instant since the start.
func (t Throttle) SpeedAt(ns int64) float64 {
	if t.Speed == 0 || ns < int64(t.After) {
		return 1
	}
	return t.Speed
}

// apply changes what a GPU that works does at an instant; idle ones need no slowing. A GPU below its power limit draws
// about in proportion to its clocks.
func (t Throttle) apply(x gpuFigures, limit float64, ns int64) gpuFigures {
	x.speed = 1
	if t.SpeedAt(ns) == 1 || x.load < throttledLoad {
		return x
	}
	x.speed, x.throttled = t.Speed, t.Reason
	if t.Reason == throttlePower {
		x.watts = limit
	} else {
		x.watts = limit*idleShare + (x.watts-limit*idleShare)*t.Speed
	}
	return x
}

// throttledLoad is the load from which on a GPU that is slowed down shows it.
const throttledLoad = 0.05

// maxClock is the highest SM clock of NVIDIA's GPUs here, in MHz.
const maxClock = 1980

// megahertz returns the clock of a GPU: the highest one as soon as it works, unless something slows it down.
func (x gpuFigures) megahertz(idle, highest float64) float64 {
	if x.load < throttledLoad {
		return idle
	}
	return highest * x.speed
}

// celsius returns the temperature of a GPU: near its limit where heat slows it down.
func (x gpuFigures) celsius() float64 {
	if x.throttled == throttleHeat {
		return 86 + 3*x.load
	}
	return 30 + 50*x.load
}

// The bits of NVML's reasons for lower clocks.
const (
	reasonIdle     = 0x1
	reasonSettings = 0x2
	reasonPowerCap = 0x4
	reasonThermal  = 0x20
)

func (x gpuFigures) reasons() float64 {
	switch x.throttled {
	case throttlePower:
		return reasonPowerCap
	case throttleHeat:
		return reasonThermal
	case throttleClocks:
		return reasonSettings
	}
	if x.load < throttledLoad {
		return reasonIdle
	}
	return 0
}

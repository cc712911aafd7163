package trust

import (
	"math"
	"testing"
)

func TestLooksOfALongRunStayFew(t *testing.T) {
	var l intervals
	const probes = 10_000
	from := reading{quota: 1}
	for i := range probes {
		to := reading{quota: 1, atNS: int64(i+1) * 1000, cpuNS: int64(i+1) * 500, rss: int64(i)}
		l.add(&from, &to, int64(i))
		from = to
	}
	if n := len(l.list); n > maxIntervals || n < maxIntervals/2 {
		t.Fatalf("%d looks", n)
	}
	last := int64(0)
	for _, look := range l.list {
		if math.Abs(look.CPUShare-0.5) > 1e-9 || look.AtNS <= last {
			t.Fatalf("%+v after %d", look, last)
		}
		last = look.AtNS
	}
	if end := l.list[len(l.list)-1]; end.AtNS != probes*1000 || end.LateNS != probes-1 || end.RSS != probes-1 {
		t.Errorf("the last look is %+v", end)
	}
}

package recordfile

import (
	"fmt"
	"testing"

	"aiperf/internal/measure/record"
)

// What a layout learned of a line changes how the next ones are read, and never what is read.
func TestLayouts(t *testing.T) {
	learned := new(layout)
	one := func(tag, value, unit string) string {
		return fmt.Sprintf(`"%s":{"value":%s,"unit":"%s"}`, tag, value, unit)
	}
	ttft, sent := one("time_to_first_token", "1.5", "ms"), one("http_req_sending", "0.25", "ms")
	other := one("other", "7", "x")
	for _, text := range []string{
		"{" + ttft + "," + sent + "," + other + "}",
		"{" + ttft + "," + sent + "," + other + "}",
		"{" + other + "," + sent + "," + ttft + "}",
		"{" + sent + "}",
		"{}",
		"{" + ttft + "," + one("time_to_first_token", "2.5", "ms") + "}", // the last one counts
		"{" + other + "," + one("time_to_first_token", "1.5e3", "ms") + "}",
		"{" + other + "," + one("time_to_first_token", "1.5", "s") + "}",
		"{" + other + ", " + ttft + "}",
		"{" + other + "," + `"time_to_first_token":{"value":1.5,"unit":"ms","more":1}` + "}",
		"{" + other + "," + ttft[:len(ttft)-1],
		"{" + other + "," + ttft + ",",
		"{" + other + "," + ttft + "]",
		"{" + other + "," + one("time_to_first_token", `"text"`, "ms") + "}",
	} {
		var facts [2]record.Facts
		var ends [2]int
		for i, l := range []*layout{new(layout), learned} {
			s, r := newLineScanner([]byte(text)), &record.Record{Facts: record.NewFacts()}
			l.metrics(&s, r)
			facts[i], ends[i] = r.Facts, s.At
		}
		if ends[0] != ends[1] || ends[0] >= 0 && facts[0] != facts[1] {
			t.Errorf("%s: read to %d and to %d", text, ends[0], ends[1])
		}
	}
	if len(learned.slots) != 3 { // another unit is left to the general way
		t.Errorf("%d metrics were learned", len(learned.slots))
	}
}

// A file of ever new metrics does not make a layout grow without end.
func TestLayoutsAreBounded(t *testing.T) {
	l := new(layout)
	for i := range 10 * maxSlots {
		s := newLineScanner(fmt.Appendf(nil, `{"m%d":{"value":1,"unit":"x"}}`, i))
		if l.metrics(&s, &record.Record{Facts: record.NewFacts()}); s.At < 0 {
			t.Fatal("not read")
		}
	}
	if len(l.slots) != maxSlots {
		t.Errorf("%d metrics were learned", len(l.slots))
	}
}

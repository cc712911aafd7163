package httpd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aiperf/internal/mockserver/httpd"
)

func TestFaultSpecifications(t *testing.T) {
	f, err := httpd.ParseReplyFault(" status=503; delay_ms=1.5;cut_after_events=3;;cut_mid_event;error_200;" +
		"malformed_json;slow_headers_ms=500;never;content_type=text/html; charset=x")
	if err == nil {
		t.Errorf("charset is accepted as a fault: %+v", f)
	}
	f, err = httpd.ParseReplyFault(" status=503; delay_ms=1.5;cut_after_events=3;;cut_mid_event;error_200;" +
		"malformed_json;slow_headers_ms=500;never;content_type=text/html;drop_after_bytes=1000;stall;" +
		"close_idle_ms=5;rate=0.1")
	want := httpd.ReplyFault{Status: 503, Delay: 1500 * time.Microsecond, CutAfterEvents: 3, CutMidEvent: true,
		Error200: true, MalformedJSON: true, Never: true, Rate: 0.1, Spec: f.Spec,
		Distortion: httpd.Distortion{SlowHead: 500 * time.Millisecond, ContentType: "text/html", DropAfter: 1000,
			Stall: true, CloseIdle: 5 * time.Millisecond}}
	if err != nil || f != want {
		t.Errorf("got %+v, %v", f, err)
	}
	if f, err := httpd.ParseReplyFault(""); err != nil || f != httpd.NoReplyFault() {
		t.Errorf("empty: %+v, %v", f, err)
	}
	for spec, want := range map[string]string{
		"statuss=503": "unknown fault", "status": "needs a value", "status=abc": "whole number",
		"status=100": "from 200 to 599",
		"never=1":    "takes no value", "rate=2": "from 0 to 1", "rate=NaN": "number", "delay_ms=-1": "number",
		"content_type=":       "media type",
		"cut_after_events=-1": "whole number", "stall": "need a place", "reset": "need a place",
		"cut_mid_event;stall;reset": "exclude each other",
		"close_idle_ms":             "needs a value",
	} {
		if _, err := httpd.ParseReplyFault(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func TestMetricsFaultSpecifications(t *testing.T) {
	got, err := httpd.ParsePageFault(
		" html; status=503;huge=3;slow;reset_after_s=1.5;labels=7;content_type=text/x;drop_after_bytes=9;rate=0.5;slow=2")
	want := httpd.PageFault{Instead: "html", Status: 503, HugeMiB: 3, Slow: 2 * time.Millisecond,
		ResetAfter: httpd.FaultInstant{Set: true, At: 1500 * time.Millisecond},
		Labels:     7, ContentType: "text/x", DropAfterBytes: 9, Rate: 0.5, Spec: got.Spec}
	if got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestHelpNamesEveryFault(t *testing.T) {
	_, unknown := httpd.ParseReplyFault("none-such")
	for _, name := range known(t, unknown) {
		if !strings.Contains(httpd.FaultHelp, name) {
			t.Errorf("fault %s is not in the help", name)
		}
	}
	_, metrics, _ := strings.Cut(httpd.FaultHelp, "--metrics-fault SPEC)")
	_, unknown = httpd.ParsePageFault("none-such")
	for _, name := range known(t, unknown) {
		if !strings.Contains(metrics, " "+name) {
			t.Errorf("fault %s of metrics pages is not in the help", name)
		}
	}
}

// known are the faults that the error of an unknown one names: all of them.
func known(t *testing.T, unknown error) []string {
	t.Helper()
	_, names, ok := strings.Cut(fmt.Sprint(unknown), "known are ")
	if list := strings.Split(names, ", "); ok && len(list) > 10 {
		return list
	}
	t.Fatalf("the error names no faults: %v", unknown)
	return nil
}

package httpd

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
)

// ReplyFault is the fault of a reply. [NoReply] is the absence of one.
type ReplyFault struct {
	Distortion
	Status         int           // answer with this status (an error body unless it is 2xx)
	Delay          time.Duration // before anything else happens
	CutAfterEvents int           // close the connection after that many events; -1 = off
	// close within the event after those (default: after one); within the body of a plain reply
	CutMidEvent   bool
	Error200      bool    // an error object inside a success: the reply, or the event at which a stream is cut
	MalformedJSON bool    // the plain reply, or the first event of a stream, lacks its last brace
	Never         bool    // no answer; the connection stays open
	Rate          float64 // the fraction of requests that is hit

	Spec string // the specification, "" = no fault
}

// key is a key of a specification: what a value must be, and where it goes.
type key[F any] struct {
	name string
	flag func(*F)               // the key without a value; nil = it needs one
	set  func(*F, string) error // the key with one; nil = it takes none
}

// replyKeys are the keys of --fault and X-Mock-Fault.
var replyKeys = []key[ReplyFault]{
	{name: "status", set: func(f *ReplyFault, v string) error { return scalar.SetInt(&f.Status, v, 200, 599) }},
	{name: "delay_ms", set: func(f *ReplyFault, v string) error { return setMillis(&f.Delay, v) }},
	{name: "cut_after_events", set: func(f *ReplyFault, v string) error { return setCount(&f.CutAfterEvents, v) }},
	{name: "cut_mid_event", flag: func(f *ReplyFault) { f.CutMidEvent = true }},
	{name: "error_200", flag: func(f *ReplyFault) { f.Error200 = true }},
	{name: "malformed_json", flag: func(f *ReplyFault) { f.MalformedJSON = true }},
	{name: "slow_headers_ms", set: func(f *ReplyFault, v string) error { return setMillis(&f.SlowHead, v) }},
	{name: "never", flag: func(f *ReplyFault) { f.Never = true }},
	{name: "content_type", set: func(f *ReplyFault, v string) error { return setMediaType(&f.ContentType, v) }},
	{name: "drop_after_bytes", set: func(f *ReplyFault, v string) error { return setCount(&f.DropAfter, v) }},
	{name: "stall", flag: func(f *ReplyFault) { f.Stall = true }},
	{name: "reset", flag: func(f *ReplyFault) { f.Reset = true }},
	{name: "close_idle_ms", set: func(f *ReplyFault, v string) error { return setMillis(&f.CloseIdle, v) }},
	{name: "rate", set: func(f *ReplyFault, v string) error { return scalar.SetFloat(&f.Rate, v, 0, 1) }},
}

// ParseReplyFault parses a specification such as "status=503;delay_ms=100;rate=0.1". An empty one is not a fault.
func ParseReplyFault(spec string) (ReplyFault, error) {
	f := NoReplyFault()
	f.Spec = strings.TrimSpace(spec)
	if err := parse(replyKeys, spec, &f); err != nil {
		return ReplyFault{}, err
	}
	if f.CutMidEvent && f.CutAfterEvents < 0 {
		f.CutAfterEvents = 1
	}
	if (f.Stall || f.Reset) && f.CutAfterEvents < 0 && f.DropAfter < 0 {
		return ReplyFault{}, errors.New(
			`faults "stall" and "reset" need a place: cut_after_events=…, cut_mid_event or drop_after_bytes=…`)
	}
	if f.Stall && f.Reset {
		return ReplyFault{}, errors.New(`faults "stall" and "reset" exclude each other`)
	}
	return f, nil
}

// parse sets the keys of a specification, separated by semicolons.
func parse[F any](keys []key[F], spec string, f *F) error {
	for item := range strings.SplitSeq(spec, ";") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		if err := setKey(keys, item, f); err != nil {
			return err
		}
	}
	return nil
}

// setKey sets one item of a list of faults, "name" or "name=value", by the table of keys. A key with both a flag and a
// value takes either.
func setKey[F any](keys []key[F], item string, f *F) error {
	name, value, hasValue := strings.Cut(item, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	for _, k := range keys {
		switch {
		case k.name != name:
			continue
		case hasValue && k.set == nil:
			return fmt.Errorf("fault %q takes no value", name)
		case !hasValue && k.flag == nil:
			return fmt.Errorf("fault %q needs a value: %s=…", name, name)
		case !hasValue:
			k.flag(f)
			return nil
		}
		if err := k.set(f, value); err != nil {
			return fmt.Errorf("fault %q: %w", name, err)
		}
		return nil
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return fmt.Errorf("unknown fault %q; known are %s", name, strings.Join(names, ", "))
}

// NoReplyFault returns the fault that does nothing.
func NoReplyFault() ReplyFault {
	return ReplyFault{Distortion: NoDistortion(), CutAfterEvents: -1, Rate: 1}
}

func setCount(field *int, v string) error { return scalar.SetInt(field, v, 0, math.MaxInt32) }

func setMediaType(field *string, v string) error {
	if v == "" || strings.ContainsAny(v, "\r\n") {
		return errors.New("must be a media type")
	}
	*field = v
	return nil
}

// MaxFaultWait bounds every configured time.
const MaxFaultWait = 24 * time.Hour

func setMillis(field *time.Duration, v string) error {
	return scalar.SetTime(field, v, time.Millisecond, MaxFaultWait)
}

// FaultHelp lists the faults in a help text.
const FaultHelp = `
Faults (--fault SPEC and X-Mock-Fault: SPEC), separated by semicolons, in any combination:
  status=503 delay_ms=100 cut_after_events=3 cut_mid_event error_200 malformed_json
  slow_headers_ms=500 never content_type=text/html drop_after_bytes=1000 stall reset close_idle_ms=5
  rate=0.1

Faults of metrics pages (--metrics-fault SPEC):
  html json binary truncated status=500 content_type=text/html huge huge=500 slow slow=10 delay_ms=100 never
  drop_after_bytes=1000 gzip nan inf duplicate labels=10000 constant reset_after_s=5 relayout_after_s=5
  retype_after_s=5 die_after_s=5 rate=0.1

Further faults of GPU pages (--dcgm-fault SPEC):
  die_after_s=5;back_after_s=9 gpu_gone_after_s=5 gpu_back_after_s=9 no_energy
`

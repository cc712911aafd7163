package mockserver

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
)

// fault says how a reply is spoilt. noFault spoils nothing.
type fault struct {
	status         int           // answer with this status (an error body unless it is 2xx)
	delay          time.Duration // before anything else happens
	cutAfterEvents int           // close the connection after that many events; -1 = off
	// close within the event after those (default: after one); within the body of a plain reply
	cutMidEvent    bool
	error200       bool          // an error object inside a success: the reply, or the event at which a stream is cut
	malformedJSON  bool          // the plain reply, or the first event of a stream, lacks its last brace
	slowHeaders    time.Duration // the head arrives in small pieces over that time
	never          bool          // no answer; the connection stays open
	contentType    string        // instead of the right one
	dropAfterBytes int           // close the connection after that many bytes of the reply, head included; -1 = off
	stall          bool          // where the connection would be closed within a reply, it stays open and silent
	reset          bool          // it is reset instead of closed
	closeIdle      time.Duration // the connection is closed that long after the reply, unannounced; -1 = off
	rate           float64       // the fraction of requests that is hit

	spec string
}

// faultKey is a key of a fault specification: what a value must be, and where it goes.
type faultKey[F any] struct {
	name string
	flag func(*F)               // the key without a value; nil = it needs one
	set  func(*F, string) error // the key with one; nil = it takes none
}

// faultKeys are the keys of --fault and X-Mock-Fault.
var faultKeys = []faultKey[fault]{
	{name: "status", set: func(f *fault, v string) error { return scalar.SetInt(&f.status, v, 200, 599) }},
	{name: "delay_ms", set: func(f *fault, v string) error { return setMillis(&f.delay, v) }},
	{name: "cut_after_events", set: func(f *fault, v string) error {
		return scalar.SetInt(&f.cutAfterEvents, v, 0,
			math.MaxInt32)
	}},
	{name: "cut_mid_event", flag: func(f *fault) { f.cutMidEvent = true }},
	{name: "error_200", flag: func(f *fault) { f.error200 = true }},
	{name: "malformed_json", flag: func(f *fault) { f.malformedJSON = true }},
	{name: "slow_headers_ms", set: func(f *fault, v string) error { return setMillis(&f.slowHeaders, v) }},
	{name: "never", flag: func(f *fault) { f.never = true }},
	{name: "content_type", set: func(f *fault, v string) error { return setMediaType(&f.contentType, v) }},
	{name: "drop_after_bytes", set: func(f *fault, v string) error {
		return scalar.SetInt(&f.dropAfterBytes, v, 0,
			math.MaxInt32)
	}},
	{name: "stall", flag: func(f *fault) { f.stall = true }},
	{name: "reset", flag: func(f *fault) { f.reset = true }},
	{name: "close_idle_ms", set: func(f *fault, v string) error { return setMillis(&f.closeIdle, v) }},
	{name: "rate", set: func(f *fault, v string) error { return scalar.SetFloat(&f.rate, v, 0, 1) }},
}

// parseFault reads a specification such as "status=503;delay_ms=100;rate=0.1": keys separated by
// semicolons, in any combination. An empty specification is not a fault.
func parseFault(spec string) (fault, error) {
	f := noFault()
	f.spec = strings.TrimSpace(spec)
	if err := parseItems(faultKeys, spec, &f); err != nil {
		return fault{}, err
	}
	if f.cutMidEvent && f.cutAfterEvents < 0 {
		f.cutAfterEvents = 1
	}
	if (f.stall || f.reset) && f.cutAfterEvents < 0 && f.dropAfterBytes < 0 {
		return fault{}, errors.New(
			`faults "stall" and "reset" need a place: cut_after_events=…, cut_mid_event or drop_after_bytes=…`)
	}
	if f.stall && f.reset {
		return fault{}, errors.New(`faults "stall" and "reset" exclude each other`)
	}
	return f, nil
}

// parseItems sets the keys of a specification, separated by semicolons.
func parseItems[F any](keys []faultKey[F], spec string, f *F) error {
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

func setKey[F any](keys []faultKey[F], item string, f *F) error {
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

// noFault is the fault that spoils nothing.
func noFault() fault { return fault{cutAfterEvents: -1, dropAfterBytes: -1, closeIdle: -1, rate: 1} }

func setMediaType(field *string, v string) error {
	if v == "" || strings.ContainsAny(v, "\r\n") {
		return errors.New("must be a media type")
	}
	*field = v
	return nil
}

// MaxWait bounds every configured time.
const MaxWait = 24 * time.Hour

func setMillis(field *time.Duration, v string) error {
	return scalar.SetTime(field, v, time.Millisecond, MaxWait)
}

// FaultsHelp lists the faults in a help text.
const FaultsHelp = `
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

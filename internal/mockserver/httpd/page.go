package httpd

import (
	"aiperf/internal/base/scalar"
	"slices"
	"strings"
	"time"
)

// PageFault is the fault of metrics pages. Times count from the start of the server.
type PageFault struct {
	Status         int           // answer with this status
	ContentType    string        // instead of the right one
	Instead        string        // "html", "json" or "binary": something else than a page
	Truncated      bool          // the page ends within a line
	DropAfterBytes int           // the connection is closed after that many bytes; -1 = off
	HugeMiB        int           // a page of that many MiB; -1 = one that never ends; 0 = off
	Slow           time.Duration // pause before each byte of the page
	Delay          time.Duration // before anything else
	Never          bool          // no answer
	Gzip           bool          // the page comes compressed, whatever the client accepts
	NaN, Inf       bool          // the first gauge is not a number, or infinite
	Duplicate      bool          // the first family appears twice
	Labels         int           // so many further series in the first counter
	Constant       bool          // the page stays what it was when it was first read
	ResetAfter     FaultInstant  // counters restart from 0, once
	RelayoutAfter  FaultInstant  // histograms have other bounds
	RetypeAfter    FaultInstant  // the first gauge is a counter
	DieAfter       FaultInstant  // connections are closed without an answer
	BackAfter      FaultInstant  // until then, if it is set
	GPUGoneAfter   FaultInstant  // the last GPU of a page is gone
	GPUBackAfter   FaultInstant  // until then, if it is set
	NoEnergy       bool          // GPUs have no energy counter
	Rate           float64       // the fraction of scrapes that is hit

	Spec string
}

// FaultInstant is a time after the start, if it is set.
type FaultInstant struct {
	Set bool
	At  time.Duration
}

// Passed reports whether the time since the start has reached it.
func (i FaultInstant) Passed(since time.Duration) bool { return i.Set && since >= i.At }

// pageKeys are the keys of --metrics-fault.
var pageKeys = []key[PageFault]{
	{name: "html", flag: func(f *PageFault) { f.Instead = "html" }},
	{name: "json", flag: func(f *PageFault) { f.Instead = "json" }},
	{name: "binary", flag: func(f *PageFault) { f.Instead = "binary" }},
	{name: "truncated", flag: func(f *PageFault) { f.Truncated = true }},
	{name: "status", set: func(f *PageFault, v string) error { return scalar.SetInt(&f.Status, v, 300, 599) }},
	{name: "content_type", set: func(f *PageFault, v string) error { return setMediaType(&f.ContentType, v) }},
	{name: "huge", flag: func(f *PageFault) { f.HugeMiB = -1 },
		set: func(f *PageFault, v string) error { return scalar.SetInt(&f.HugeMiB, v, 1, 1<<20) }},
	{name: "slow", flag: func(f *PageFault) { f.Slow = 100 * time.Millisecond },
		set: func(f *PageFault, v string) error { return setMillis(&f.Slow, v) }},
	{name: "delay_ms", set: func(f *PageFault, v string) error { return setMillis(&f.Delay, v) }},
	{name: "never", flag: func(f *PageFault) { f.Never = true }},
	{name: "drop_after_bytes", set: func(f *PageFault, v string) error { return setCount(&f.DropAfterBytes, v) }},
	{name: "gzip", flag: func(f *PageFault) { f.Gzip = true }},
	{name: "nan", flag: func(f *PageFault) { f.NaN = true }},
	{name: "inf", flag: func(f *PageFault) { f.Inf = true }},
	{name: "duplicate", flag: func(f *PageFault) { f.Duplicate = true }},
	{name: "labels", set: func(f *PageFault, v string) error { return scalar.SetInt(&f.Labels, v, 1, 1<<20) }},
	{name: "constant", flag: func(f *PageFault) { f.Constant = true }},
	{name: "reset_after_s", set: func(f *PageFault, v string) error { return f.ResetAfter.parse(v) }},
	{name: "relayout_after_s", set: func(f *PageFault, v string) error { return f.RelayoutAfter.parse(v) }},
	{name: "retype_after_s", set: func(f *PageFault, v string) error { return f.RetypeAfter.parse(v) }},
	{name: "die_after_s", set: func(f *PageFault, v string) error { return f.DieAfter.parse(v) }},
	{name: "rate", set: func(f *PageFault, v string) error { return scalar.SetFloat(&f.Rate, v, 0, 1) }},
}

func (i *FaultInstant) parse(v string) error {
	i.Set = true
	return scalar.SetTime(&i.At, v, time.Second, MaxFaultWait)
}

// NoPageFault returns the fault that does nothing.
func NoPageFault() PageFault { return PageFault{DropAfterBytes: -1, Rate: 1} }

// gpuKeys are those of all pages and those that only the pages of GPUs have.
var gpuKeys = slices.Concat(pageKeys, []key[PageFault]{
	{name: "back_after_s", set: func(f *PageFault, v string) error { return f.BackAfter.parse(v) }},
	{name: "gpu_gone_after_s", set: func(f *PageFault, v string) error { return f.GPUGoneAfter.parse(v) }},
	{name: "gpu_back_after_s", set: func(f *PageFault, v string) error { return f.GPUBackAfter.parse(v) }},
	{name: "no_energy", flag: func(f *PageFault) { f.NoEnergy = true }},
})

// ParsePageFault parses a specification of --metrics-fault.
func ParsePageFault(spec string) (PageFault, error) { return parsePage(pageKeys, spec) }

// ParseGPUPageFault parses a specification of --dcgm-fault.
func ParseGPUPageFault(spec string) (PageFault, error) { return parsePage(gpuKeys, spec) }

func parsePage(keys []key[PageFault], spec string) (PageFault, error) {
	f := NoPageFault()
	err := parse(keys, spec, &f)
	f.Spec = strings.TrimSpace(spec)
	return f, err
}

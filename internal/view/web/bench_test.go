//go:build unix

package web

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/publish/progress"
)

// cpuTime returns what this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTenPages measures an update of ten open pages, their reading included. The page gets four a second, so that
// the share of a core is four times the processor time of one.
func BenchmarkTenPages(b *testing.B) {
	v, c := running(b)
	const pages = 10
	for range pages {
		reply, err := (&http.Transport{}).RoundTrip(&http.Request{Method: "GET", URL: &url.URL{Scheme: "http",
			Host: v.servers[0].Host(), Path: "/live"}, Header: http.Header{}})
		if err != nil {
			b.Fatal(err)
		}
		defer reply.Body.Close()
		go io.Copy(io.Discard, reply.Body)
	}
	snapshots := make([]*progress.Snapshot, 8)
	for i := range snapshots {
		snapshots[i] = c.snapshot(int64(40+i), progress.Profiling, progress.PhaseStarted)
	}
	b.ReportAllocs()
	start, n, began := time.Now(), 0, cpuTime(b)
	for b.Loop() {
		// Figures are new once a second, with every fourth update.
		s := *snapshots[n/4%len(snapshots)]
		v.mu.Lock()
		v.take(&s)
		v.update(start.Add(time.Duration(n) * updateInterval))
		v.mu.Unlock()
		n++
		time.Sleep(200 * time.Microsecond) // the pages take it meanwhile
	}
	perUpdate := (cpuTime(b) - began).Seconds() / float64(n)
	b.ReportMetric(perUpdate*1e6, "cpu-µs/update")
	b.ReportMetric(100*perUpdate/updateInterval.Seconds(), "%core")
	if v.events.count.Load() != pages {
		b.Errorf("%d pages are left", v.events.count.Load())
	}
}

// BenchmarkRecord measures what the view adds to the making of a record of 100 chunks.
func BenchmarkRecord(b *testing.B) {
	v, _ := running(b)
	chunks := make([]int64, 100)
	for i := range chunks {
		chunks[i] = 20 + 5*int64(i) + int64(i%3)
	}
	rec := streamed(chunks...)
	b.ReportAllocs()
	for b.Loop() {
		v.Record(rec)
	}
}

// BenchmarkDocument measures a reply with all metrics over a connection that stays open.
func BenchmarkDocument(b *testing.B) {
	v, _ := running(b)
	transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for b.Loop() {
		reply, err := client.Get("http://" + v.servers[0].Host() + "/api/metrics")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
	}
}

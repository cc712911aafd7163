//go:build unix

package cli_test

import (
	"strconv"
	"strings"
	"testing"
)

// withDescriptors starts a benchmark that may have so many descriptors.
func withDescriptors(t *testing.T, limit, url string, flags ...string) *program {
	t.Helper()
	p := &program{t: t, dir: t.TempDir()}
	p.cmd = profileCommand(url, p.dir, flags...)
	p.cmd.Path, p.cmd.Args = "/bin/sh",
		append([]string{"sh", "-c", `ulimit -n "$0" && exec "$@"`, limit}, p.cmd.Args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDescriptorsRunOut: the requests that get no socket fail and say what helps, each of them once; the
// others succeed.
func TestDescriptorsRunOut(t *testing.T) {
	t.Parallel()
	p := withDescriptors(t, "48", mock(t, "--fault", "delay_ms=1500"), "--concurrency", "80", "--request-count", "160",
		"--osl", "2", "--network-latency-automatic")
	p.ends(0)
	p.says(p.stderr.String(), "80 connections need 144 file descriptors, the limit is 48; to raise it: ")
	p.says(p.stdout.String(), "had no more file descriptors (limit 48)")
	p.addsUp(160, "too many open files: raise the limit of the process before the run, for example ulimit -n 65536")
	if got := p.show("profile_export_aiperf.json", "client_health.verdict"); got != "client_limited" {
		t.Errorf("the verdict is %s", got)
	}
}

// number is a whole number of the summary.
func (p *program) number(path string) int {
	p.t.Helper()
	n, err := strconv.ParseFloat(p.show("profile_export_aiperf.json", path), 64)
	if err != nil {
		p.t.Fatalf("%s: %v", path, err)
	}
	return int(n)
}

// addsUp says that a run sent so many requests, that the only error is one that holds a text, and that
// every request is in one record and one count.
func (p *program) addsUp(sent int, text string) {
	p.t.Helper()
	good, bad := p.number("request_count.avg"), p.number("error_request_count.avg")
	if good < 1 || bad < 1 || good+bad != sent {
		p.t.Errorf("%d successes and %d errors of %d requests", good, bad, sent)
	}
	if n := p.number("error_summary.0.count"); n != bad ||
		p.show("profile_export_aiperf.json", "error_summary.len") != "1" {
		p.t.Errorf("%d of %d errors are of the first kind: %s", n, bad,
			p.show("profile_export_aiperf.json", "error_summary"))
	}
	if got := p.show("profile_export_aiperf.json", "error_summary.0.error_details.message"); !strings.Contains(got,
		text) || !strings.HasPrefix(got, "Cannot connect to host ") {
		p.t.Errorf("the error is %q", got)
	}
	if n := len(strings.Fields(p.show("profile_export.jsonl", "metadata.session_num"))); n != sent {
		p.t.Errorf("%d records of %d requests", n, sent)
	}
}

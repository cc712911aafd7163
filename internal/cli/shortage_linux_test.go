package cli_test

import (
	"path/filepath"
	"testing"
	"time"
)

// inNetwork runs a mock server and then a command in a network of their own with 20 ports for outgoing
// connections. It ends with 77 where the system does not let us have one.
const inNetwork = `
ip link set lo up && echo "40000 40019" > /proc/sys/net/ipv4/ip_local_port_range || exit 77
aiperf mock-server --port 18000 --ttft 1500 > "$0" &
server=$!
for i in $(seq 300); do grep -q listening "$0" && break; sleep 0.2; done
"$@"
code=$?
kill $server
wait $server
exit $code`

func ports(t *testing.T, flags ...string) *program {
	t.Helper()
	p := &program{t: t, dir: t.TempDir()}
	p.cmd = profileCommand("http://127.0.0.1:18000", p.dir,
		append(flags, "--concurrency", "30", "--request-count", "60", "--osl", "2")...)
	p.cmd.Path = "/usr/bin/unshare"
	p.cmd.Args = append([]string{"unshare", "--user", "--map-root-user", "--net", "sh", "-c", inNetwork,
		filepath.Join(t.TempDir(), "server.log")}, p.cmd.Args...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = &p.stdout, &p.stderr, time.Second
	if err := p.cmd.Start(); err != nil {
		t.Skip("no network of our own: ", err)
	}
	return p
}

// skipsWithoutNetwork ends the test where the system lacks what it needs.
func (p *program) skipsWithoutNetwork() {
	p.t.Helper()
	hung := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer hung.Stop()
	p.cmd.Wait()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		if p.stdout.Len() == 0 {
			p.t.Skip("no network of our own: ", p.stderr.String())
		}
		p.t.Fatalf("exit code %d\n%s", code, p.stderr.String())
	}
}

// TestPortsRunOut: what holds of descriptors holds of ports.
func TestPortsRunOut(t *testing.T) {
	t.Parallel()
	p := ports(t)
	p.skipsWithoutNetwork()
	p.says(p.stderr.String(), "30 connections to one address need a port each, of 20 there are")
	p.says(p.stderr.String(), "--source-address")
	p.says(p.stdout.String(), "had no more ports for outgoing connections (20 in all)")
	p.addsUp(60, "no local port is free: widen the system's range of ports, or send from several addresses with "+
		"--source-address")
}

// TestSourceAddressesHaveTheirOwnPorts: what one address has no ports for, two have.
func TestSourceAddressesHaveTheirOwnPorts(t *testing.T) {
	t.Parallel()
	p := ports(t, "--source-address", "127.0.0.2", "127.0.0.3")
	p.skipsWithoutNetwork()
	if n := p.number("request_count.avg"); n != 60 || p.show("profile_export_aiperf.json", "error_summary") != "[]" {
		t.Errorf("%d of 60 requests succeeded: %s", n, p.show("profile_export_aiperf.json", "error_summary"))
	}
}

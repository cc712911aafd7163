package trust

import (
	"fmt"
	"math"
	"strings"
)

const (
	// closedWait is how long the system keeps the port of a connection that this side closed, reuseWait how long if
	// it may take such ports for new connections.
	closedWait, reuseWait = 60, 1
)

// PreflightClosed compares a run that opens connections at a rate, each for one request, with the ports that the
// system has while those of closed connections wait; total bounds their number, 0 = does not.
func PreflightClosed(perSecond float64, total int64) (Advice, bool) {
	t := thisTree()
	var l limits
	l.portFirst, l.portLast = t.portRange()
	return l.closed(perSecond, total, strings.TrimSpace(t.file("proc/sys/net/ipv4/tcp_tw_reuse")))
}

// closed gets the reuse of waiting ports as the system has it: "1" is on, "2" for loopback only.
func (l *limits) closed(perSecond float64, total int64, reuse string) (Advice, bool) {
	all := l.portLast - l.portFirst + 1
	wait := float64(closedWait)
	if reuse == "1" {
		wait = reuseWait
	}
	need := math.Ceil(perSecond * wait)
	if total > 0 {
		need = math.Min(need, float64(total))
	}
	if l.portLast == 0 || need <= float64(all) {
		return Advice{}, false
	}
	a := Advice{Code: "closed_ports", Message: fmt.Sprintf(
		"--connection-reuse-strategy never opens %s connections a second to one address; the ports of closed ones "+
			"wait for %.0f s, which takes %.0f ports of %d",
		short(perSecond), wait, need, all)}
	if reuse != "1" && perSecond*reuseWait <= float64(all) {
		a.Command = "sudo sysctl -w net.ipv4.tcp_tw_reuse=1"
	} else {
		a.Message += ": lower the rate, or allow connections to be reused"
	}
	return a, true
}

package testkit

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports from lowest to highest are below those that systems hand out to who asks for any: from 32768 on Linux, from
// 49152 on macOS and Windows. So no server of another test can get one of them by chance.
const lowest, highest = 20000, 29999

// Reserve returns a loopback address, host:port, at which nobody listens: the place of a server that is started later,
// was stopped or never was. No other call returns it, in whatever process, until release is called: a listener at the
// next port is the sign that it is taken.
func Reserve() (address string, release func(), err error) {
	for range 1000 {
		port := lowest + 2*rand.IntN((highest-lowest)/2)
		sign, err := net.Listen("tcp", local(port+1))
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", local(port))
		if err != nil {
			_ = sign.Close()
			continue
		}
		_ = l.Close()
		return local(port), func() { _ = sign.Close() }, nil
	}
	return "", nil, errors.New("no port below those that the system hands out is free")
}

// Address is [Reserve] until the end of a test.
func Address(tb testing.TB) string {
	tb.Helper()
	address, release, err := Reserve()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(release)
	return address
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Package neterr gives the errors of connections the same names and texts wherever they are reported.
//
// The invariant: a text holds no address, so that equal failures count as one. The package must never know the protocol
// above the connection.
package neterr

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"slices"
)

// Types of errors: names that reports of the reference use.
const (
	Timeout            = "TimeoutError"
	Connector          = "ClientConnectorError"
	ConnectTimeout     = "ConnectionTimeoutError"
	TLSTimeout         = "TLSHandshakeTimeoutError"
	DNS                = "ClientConnectorDNSError"
	Certificate        = "ClientConnectorCertificateError"
	SSL                = "ClientConnectorSSLError"
	ServerDisconnected = "ServerDisconnectedError"
	Payload            = "ClientPayloadError"
	OS                 = "ClientOSError"
	Cancelled          = "RequestCancellationError" // by the client, as it was asked to
	Redirects          = "TooManyRedirects"
	Value              = "ValueError"
)

// named is a system error that has a name of its own: that of Python's exceptions, and one text on all systems.
type named struct{ name, text string }

var (
	refused            = named{"ConnectionRefusedError", "connection refused"}
	reset              = named{"ConnectionResetError", "connection reset by peer"}
	aborted            = named{"ConnectionAbortedError", "connection aborted"}
	broken             = named{"BrokenPipeError", "broken pipe"}
	timedOut           = named{"TimeoutError", "connection timed out"}
	hostUnreachable    = named{"OSError", "no route to host"}
	networkUnreachable = named{"OSError", "network is unreachable"}
)

// Shortage is a thing of which this machine can have too little for a connection.
type Shortage uint8

// The shortages.
const (
	NoShortage Shortage = iota
	// Descriptors are open files and sockets, of the process or of the system.
	Descriptors
	// Ports are the local ports of outgoing connections.
	Ports
)

// shortageTexts say what is short and what helps.
var shortageTexts = map[Shortage]string{
	Descriptors: "too many open files: raise the limit of the process before the run, for example ulimit -n 65536",
	Ports: "no local port is free: widen the system's range of ports, or send from several addresses with " +
		"--source-address",
}

// ShortageOf returns what err lacked.
func ShortageOf(err error) Shortage {
	for _, s := range shortages {
		if errors.Is(err, s.err) {
			return s.of
		}
	}
	return NoShortage
}

// System returns the text and the name of the system error behind err, and whether it is one of those that
// have a name.
func System(err error) (text, kind string, ok bool) {
	for _, n := range errnos {
		if errors.Is(err, n.err) {
			return n.is.text, n.is.name, true
		}
	}
	return "", "", false
}

// isAny reports whether the system error behind err has one of some names.
func isAny(err error, names ...named) bool {
	for _, n := range errnos {
		if slices.Contains(names, n.is) && errors.Is(err, n.err) {
			return true
		}
	}
	return false
}

// TimedOut reports whether the system gave up waiting for the other side.
func TimedOut(err error) bool { return isAny(err, timedOut) }

// Refused reports whether nothing listens at the address.
func Refused(err error) bool { return isAny(err, refused) }

// Ended reports whether err says that the other side ended the connection, in order or by a reset.
func Ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		isAny(err, reset, aborted, broken)
}

// Describe returns the innermost text of err and the name of its kind, "" if it has none. Addresses are left
// out: the port of this side changes with each connection, and equal errors must read equal.
func Describe(err error) (text, kind string) {
	if text, kind, ok := System(err); ok {
		return text, kind
	}
	if lack := ShortageOf(err); lack != NoShortage {
		return shortageTexts[lack], "OSError"
	}
	var dns *net.DNSError
	var sys *os.SyscallError
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timed out", "TimeoutError"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed by server", "EOFError"
	case errors.As(err, &dns):
		return dns.Err, "gaierror"
	case errors.As(err, &sys):
		return sys.Err.Error(), "OSError"
	case errors.As(err, &op):
		return op.Err.Error(), "OSError"
	}
	return err.Error(), ""
}

// IsCertificate reports whether the certificate of the other side was refused.
func IsCertificate(err error) bool {
	var verification *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verification) || errors.As(err, &unknown) || errors.As(err, &host) ||
		errors.As(err, &invalid)
}

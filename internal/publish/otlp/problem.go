package otlp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"aiperf/internal/base/neterr"
)

// problem is the reason why a push failed. Its text continues a sentence that begins with the collector's address.
type problem struct {
	text string
	kind problemKind
}

type problemKind uint8

const (
	// unreachable: there is no connection, or no OTLP server.
	unreachable problemKind = iota
	// refused: the collector answers, but does not accept pushes and will not accept them later.
	refused
	// rejected: it does not accept this push; it may accept another one.
	rejected
	// busy: it may accept the push later.
	busy
	// hung: it did not answer in time.
	hung
	// partial: it accepted the push except for some points.
	partial
)

// classify returns the problem that an error of a push means; nil for nil.
func classify(err error, answer refusal, t *target) *problem {
	if err == nil {
		return nil
	}
	if text := err.Error(); strings.Contains(text, "OTLP partial success") {
		_, said, _ := strings.Cut(text, "OTLP partial success: ")
		return &problem{oneLine("accepted only part of the push: " + said), partial}
	}
	if t.grpc {
		return classifyGRPC(err, t)
	}
	if answer.status != 0 {
		return classifyStatus(answer)
	}
	if isTimeout(err) {
		return &problem{"did not answer in time", hung}
	}
	return &problem{"cannot be reached: " + describe(err, t), unreachable}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// Hints by problem.
const (
	hintCredentials = "check the credentials in OTEL_EXPORTER_OTLP_HEADERS"
	hintTrust       = "set OTEL_EXPORTER_OTLP_CERTIFICATE to the file of its certificate authority"
	hintIdentity    = "the server requires a client certificate: set OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and " +
		"OTEL_EXPORTER_OTLP_CLIENT_KEY"
	hintGRPC  = "this is not an HTTP server; for OTLP over gRPC use grpc://host:port"
	hintHTTP  = "this is not a gRPC server; for OTLP over HTTP use http://host:port"
	hintPlain = "this server does not use TLS; use the scheme without the s"
)

func classifyStatus(answer refusal) *problem {
	text := fmt.Sprintf("answered %d %s", answer.status, http.StatusText(answer.status))
	if answer.message != "" {
		text += ": " + answer.message
	}
	kind := refused
	switch s := answer.status; {
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusProxyAuthRequired:
		text += "; " + hintCredentials
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		text += "; there is no OTLP receiver at this path"
	case s == http.StatusBadRequest, s == http.StatusRequestEntityTooLarge, s == http.StatusUnprocessableEntity:
		kind = rejected
	case s/100 == 3:
		text += "; redirects are not followed: use the address that it points to"
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s/100 == 5:
		kind = busy
	}
	return &problem{text, kind}
}

func classifyGRPC(err error, t *target) *problem {
	var grpcError interface{ GRPCStatus() *status.Status } // what is wrapped around it would repeat it in other words
	if !errors.As(err, &grpcError) {
		if isTimeout(err) {
			return &problem{"did not answer in time", hung}
		}
		return &problem{"cannot be reached: " + describe(err, t), unreachable}
	}
	s := grpcError.GRPCStatus()
	answered := func(kind problemKind, hint string) *problem {
		text := fmt.Sprintf("answered %s", s.Code())
		if message := oneLine(s.Message()); message != "" {
			text += ": " + message
		}
		if hint != "" {
			text += "; " + hint
		}
		return &problem{text, kind}
	}
	switch s.Code() {
	case codes.DeadlineExceeded, codes.Canceled:
		return &problem{"did not answer in time", hung}
	case codes.Unauthenticated, codes.PermissionDenied:
		return answered(refused, hintCredentials)
	case codes.InvalidArgument:
		return answered(rejected, "")
	case codes.Unimplemented:
		return answered(refused, "there is no OTLP receiver for metrics here")
	case codes.ResourceExhausted, codes.Aborted, codes.OutOfRange, codes.DataLoss, codes.Internal, codes.Unknown:
		return answered(busy, "")
	case codes.Unavailable:
		if strings.Contains(s.Message(), "deadline exceeded") || strings.Contains(s.Message(), "i/o timeout") {
			return &problem{"did not answer in time", hung}
		}
		if isConnection(s.Message()) {
			return &problem{"cannot be reached: " + describe(errors.New(s.Message()), t), unreachable}
		}
		return answered(busy, "")
	}
	return answered(refused, "")
}

// isConnection reports whether a status of gRPC is about the connection, not an answer of the server.
func isConnection(message string) bool {
	for _, sign := range []string{"connection error", "error reading", "name resolver", "no children to pick from",
		"transport is closing", "dial tcp", "connection closed", "EOF"} {
		if strings.Contains(message, sign) {
			return true
		}
	}
	return false
}

// describe returns why a connection failed and what helps. gRPC has the error only as text.
func describe(err error, t *target) string {
	text, _ := neterr.Describe(err)
	whole := err.Error()
	says := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(whole, part) {
				return true
			}
		}
		return false
	}
	var header tls.RecordHeaderError
	switch {
	case says("connection refused"):
		return "connection refused"
	case neterr.IsCertificate(err), says("x509:", "certificate signed by unknown authority"):
		return oneLine(last(whole, "tls: ")) + "; " + hintTrust
	case says("certificate required", "bad certificate", "unknown certificate"):
		return oneLine(last(whole, "remote error: ")) + "; " + hintIdentity
	case errors.As(err, &header), says("server gave HTTP response to HTTPS client",
		"first record does not look like a TLS handshake"):
		return hintPlain
	case says("malformed HTTP response", "malformed HTTP status", "malformed MIME header",
		"readLoopPeekFailLocked: %!w(<nil>)"):
		// The last is net/http's error where a server sends first, as one of gRPC does.
		return hintGRPC
	case t.grpc && says("error reading server preface", "frame too large", "unexpected HTTP status code",
		"invalid header"):
		return hintHTTP
	}
	return oneLine(last(text, "desc = "))
}

// last returns what follows the last occurrence of a mark, the whole text without one.
func last(text, mark string) string {
	if at := strings.LastIndex(text, mark); at >= 0 {
		return strings.Trim(text[at+len(mark):], `" `)
	}
	return text
}

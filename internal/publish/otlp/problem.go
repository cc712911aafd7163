package otlp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"aiperf/internal/base/neterr"
	"aiperf/internal/publish/upload"
)

// classify returns the problem that an error of a push means; nil for nil.
func classify(err error, answer refusal, t *collector) *upload.Problem {
	if err == nil {
		return nil
	}
	if text := err.Error(); strings.Contains(text, "OTLP partial success") {
		_, said, _ := strings.Cut(text, "OTLP partial success: ")
		return &upload.Problem{Text: upload.OneLine("accepted only part of the push: " + said), Kind: upload.Partial}
	}
	if t.grpc {
		return classifyGRPC(err, t)
	}
	if answer.status != 0 {
		return classifyStatus(answer)
	}
	if upload.IsTimeout(err) {
		return upload.NoAnswer()
	}
	return unreachable(describe(err, t))
}

func unreachable(reason string) *upload.Problem {
	return &upload.Problem{Text: "cannot be reached: " + reason, Kind: upload.Unreachable}
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

func classifyStatus(answer refusal) *upload.Problem {
	p := upload.Answered(answer.status, answer.message, hintCredentials)
	switch answer.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		p.Text += "; there is no OTLP receiver at this path"
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		p.Kind = upload.Rejected
	}
	return p
}

// classifyGRPC says what became of a sending, by the status: whether it is worth another attempt follows the OTLP
// specification's list of retryable codes, and Internal and Unknown besides. gRPC reports failures of a connection as
// Unavailable, with the reason in words only, so that these are looked at.
func classifyGRPC(err error, t *collector) *upload.Problem {
	var grpcError interface{ GRPCStatus() *status.Status } // what is wrapped around it would repeat it in other words
	if !errors.As(err, &grpcError) {
		if upload.IsTimeout(err) {
			return upload.NoAnswer()
		}
		return unreachable(describe(err, t))
	}
	s := grpcError.GRPCStatus()
	answered := func(kind upload.Kind, hint string) *upload.Problem {
		text := fmt.Sprintf("answered %s", s.Code())
		if message := upload.OneLine(s.Message()); message != "" {
			text += ": " + message
		}
		if hint != "" {
			text += "; " + hint
		}
		return &upload.Problem{Text: text, Kind: kind}
	}
	switch s.Code() {
	case codes.DeadlineExceeded, codes.Canceled:
		return upload.NoAnswer()
	case codes.Unauthenticated, codes.PermissionDenied:
		return answered(upload.Refused, hintCredentials)
	case codes.InvalidArgument:
		return answered(upload.Rejected, "")
	case codes.Unimplemented:
		return answered(upload.Refused, "there is no OTLP receiver for metrics here")
	case codes.ResourceExhausted, codes.Aborted, codes.OutOfRange, codes.DataLoss, codes.Internal, codes.Unknown:
		return answered(upload.Busy, "")
	case codes.Unavailable:
		if strings.Contains(s.Message(), "deadline exceeded") || strings.Contains(s.Message(), "i/o timeout") {
			return upload.NoAnswer()
		}
		if isConnection(s.Message()) {
			return unreachable(describe(errors.New(s.Message()), t))
		}
		return answered(upload.Busy, "")
	}
	return answered(upload.Refused, "")
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
func describe(err error, t *collector) string {
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
		return upload.OneLine(last(whole, "tls: ")) + "; " + hintTrust
	case says("certificate required", "bad certificate", "unknown certificate"):
		return upload.OneLine(last(whole, "remote error: ")) + "; " + hintIdentity
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
	return upload.OneLine(last(text, "desc = "))
}

// last returns what follows the last occurrence of a mark, the whole text without one.
func last(text, mark string) string {
	if at := strings.LastIndex(text, mark); at >= 0 {
		return strings.Trim(text[at+len(mark):], `" `)
	}
	return text
}

package grpc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

const (
	statusOK = 200
	// tooLong begins the library's own refusal of a message, which may come after the server's status.
	tooLong = "grpc: received message larger than max"
)

// statuses are the names of gRPC's codes and the HTTP statuses that say the same.
var statuses = [...]struct {
	name   string
	status int
}{
	codes.OK: {"OK", statusOK}, codes.Canceled: {"CANCELLED", 499}, codes.Unknown: {"UNKNOWN", 500},
	codes.InvalidArgument: {"INVALID_ARGUMENT", 400}, codes.DeadlineExceeded: {"DEADLINE_EXCEEDED", 504},
	codes.NotFound: {"NOT_FOUND", 404}, codes.AlreadyExists: {"ALREADY_EXISTS", 409},
	codes.PermissionDenied:  {"PERMISSION_DENIED", 403},
	codes.ResourceExhausted: {"RESOURCE_EXHAUSTED", 429}, codes.FailedPrecondition: {"FAILED_PRECONDITION", 400},
	codes.Aborted: {"ABORTED", 409}, codes.OutOfRange: {"OUT_OF_RANGE", 400},
	codes.Unimplemented: {"UNIMPLEMENTED", 501},
	codes.Internal:      {"INTERNAL", 500}, codes.Unavailable: {"UNAVAILABLE", 503}, codes.DataLoss: {"DATA_LOSS", 500},
	codes.Unauthenticated: {"UNAUTHENTICATED", 401},
}

// failure makes the record's error of how a call ended: the server's status if it gave one, else what broke.
func (x *call) failure(err error) *record.Error {
	s, isStatus := status.FromError(err)
	code, unsent := s.Code(), x.headersNS.Load() == 0
	switch {
	case !isStatus:
		return client.Describe(err)
	case unsent && code == codes.Internal: // the library refuses to make a call of such metadata
		return &record.Error{Type: neterr.Value, Message: s.Message()}
	case x.trailers.Load() && !strings.HasPrefix(s.Message(), tooLong):
		known := statuses[codes.Unknown]
		if int(code) < len(statuses) {
			known = statuses[code]
		}
		x.out.Status = known.status
		return &record.Error{Code: known.status, HasCode: true, Type: known.name, Message: s.Message()}
	case unsent && x.channel.refused.Load() != nil:
		refused := *x.channel.refused.Load()
		x.out.Shortage = neterr.ShortageOf(refused)
		return client.Describe(refused)
	}
	return x.broken(code, s.Message())
}

// broken is the error of a call that the server did not end by a status.
func (x *call) broken(code codes.Code, text string) *record.Error {
	typ, what := client.ResponseError, "waiting for the reply"
	if x.out.Responses > 0 || x.ackNS.Load() != 0 {
		typ, what = neterr.Payload, "reading the reply"
	}
	cause := errors.New(text)
	switch _, reset, isReset := strings.Cut(text, "RST_STREAM with error code: "); {
	case isReset:
		cause = errors.New("the server reset the call: " + reset)
	case x.headersNS.Load() == 0 && code == codes.Unavailable && !x.target.spoke.Load():
		// the connection was opened, and no HTTP/2 came of it
		cause = errNoGRPC
	case strings.HasPrefix(text, "unexpected HTTP status"):
		cause = fmt.Errorf("%w: %s", errNoGRPC, text)
	case code == codes.Unavailable:
		cause = x.lost()
		if typ == client.ResponseError && errors.Is(cause, io.EOF) {
			typ = neterr.ServerDisconnected
		}
	}
	return client.Broken(typ, x.target.host, x.target.port, what, cause)
}

var errNoGRPC = errors.New("the server does not speak gRPC here")

// lost is how the call's connection ended.
func (x *call) lost() error {
	if p := x.channel.lost.Load(); p != nil && !errors.Is(*p, net.ErrClosed) {
		return *p
	}
	return io.EOF
}

// Package client carries one HTTP exchange: it sends a prepared request at once and passes every response to a sink,
// stamped with the instant of the network read that completed it: when the kernel received its last byte, where the
// kernel reports that (Linux), else when the read returned.
//
// Nothing happens between the read and the stamp. The package knows nothing of endpoints, tokens and schedules, counts
// nothing for reports and hides no secrets; instants are those of the run's clock.Clock.
//
// Response heads are parsed by net/http; connections, writing and body framing are the package's own. An exchange reads
// and stamps on the caller's goroutine, so no other goroutine is between the socket and a stamp; it writes there too,
// unless the body is so long that the server may answer before it has received all of it. A transfer chunk that arrives
// in several reads yields each event with the read that completed it (net/http's reader waits for the whole chunk), a
// request is known to be written when its last byte was, and headers keep the order that they were given in.
//
// A request is sent once more, on a new connection, when the connection that was kept for it ended before a byte of the
// reply came: servers close idle connections unannounced, and such a close may cross the request. A request that was
// lost on a new connection, or whose reply has begun, is never sent again, and none is sent a third time. Over HTTP/2
// this applies to the streams that the server reports as not processed.
//
// Every exchange ends exactly once; [Lifetime] has the states, for this carrier and for package grpc.
//
// It also splits a stream of AWS event stream frames as it arrives. It checks frames and does not know what
// their payloads mean.
//
// A frame is: its length, the length of its headers, a checksum of these two (four bytes each, big endian), the
// headers, the payload, a checksum of all before it (both CRC-32 of the IEEE).
package client

import (
	"net/url"
	"strings"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
)

// Request is a whole request, ready to be sent. Header order and spelling are kept.
type Request struct {
	Method  string
	URL     string
	Headers []record.Header
	Body    []byte
	// Session keys the connection of the sticky strategy.
	Session string
	// FinalTurn lets a sticky connection go after the exchange.
	FinalTurn bool
	// CancelAfterNS closes the connection that long after the whole request was written; negative = never.
	CancelAfterNS int64
	// KeepTrace collects chunk lists and headers for the trace export; counts and stamps always exist.
	KeepTrace bool
	// KeepRaw keeps every response's bytes.
	KeepRaw bool
	// FollowUp decides which requests follow the reply; nil: none.
	FollowUp FollowUp
	// Keeper takes the heads of replies, those of redirects included, and adds to the headers of every request of the
	// exchange; nil: nobody does.
	Keeper Keeper

	// limit replaces Options.Timeout; 0 = that.
	limit time.Duration
}

// Keeper keeps what replies ask later requests to carry, such as cookies. Its methods are called on the goroutine of
// Send; exchanges of one conversation may be under way at the same time.
type Keeper interface {
	// Keep takes the head of a reply from an address, whose host is that of the request's Host header. Values returns
	// the values of a field, in their order.
	Keep(from *url.URL, values func(name string) []string)
	// Carry returns the headers of a request to an address with what was kept for it; it leaves the list as it is.
	// Home reports that the request goes to the server that the caller named, and not to where a redirect led.
	Carry(to *url.URL, headers []record.Header, home bool) []record.Header
}

// PlaceOf returns the address for a Keeper: u with the host that headers name, if they do, and without secrets.
func PlaceOf(u *url.URL, headers []record.Header) *url.URL {
	place := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	for i := range headers {
		if strings.EqualFold(headers[i].Name, "Host") && headers[i].Value != "" {
			place.Host = headers[i].Value
		}
	}
	return place
}

// Sink receives the responses of one exchange in order, on one goroutine. Byte slices are valid only
// during the call.
type Sink interface {
	// Event is one server-sent event: the value of its event field (nil if none) and its data
	// (several data fields joined by a newline). [DONE] is passed on like any other.
	Event(name, data []byte, atNS int64)
	// Body is the whole body of a response that is not an event stream; binary bodies are media.
	Body(contentType string, binary bool, body []byte, atNS int64)
}

// Listener is a Sink that is told of a body that is no text while it comes: of media, by the Content-Type or, where there
// is none, by the first bytes.
type Listener interface {
	// Coming gets all that has come of the body so far after each read that brought more of it, and the whole header
	// Content-Type. The whole body follows.
	Coming(contentType string, body []byte, atNS int64)
}

// Exchange is what happened on the wire. Instants are monotonic nanoseconds of the run's clock; 0 = did not happen.
type Exchange struct {
	// StartNS is taken immediately before the request is passed to the transport; for a request that was sent
	// again, for the second time.
	StartNS int64
	// SentNS is when the socket had taken the whole request.
	SentNS int64
	// AckNS is when the 2xx response headers had been read.
	AckNS int64
	// LastResponseNS is the stamp of the last response of any kind.
	LastResponseNS int64
	// EndNS is when the exchange ended: last byte read, error, or cancellation.
	EndNS int64
	// CancelledNS is when a simulated cancellation fired.
	CancelledNS int64
	// Responses counts the responses passed to the sink.
	Responses int
	Status    int
	// Resends counts the requests that were sent once more, on a new connection.
	Resends int64
	// CutOff is true when the run ended the exchange (grace over, Ctrl-C): no record is made.
	CutOff bool
	// Err is nil when the exchange succeeded on the wire.
	Err *record.Error
	// ErrIsBody is true when the message of Err is the body of a response that is not 2xx.
	ErrIsBody bool
	// Shortage is what this machine had too little of, if the exchange failed of that.
	Shortage neterr.Shortage
	Timing   Timing
	Arrival
	// Trace and Raw are set as the request asked.
	Trace *record.Trace
	Raw   *record.Raw
}

// Arrival is the account of the network reads that brought the response.
//
// The read lag is how much later than the kernel received the last byte of a read that read returned
// to the client: what the instants would be late by, were they taken from the read.
type Arrival struct {
	// KernelStamps is true when the instants of the response are the kernel's, every one of them.
	KernelStamps bool
	// Reads counts the reads that brought bytes of the body, StampedReads those of them whose lag is known.
	Reads, StampedReads int64
	// FirstReadLagNS is the lag of the read that completed the first response, ReadLagNS the largest of
	// any read, ReadLagSumNS the sum over all; they mean nothing without StampedReads.
	FirstReadLagNS, ReadLagNS, ReadLagSumNS int64
	// CoalescedReads counts the reads that completed several events, or rather the instants that several
	// events share; CoalescedEvents counts these events. Either the server sent them together or the
	// client came so late that the kernel had joined them. The end mark [DONE] does not count.
	CoalescedReads, CoalescedEvents int64
}

// Timing holds the trace facts that every exchange has, in nanoseconds and counts;
// record.Absent where an event did not complete, 0 where it did not apply (metrics reference: HTTP trace).
//
// BytesSent and BytesReceived are of whole messages: request or status line, headers, body as coded and its chunk
// framing, without what TLS adds. Of HTTP/2 and gRPC they are what the library reports.
type Timing struct {
	Blocked, DNSLookup, Connecting, Sending, Waiting, Receiving, Duration int64
	Reused                                                                int64
	BytesSent, ChunksSent, BytesReceived, ChunksReceived                  int64
}

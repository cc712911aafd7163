// Package mockserver is the inference server that comes with the program: its options, its behaviour, its request
// record and its faults, which are contracts. The parts meet here: connections (httpd), bodies (api), counts and
// metrics pages (page), faults (fault) and gRPC (grpc).
//
// It serves as the known truth of a measurement: token counts are exact, latency is a model.
//
//   - A schedule says when each token is due, on absolute instants: a late token delays no other.
//   - The batch and the scheduler say which requests are worked on.
//   - The recorder writes what the server saw and did, one JSON line for each inference request.
//
// Invariants: the text of a reply encodes to exactly as many tokens as its usage says; a stream carries exactly one
// token per event; a reply is counted before its end is on the wire; an inference request allocates little and waits
// for nothing but its place in the batch and its schedule.
//
// The package must never know that this program is its client.
//
// It also answers calls of the open inference protocol over gRPC: it turns a call into a request over HTTP/1.1
// within the process, and the reply into messages and a status.
//
// The package must never know what a reply is made of, nor its faults: it sees the bytes of the reply only.
//
// It also runs the mock server of this program as a process of its own, so that a server and the client
// that measures it share no scheduler, heap or clock.
package mockserver

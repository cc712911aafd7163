// Package mockserver is the inference server that comes with the program: an OpenAI-compatible
// endpoint for chat and text completions whose token counts are exact and whose latency is a model.
//
// It serves as the known truth of a measurement. Its vocabulary:
//
//   - A plan says how many reasoning and content tokens a request gets; it is a pure function of
//     the prompt, the limits in the body and the seed, equal in every process.
//   - A schedule says when each token is due, on absolute instants: a late token delays no other.
//   - A fault spoils one reply in a stated way (fault.go has the grammar).
//   - The tally counts what was done (account.go); a page shows it in the words of some inference
//     server (pages.go), an exporter writes pages out, and a metrics fault spoils them.
//   - The recorder writes what the server saw and did, one JSON line per inference request.
//
// Invariants: the text of a reply re-encodes to exactly as many tokens as its usage says; a stream
// carries exactly one token per event; a reply is in the tally before its end is on the wire, so that
// a client which scrapes after its last reply finds all of its own.
//
// The package speaks HTTP/1.1 itself (head.go, conn.go): one goroutine per connection and no
// allocation per request or event, so that it is not the bottleneck of what it measures. HTTP/2 (front.go) and
// gRPC (grpc.go) are turned into requests to connections of that kind within the process.
package mockserver

// Package httpd is the HTTP server below the mock server: HTTP/1.1 of its own, and HTTP/2 by net/http.
//
// A [Conn] reads requests and writes replies; a [Handler], one for each connection, answers them. HTTP/1.1 takes one
// goroutine for each connection and allocates nothing for each request or write, so that the server is not the
// bottleneck of what it measures. Each stream of an HTTP/2 connection becomes a request to a connection of that kind
// within the process, so that handlers have to deal with one form only.
//
// Invariants: the handler is called before bytes are written ([Handler].Writing); while a handler waits, the
// connection is watched, so that it ends when the client leaves.
//
// The package must never know what a request asks for: it knows heads, bodies, deadlines and the ways in which a reply
// can be distorted on the wire ([Distortion]).
//
// It also holds the faults that the mock server can be asked for: of a reply (--fault and X-Mock-Fault), and of a
// metrics page (--metrics-fault and --dcgm-fault).
//
// A specification is a list of keys separated by semicolons, in any combination. The keys and what they do are a
// contract: tests and comparisons with other programs depend on them.
//
// The package must never know how a fault is carried out.
package httpd

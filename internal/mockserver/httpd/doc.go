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
package httpd

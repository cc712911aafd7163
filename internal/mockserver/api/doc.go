// Package api holds the inference APIs of the mock server: what the body of a request asks for, and the bodies and
// events of its reply.
//
// A [Request] is what a body asks for. A [Plan] says how many reasoning and content tokens its reply has; it is a pure
// function of the prompt, the limits in the body and the seed, equal in every process. A [Reply] appends the bytes, as
// a whole or as the [Events] of a stream.
//
// Invariants: the text of a reply encodes to exactly as many tokens as its usage says; a stream carries exactly one
// token per event; reading a chat body and appending an event allocate nothing.
//
// The package must never know connections, faults and schedules: who sends the bytes, when, and whether they arrive.
package api

// Package fault holds the faults that the mock server can be asked for: of a reply (--fault and X-Mock-Fault), and of a
// metrics page (--metrics-fault and --dcgm-fault).
//
// A specification is a list of keys separated by semicolons, in any combination. The keys and what they do are a
// contract: tests and comparisons with other programs depend on them.
//
// The package must never know how a fault is carried out.
package fault

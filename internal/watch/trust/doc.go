// Package trust determines how far the client itself may have distorted what it measured.
//
// A [Watch] observes the process and its machine while a run is under way: how late timers fire, CPU
// against its quota, time stolen by the hypervisor, garbage collection, pressure on the run queues,
// descriptors, ports, memory. Inputs are what the run knows of its own doing: lags, rates, lost arrivals.
// From both Judge makes a Report: a bound for the client's share in each headline metric, one verdict,
// and the reasons with the advice that helps. Preflight compares what is asked for with the limits of
// the machine before the first request.
//
// The vocabulary: admission wait is from the intended arrival to the credit; tool lag from the credit to
// the start of the request; send time from there until the socket has the whole request; read lag
// from the kernel's receipt of bytes to the return of the read that took them. An error bound is an upper
// limit of what the client added at the 99th percentile, in the unit of its metric.
//
// The invariant: nothing here touches the load; what a system does not tell is left out, never guessed.
//
// It also stores what a machine was measured to carry, so that a run that asks for more is warned before it
// starts. aiperf selftest measures, a file in the user's cache directory keeps the figures, the preflight of a run
// compares.
//
// The invariant: a measurement is valid for one machine and one version of the program. The package must never measure.
package trust

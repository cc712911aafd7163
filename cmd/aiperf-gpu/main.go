// Command aiperf-gpu reads the GPUs of this machine for aiperf, through the libraries of their drivers. It is a
// program of its own because such a library needs a dynamically linked program, and may hang or crash.
package main

import (
	"os"
	"os/signal"

	"aiperf/internal/watch/gpu/driver"
)

func main() {
	signal.Ignore(os.Interrupt) // the run decides when the readings end
	os.Exit(driver.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

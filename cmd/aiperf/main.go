// Command aiperf measures how fast an LLM inference server really is.
package main

import (
	"os"

	"aiperf/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}

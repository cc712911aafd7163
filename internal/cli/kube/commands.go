// Package kube has the commands about benchmarks in a Kubernetes cluster: those of its users, the operator, and what
// runs in the pods beside a benchmark.
package kube

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// Commands returns the commands about clusters.
func Commands() []command.Command {
	return []command.Command{
		{Name: "kube", Summary: "run benchmarks in a Kubernetes cluster",
			Tables: kubeTables, Run: runKube},
		{Name: "operator", Summary: "run the benchmarks of a Kubernetes cluster",
			Tables: command.Table(func() *flags.Table { return new(operatorOptions).table() }), Run: operate},
	}
}

// Service returns the command that runs a part of a benchmark in a pod. Manifests use it, people need not: it is not in
// the help.
func Service() command.Command { return command.Command{Name: "service", Run: runService} }

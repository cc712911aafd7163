//go:build tools

// Package queues names the programs of queues.sh, so that the module file has what they are built from.
package queues

import (
	_ "sigs.k8s.io/jobset"
	_ "sigs.k8s.io/kueue/cmd/kueue"
)

//go:build tools

// Package jobset names the program of queues.sh, so that the module file has what it is built from.
package jobset

import _ "sigs.k8s.io/jobset"

//go:build tools

// Package kueue names the program of queues.sh, so that the module file has what it is built from.
package kueue

import _ "sigs.k8s.io/kueue/cmd/kueue"

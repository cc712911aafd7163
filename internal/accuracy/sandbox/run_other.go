//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
)

// Run refuses: a system without namespaces cannot keep a program apart.
func (b *Box) Run(context.Context, string, string) Result {
	return Result{Err: errors.New("programs are kept apart by Linux only")}
}

// Child is the inside of the sandbox.
func Child([]string) int { return 1 }

func mayMap() bool { return false }

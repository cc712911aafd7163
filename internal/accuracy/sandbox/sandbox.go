// Package sandbox grades answers that are programs by running them.
package sandbox

import (
	"context"
	"errors"

	"aiperf/internal/accuracy/grade"
)

// Parallel is how many programs run at a time.
const Parallel = 8

// Box runs programs.
type Box struct{}

// New returns a sandbox, or says why there is none on this system.
func New(context.Context) (*Box, error) { return nil, errors.New("this system offers no sandbox") }

// Grade grades a program.
func (b *Box) Grade(answer, gold string) grade.Verdict { return grade.Verdict{} }

// Close ends what runs.
func (b *Box) Close() {}

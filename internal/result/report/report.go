// Package report reports what a run found: one file per artifact behind one seam.
//
// An Exporter writes one artifact from the finished result of a run. It computes nothing but what its format asks for:
// numbers come from summary, facts from record. Paths are given; names and directories are decided elsewhere.
//
// Invariant: what leaves this package has passed the redactor, absent values are left out, and an
// artifact is whole or ends with a whole line.
package report

import (
	"context"
	"errors"
	"fmt"

	"aiperf/internal/result/summary"
)

// Exporter writes one artifact when the run is over.
type Exporter interface {
	// Name is what an error message calls the artifact.
	Name() string
	Export(ctx context.Context, r *summary.Result) error
}

// ExportAll runs the exporters in their order. One that fails does not stop the others; the error
// joins all failures and is nil when every artifact was written.
func ExportAll(ctx context.Context, r *summary.Result, exporters ...Exporter) error {
	var errs []error
	for _, e := range exporters {
		if err := e.Export(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name(), err))
		}
	}
	return errors.Join(errs...)
}

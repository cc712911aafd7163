// Package report writes the files of a finished run: an [Exporter] for each.
//
// An exporter writes one file from the result of a run. It computes only what its format needs: numbers come from
// package summary, facts from package record. The caller gives the path; the package never chooses names or folders,
// and never knows where the result comes from.
//
// Invariants: everything that is written has passed the redactor, absent values are left out, and a file is complete or
// ends with a complete line.
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

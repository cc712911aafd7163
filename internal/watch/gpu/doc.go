// Package gpu turns the readings of GPU exporters and drivers into figures per GPU, and into the energy that the
// requests of a run took.
//
// Vocabulary: a field is one quantity of a GPU, under the name and unit of the exports; a catalog is the fields of
// a run; a device is one GPU, or one MIG instance of it, at one source; a reading is what a device said at one
// instant, scaled to the units of the fields; a source is an exporter's URL or a local driver.
//
// The invariant: a value that was not reported is NaN, never 0, in readings and in the store. The package must never
// know how readings are collected.
package gpu

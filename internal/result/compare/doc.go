// Package compare judges finished runs by their figures: one run by thresholds, several against one
// another.
//
// A threshold is a condition under which a result is a failure. It is checked before the run, so that
// a slip of the pen does not cost a benchmark, and evaluated on figures, whether the run has just
// ended or its summary was read back.
//
// A comparison says of each figure whether the new run is better, worse, or not different, by an
// interval of the difference, and by how much runs of the same kind differ among themselves.
package compare

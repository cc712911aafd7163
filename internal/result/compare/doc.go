// Package compare judges finished runs by their figures: one run by thresholds, several by comparison.
//
// A threshold is a condition under which a result is a failure. [ParseThreshold] checks it before the run, so that a
// mistyped one does not cost a benchmark; [Check] evaluates it on the figures of a run that has just ended, or of a
// summary that was read.
//
// A comparison reports for each figure whether the new run is better, worse or not different, with a confidence
// interval of the difference. Repeated runs show by how much runs of the same kind differ.
//
// Invariants: the same files give the same comparison, also where it resamples; a figure without an interval is never
// called better or worse. The package never writes files and never knows how figures were measured.
package compare

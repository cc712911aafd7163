// Package dashboard shows running benchmarks on the whole terminal: phases, live figures, GPUs, servers, errors, the runs
// of a series and the log.
//
// Vocabulary: a [Dashboard] follows runs as an observer of progress and keeps what is newest; the program, of Bubble Tea,
// reads keys and asks for a frame a few times a second; a frame is drawn on a canvas, a grid of cells with styles, from
// panes; a pane is a titled box whose content is lines.
//
// Invariants: no call of a run waits for the terminal: observers and log lines only leave values behind. No character
// that a terminal would act on reaches a cell. Once [Dashboard.Leave] has returned, the terminal is as it was before.
package dashboard

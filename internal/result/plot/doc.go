// Package plot makes figures of finished runs: of one run over time, or of several runs against one another.
//
// Vocabulary: a plot is an entry of the plot configuration, with a kind, two or three axes and a title; a run is a
// folder with the results of one run, or the aggregate of its trials; a column is a value of a run by which runs are
// labelled and grouped; a series is the runs of one group; a point is what a plot draws of a run or of a request.
//
// [ReadConfig] reads the configuration, [Load] the runs, [Make] computes the figures, [Write] writes them as pictures
// with a page of all of them. What cannot be drawn for lack of data is skipped with its reason; the others are drawn.
//
// The package must never know how a figure is drawn: that is package chart.
package plot

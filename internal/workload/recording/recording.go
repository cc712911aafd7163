// Package recording defines the files of recorded traffic: what a row says of a request, and how the parts of a
// recording are found and read. It knows nothing of how traffic is recorded or played.
package recording

import (
	"fmt"
	"strings"
)

// Version is the number of the format, in the first line of each file.
const Version = 1

// The names of the files of a recording: the first part of each kind; [PartName] makes those that follow.
const (
	TrafficName  = "traffic.jsonl"
	MooncakeName = "mooncake_trace.jsonl"
	// WekaName is a folder with a file for each session, as readers of that format want it.
	WekaName = "weka_trace"
)

// PartName is the name of a part of a file: the first has the plain name.
func PartName(name string, part int) string {
	if part == 0 {
		return name
	}
	return fmt.Sprintf("%s-%04d.jsonl", strings.TrimSuffix(name, ".jsonl"), part)
}

// Keep says how much of the traffic is written.
type Keep string

// What is kept of each request.
const (
	// KeepLengths keeps lengths and times.
	KeepLengths Keep = "lengths"
	// KeepHashes also keeps hashes of the blocks of each prompt.
	KeepHashes Keep = "hashes"
	// KeepText also keeps the bodies of requests and the texts of replies.
	KeepText Keep = "text"
)

// Keeps are the values of Keep.
func Keeps() []string { return []string{string(KeepLengths), string(KeepHashes), string(KeepText)} }

package progress

import "time"

// Traffic is what a recorder of traffic has seen since it began.
type Traffic struct {
	// Clients is the address that clients use, Upstream that of the server, Folder where the files are.
	Clients, Upstream, Folder string
	// For is how long the recorder has been there.
	For                                     time.Duration
	Requests, InFlight, Rows, Lost, Failed  int64
	InputTokens, OutputTokens, SharedTokens int64
	// Sessions is the number of those that have begun, Turns that of the requests in them.
	Sessions, Turns int64
	// Prompts and Replies are the lengths of those that have a row.
	Prompts, Replies Lengths
	// Endpoints and Models are how many requests each had, the most used first.
	Endpoints, Models []Named
	// Bytes is the size of the files. Full: they have their size, and nothing more is written.
	Bytes int64
	Full  bool
}

// Lengths is a distribution of lengths in tokens.
type Lengths struct {
	Count, Sum int64
	// Up counts the lengths by powers of two: Up[0] those of 0 and 1 token, Up[i] those of more than 2^(i-1) and at most
	// 2^i.
	Up [32]int64
}

// Named is how often something of a name was seen.
type Named struct {
	Name  string
	Count int64
}

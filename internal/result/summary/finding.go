package summary

// Level is how a finding is to be taken.
type Level string

// The levels.
const (
	Good  Level = "good"
	Plain Level = "plain"
	Warn  Level = "warn"
	Bad   Level = "bad"
)

// Finding is what the figures of a run mean, in words: see [Explain] and [Sure].
type Finding struct {
	// Code names the kind of the finding; it does not change.
	Code  string `json:"code"`
	Level Level  `json:"level"`
	// Title has a few words, for a narrow place. Text are sentences. Advice is what to do, without a full stop; "" for
	// nothing.
	Title  string `json:"title"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
	// Brief is the text for one line, without a full stop; "" where there is nothing to say.
	Brief string `json:"-"`
}

package config

import "aiperf/internal/workload/recipe"

// DatasetKind is where conversations come from.
type DatasetKind string

// The kinds of dataset.
const (
	SyntheticDataset DatasetKind = "synthetic"
	FileDataset      DatasetKind = "file"
	PublicDataset    DatasetKind = "public"
)

// About returns a sentence on the kind for lists.
func (k DatasetKind) About() string {
	return map[DatasetKind]string{
		SyntheticDataset: "Generated prompts and media of given sizes.",
		FileDataset:      "The conversations of a file or folder.",
		PublicDataset:    "The conversations of a published data set.",
	}[k]
}

// DatasetKinds lists the kinds.
func DatasetKinds() []DatasetKind { return []DatasetKind{SyntheticDataset, FileDataset, PublicDataset} }

// Loaded is a file that a program turned into one of a format of ours: the user's path, and the name of the program.
type Loaded struct{ Path, By string }

// Dataset says which conversations are made or read.
type Dataset struct {
	// MaxTraces is the number of recordings to read, MaxContext leaves out longer ones; 0 means no limit.
	MaxTraces, MaxContext int
	// ThinkOnly takes the recorded think time for the delay, MaxDelayMS caps the delays of recordings; nil is no cap.
	ThinkOnly  bool
	MaxDelayMS *float64
	Kind       DatasetKind
	// Path and Format belong to a file; an empty format means that it is detected.
	Path, Format string
	// Loaded is the file from which a program made Path; nil where Path is that of the user.
	Loaded *Loaded
	// Columns are those of a table that the user names.
	Columns []recipe.Column
	// Public names the published data set, where that is the kind.
	Public Public
	// BlockSize is the number of tokens of a hash id of a trace; 0 is the format's own.
	BlockSize int
	// IgnoreTimes drops recorded times and delays.
	IgnoreTimes bool
	// Synthesis changes a trace.
	Synthesis Synthesis
	// Played says how a recording of aiperf record is played.
	Played Played
	// Entries is the number of conversations to generate (unused for files).
	Entries int
	// Sessions is the number of sessions to run, nil if the user gave none.
	Sessions *int64
	// Sampling is "sequential", "random" or "shuffle"; empty means the source's own preference.
	Sampling string
	// ISL is the input length of a turn in tokens.
	ISL recipe.Sizes
	// OSL is the requested output length; nil leaves the limit out of the request.
	OSL recipe.Sizes
	// SequenceDistribution draws both lengths together; when present it replaces ISL and OSL.
	SequenceDistribution []recipe.LengthPair
	// Batches are the numbers of contents of each modality in a turn.
	Batches BatchSizes
	// Rankings is nil where generated turns have prompts.
	Rankings *recipe.Rankings
	// Images, Audio and Video are nil where generated turns have none.
	Images *recipe.Images
	Audio  *recipe.Audio
	Video  *Video
	// Turns is the number of turns of a conversation.
	Turns recipe.Sizes
	// TurnDelayMS is the think time before a turn that is not the first, in milliseconds.
	TurnDelayMS recipe.Sizes
	// TurnDelayRatio multiplies every delay.
	TurnDelayRatio float64
	// PrefixPoolSize shared prefixes of PrefixLength tokens go before first turns; 0 means none.
	PrefixPoolSize, PrefixLength int
	// SharedSystemPromptLength is the length in tokens of the generated system prompt; 0 means none.
	SharedSystemPromptLength int
	// UserContextPromptLength is the length in tokens of each entry's own context; 0 means none.
	UserContextPromptLength int
	// Corpus is "sonnet" or "random", the tokens of the vocabulary; special ones take part with the style
	// "sglang".
	Corpus, CorpusStyle string
	// Range draws lengths uniformly around their means; nil: not.
	Range *LengthRange
	// CacheBust is the target of marks against caches; empty is none.
	CacheBust string
	// StripImages sends an image that repeats within a session only once.
	StripImages bool
	// Baseten belongs to that format alone.
	Baseten recipe.Baseten
	// SystemPrompt is a verbatim system text; nil means none.
	SystemPrompt *string
	// Records are the lines of a file dataset that stand in the configuration; Path then only names their place.
	Records []recipe.Records
	// Seed replaces the run's for all draws of the dataset; nil: it does not.
	Seed *uint64
	// Limit is the number of conversations that are read of a file; 0 means all.
	Limit int
	// MediaMix draws what each turn holds; empty: all hold the same.
	MediaMix []recipe.Archetype
}

// Played says how a recording of aiperf record is played; zero: there is none.
type Played struct {
	Is bool
	// ForceLength: requests ask for replies of the recorded lengths.
	ForceLength bool
	// Model stands for that of recorded bodies; "" leaves it.
	Model string
}

// Public says which published data set is sent.
type Public struct {
	// Name is empty where none is.
	Name string
	// Subset replaces the data set's own, WekaRepo its repository; empty: neither.
	Subset, WekaRepo string
	// Path is the user's copy; empty: it is looked for.
	Path string
	// Filters are columns and the values that rows must have.
	Filters []recipe.Filter
	// Limit is the number of conversations after which a data set ends that is read as a stream; of sessions of agents,
	// 0 where the user gave none.
	Limit int
	// Entries is the number of conversations that was asked for; 0 if none was.
	Entries int64
}

// LengthRange is a window around the mean lengths, or below them.
type LengthRange struct {
	Input, Output float64
	// Mode says whose definition of the window is followed: "vllm" or "sglang".
	Mode string
}

// StyleSGLang is the definition of the window that reaches from a share of the length to the length.
const StyleSGLang = "sglang"

// Synthesis says how a trace is changed before it is replayed.
type Synthesis struct {
	SpeedupRatio, PrefixLenMultiplier, PromptLenMultiplier, OutputLenMultiplier float64
	// Users is by how much recorded users are multiplied.
	Users                float64
	PrefixRootMultiplier int
	// MaxISL leaves rows out, MaxOSL caps their output; 0 means no limit.
	MaxISL, MaxOSL int
}

// Reshapes reports whether anything but the filters was asked for.
func (s Synthesis) Reshapes() bool {
	return s.SpeedupRatio != 1 || s.PrefixLenMultiplier != 1 || s.PromptLenMultiplier != 1 ||
		s.OutputLenMultiplier != 1 || s.PrefixRootMultiplier != 1
}

// Video says which video a generated turn has.
type Video struct {
	Width, Height int
	Seconds       float64
	FPS           int
	// Show is "moving_shapes", "grid_clock" or "noise".
	Show string
	// Format is "webm" or "mp4".
	Format string
	// Codec and AudioCodec are names of ffmpeg.
	Codec, AudioCodec string
	// AudioChannels of 0 is a silent video.
	AudioChannels, AudioRateHz, AudioDepth int
}

// BatchSizes are the numbers of contents of each modality in one turn.
type BatchSizes struct{ Text, Image, Audio, Video int }

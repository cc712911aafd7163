package recipe

// FileOnly holds what a configuration file can ask of a dataset and flags cannot; a zero field asks for nothing.
type FileOnly struct {
	// These replace what the flags of the same name say with a mean and a standard deviation.
	ISL, OSL, Turns, TurnDelayMS          Sizes
	ImageWidth, ImageHeight, AudioSeconds Sizes
	Passages, PassageTokens, QueryTokens  Sizes
	SequenceDistribution                  []LengthPair
	// Records are lines of a data file that stand in the configuration file, in pools for random_pool, else in one
	// without a name. The option input-file then holds their place for messages, such as "bench.yaml:12: records".
	Records []Records
	// Seed replaces the run's for all draws of the dataset.
	Seed *uint64
	// Limit is the number of conversations that are read of a data file; 0 means all.
	Limit int
	// MediaMix draws what each request holds; empty: all hold the same.
	MediaMix []Archetype
}

// Records are lines of a data file.
type Records struct {
	Pool  string
	Lines []Line
}

// Line is a JSON object, and its place for messages, such as bench.yaml:12:7.
type Line struct{ Text, Place string }

// Archetype is one shape of request of a mix.
type Archetype struct {
	// Name is carried to the records.
	Name string
	// Weight is relative to those of the others.
	Weight float64
	// NoText leaves text out; ISL and OSL replace those of the dataset, nil: they do not.
	NoText   bool
	ISL, OSL Sizes
	Parts    []MediaPart
}

// MediaPart is one modality of an archetype.
type MediaPart struct {
	// Batch is the number of contents of a turn.
	Batch Sizes
	// Profiles are what the contents may look like; one is drawn for each request.
	Profiles []MediaProfile
}

// MediaProfile is what contents look like: one of Images and Audio is set, whose BatchSize does not count.
type MediaProfile struct {
	Weight float64
	Images *Images
	Audio  *Audio
}

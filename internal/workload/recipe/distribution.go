package recipe

import "aiperf/internal/base/random"

// Sizes is a distribution that sizes are drawn from: a [Normal] of flags, or a [Distribution] of a configuration file.
type Sizes interface {
	// Draw returns a whole number of at least 1.
	Draw(r *random.Rand) int
	// Bounded returns a number from lo to hi.
	Bounded(r *random.Rand, lo, hi float64) float64
	// Expected returns the mean, as far as the parameters say it: clamps and rounding are left out.
	Expected() float64
}

// Kind is a shape of distribution.
type Kind string

// The kinds. Multimodal is also written mixture.
const (
	Fixed       Kind = "fixed"
	Gaussian    Kind = "normal"
	LogNormal   Kind = "lognormal"
	Uniform     Kind = "uniform"
	Exponential Kind = "exponential"
	Zipf        Kind = "zipf"
	Multimodal  Kind = "multimodal"
	Empirical   Kind = "empirical"
)

// Distribution is a distribution as a configuration file describes it. Which fields count depends on Kind.
type Distribution struct {
	Kind Kind
	// Value is that of Fixed.
	Value float64
	// Mean belongs to Gaussian, LogNormal and Exponential, Stddev to Gaussian, Median, at most the mean, to LogNormal.
	Mean, Stddev, Median float64
	// Low and High are the ends of Uniform.
	Low, High float64
	// Alpha, above 1, Scale and Offset belong to Zipf: rank k, whose probability is proportional to k^−Alpha, is the
	// size Offset + k·Scale.
	Alpha, Scale, Offset float64
	// Peaks are the parts of Multimodal, Points the values of Empirical.
	Peaks  []Peak
	Points []Point
	// Min and Max limit what any kind draws; nil: they do not.
	Min, Max *float64
}

// Peak is one of several distributions; weights are relative.
type Peak struct {
	Distribution
	Weight float64
}

// Point is a value and its relative weight.
type Point struct{ Value, Weight float64 }

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

// Records are lines of a data file: JSON objects.
type Records struct {
	Pool  string
	Lines [][]byte
}

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

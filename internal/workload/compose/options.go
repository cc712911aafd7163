// Package compose builds the dataset of a run: it chooses the source, generates or reads the
// conversations, and then gives every turn its model and its limit and every conversation its id,
// its system message and its user context.
//
// Every draw of conversation k comes from a named stream at index k, so the result does not depend
// on the number of cores. With a root seed it is the same on every machine. The package knows nothing of
// servers, schedules or requests: it ends where a turn is complete.
package compose

import (
	"fmt"
	"reflect"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/public"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/synthetic"
)

// Kind is where conversations come from.
type Kind string

// The kinds of source.
const (
	Synthetic Kind = "synthetic"
	File      Kind = "file"
	Public    Kind = "public"
)

// How models are given to turns.
const (
	RoundRobin  = "round_robin"
	RandomModel = "random"
	Weighted    = "weighted"
)

// Corpus is what texts are cut from.
type Corpus string

// The corpora beside the bundled plays: generated code, and the tokens of the vocabulary, without the special
// ones or with them.
const (
	Code           Corpus = "code"
	OrdinaryTokens Corpus = "ordinary tokens"
	AllTokens      Corpus = "all tokens"
)

// Options say what to build.
type Options struct {
	Kind Kind
	// Path and Format belong to a file; an empty format is detected.
	Path, Format string
	// Records are the lines of a file that are in memory instead; Path then names their place.
	Records []recipe.Records
	// Published names a public data set and its place.
	Published public.Options
	// Reading says how a file is read.
	Reading loader.Options
	// Entries is the number of conversations to generate; a file has its own number.
	Entries int
	// Sessions is the number of sessions that the load starts at most; 0 means no limit. Media of conversations that
	// none of them plays are not made.
	Sessions int64
	// Sampling overrides the preference of the source if it is not empty.
	Sampling dataset.Sampling

	ISL     recipe.Sizes        // tokens of a text
	OSL     recipe.Sizes        // limit of a turn that has none; nil: none
	SeqDist []recipe.LengthPair // draws both lengths together and replaces ISL and OSL
	// BatchSize is the number of texts per turn.
	BatchSize int
	Turns     recipe.Sizes // turns of a conversation
	// DelayMS is the wait before a turn that is not the first, DelayRatio multiplies it.
	DelayMS    recipe.Sizes
	DelayRatio float64

	// PrefixPool texts of PrefixLength tokens, one of which goes before each text of a first turn.
	PrefixPool, PrefixLength int
	// SharedSystemLength is the length of a generated system message, SystemPrompt a verbatim one.
	SharedSystemLength int
	SystemPrompt       *string
	// UserContextLength is the length of each conversation's own context.
	UserContextLength int

	// Rankings replace the prompts of synthetic conversations; nil: none.
	Rankings *recipe.Rankings
	// Images, Audio and Videos are what each turn of a synthetic conversation has besides text; nil: none.
	Images *recipe.Images
	Audio  *recipe.Audio
	Videos *Videos

	// MediaMix draws what a turn of a synthetic conversation holds, instead of Images, Audio and Videos; empty: none.
	MediaMix []recipe.Archetype

	// Corpus is what texts are cut from; empty: the bundled plays.
	Corpus Corpus
	// ISLWindow and OSLWindow draw lengths around the means of ISL and OSL; nil: their own distribution.
	ISLWindow, OSLWindow *synthetic.Window

	// CacheBust is the target of marks that are put into requests later, for which room is left.
	CacheBust string

	// Template counts with the chat template that requests are held against, for which room is left; nil: none.
	Template ChatCounter

	Models         []string
	ModelSelection string // empty: RoundRobin
	// ModelWeights are the shares of Models that Weighted needs; they sum to 1.
	ModelWeights []float64
	Seed         random.Seed
}

// mean is the expected size, 0 of none.
func mean(s recipe.Sizes) float64 {
	if s == nil {
		return 0
	}
	return s.Expected()
}

// bytesPerToken is what a token of a text takes at least; English takes four.
const bytesPerToken = 2

// LeastMemory returns how many bytes the conversations take at least that are generated; 0 for others. Media are left
// out.
func (o *Options) LeastMemory() float64 {
	if o.Kind != Synthetic {
		return 0
	}
	text := float64(o.BatchSize) * mean(o.ISL) * bytesPerToken
	turn := float64(reflect.TypeFor[dataset.Turn]().Size()) + text
	conversation := float64(reflect.TypeFor[dataset.Conversation]().Size()) + max(1, mean(o.Turns))*turn +
		float64(o.UserContextLength)*bytesPerToken
	return float64(o.Entries)*conversation + float64(o.PrefixPool)*float64(o.PrefixLength)*bytesPerToken
}

// hasText reports whether turns of a synthetic conversation have text.
func (o *Options) hasText() bool {
	return o.Rankings != nil || o.BatchSize > 0 && (mean(o.ISL) > 0 || len(o.SeqDist) > 0)
}

// check rejects what cannot be built.
func (o *Options) check() error {
	switch {
	case o.Kind != Synthetic && o.Kind != File && o.Kind != Public:
		return fmt.Errorf("unknown kind of dataset %q", string(o.Kind))
	case o.Kind == Synthetic && o.Entries < 1:
		return fmt.Errorf("--num-dataset-entries is %d: want at least 1", o.Entries)
	case o.Kind == Synthetic && !o.hasText() && o.Images == nil && o.Audio == nil && o.Videos == nil &&
		len(o.MediaMix) == 0:
		return fmt.Errorf("a synthetic dataset without text, pictures, sound and video has no content: raise --isl "+
			"(now %v) and --batch-size (now %d) above 0,"+
			" or give --image-width-mean and --image-height-mean, --audio-length-mean, or --video-width and "+
			"--video-height", mean(o.ISL), o.BatchSize)
	case o.SystemPrompt != nil && o.SharedSystemLength > 0:
		return fmt.Errorf("--system-prompt and --shared-system-prompt-length exclude each other")
	case o.ModelSelection != "" && o.ModelSelection != RoundRobin && o.ModelSelection != RandomModel &&
		o.ModelSelection != Weighted:
		return fmt.Errorf("unknown model selection %q: want %s, %s or %s", o.ModelSelection, RoundRobin, RandomModel,
			Weighted)
	}
	if o.ModelSelection == Weighted {
		if err := checkWeights(o.ModelWeights, len(o.Models)); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		flag string
		size recipe.Sizes
	}{
		{"--isl", o.ISL}, {"--osl", o.OSL},
		{"--conversation-turn-mean", o.Turns},
		{"--conversation-turn-delay-mean", o.DelayMS},
	} {
		if n, ok := s.size.(recipe.Normal); ok && (n.Mean < 0 || n.Stddev < 0) {
			return fmt.Errorf("%s: the mean %v and the standard deviation %v must not be negative", s.flag, n.Mean,
				n.Stddev)
		}
	}
	return nil
}

// weightSlack is how far the sum of weights may be from 1: people write 0.33 for a third.
const weightSlack = 0.01

// checkWeights wants a weight for each model, which together are 1.
func checkWeights(weights []float64, models int) error {
	if len(weights) != models {
		return fmt.Errorf("models are chosen by weight, and %d of %d have one", len(weights), models)
	}
	sum := 0.0
	for _, w := range weights {
		if !(w >= 0 && w <= 1) {
			return fmt.Errorf("the weight %v of a model: want a number from 0 to 1", w)
		}
		sum += w
	}
	if !(sum >= 1-weightSlack && sum <= 1+weightSlack) {
		return fmt.Errorf("the weights of the models sum to %v: want 1", sum)
	}
	return nil
}

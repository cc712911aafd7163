package compose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/synthetic"
	"aiperf/internal/workload/tokenizer"
)

// Build makes the dataset and the warnings that the user should see. tok may be nil if no text is
// to be generated.
func Build(ctx context.Context, o Options, tok tokenizer.Tokenizer) (*dataset.Dataset, []string, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	b, err := newBuilder(o, tok)
	if err != nil {
		return nil, nil, err
	}
	if err := b.conversations(ctx); err != nil {
		return nil, nil, err
	}
	b.identify()
	b.chooseModels()
	if o.Sampling != "" {
		b.dataset.Sampling = o.Sampling
	}
	if n := b.inexact.Load(); n > 0 {
		b.warnf("%d texts have some tokens more or less than asked for: the tokenizer %s encodes no window of the "+
			"corpus in exactly that number", n, tok.Name())
	}
	return b.dataset, b.warnings, nil
}

// builder is one dataset in the making.
type builder struct {
	Options
	tok      tokenizer.Tokenizer
	source   *synthetic.Source // nil if no text is generated
	streams  streams
	dataset  *dataset.Dataset
	prefixes []string
	system   *string
	// first is the index in the corpus stream of the first conversation; the shared texts stand
	// before it, the user contexts behind the conversations.
	first   uint64
	inexact atomic.Int64
	// writer makes the prompts of a trace; nil if there are none.
	writer *writer
	media  mediaGenerator
	// played marks the conversations that the load can come to; nil: all.
	played []bool
	// bodies reports that the turns are bodies of a file, some of which may name no model.
	bodies bool
	// texts reports that synthetic turns have text, however short special tokens make it.
	texts    bool
	specials int // tokens that the tokenizer adds to a text
	added    int // those of them that a draw of ISL leaves to it
	markCost int // tokens that the first text of a conversation leaves to its mark
	// fixedCost and wrapCost are tokens that a chat template adds once and to each message.
	fixedCost, wrapCost int
	warnings            []string
}

// streams are the random streams, one for each concern, so that none disturbs another.
type streams struct {
	corpus, lengths, prefix, pairs, turns, delays, limits, models random.Stream
	passages, passageTokens, queryTokens, mix                     random.Stream
}

// newBuilder prepares what all conversations share. Each kind of draw has a stream of its own under a fixed name, so
// that an option changes what it is about and no other draw of the same seed. The order matters: the texts that all
// share need the source, and what a mark or a template adds must be known before the lengths of prompts are drawn.
func newBuilder(o Options, tok tokenizer.Tokenizer) (*builder, error) {
	b := &builder{Options: o, tok: tok, system: o.SystemPrompt, texts: o.hasText()}
	b.streams = streams{
		corpus:  o.Seed.Stream("dataset.prompt.corpus"),
		lengths: o.Seed.Stream("dataset.prompt.length"),
		prefix:  o.Seed.Stream("dataset.prompt.prefix"),
		pairs:   o.Seed.Stream("models.sequence.distribution"),
		turns:   o.Seed.Stream("composer.conversation.turn_count"),
		delays:  o.Seed.Stream("composer.conversation.turn_delay"),
		limits:  o.Seed.Stream("composer.turn.max_tokens"),
		models:  o.Seed.Stream("composer.turn.model_selection"),

		mix:           o.Seed.Stream("dataset.media_mix"),
		passages:      o.Seed.Stream("dataset.rankings.passages"),
		passageTokens: o.Seed.Stream("dataset.rankings.passages.tokens"),
		queryTokens:   o.Seed.Stream("dataset.rankings.query.tokens"),
	}
	if o.PrefixPool > 0 && o.PrefixLength == 0 {
		b.warnf("--num-prefix-prompts %d has no effect without --prefix-prompt-length", o.PrefixPool)
		b.PrefixPool = 0
	}
	if o.PrefixPool > 0 && o.Kind != Synthetic {
		b.warnf("--num-prefix-prompts has no effect on conversations that are not generated")
	}
	if o.Kind == Synthetic && b.texts || o.SharedSystemLength > 0 || o.UserContextLength > 0 {
		if tok == nil {
			return nil, errors.New("generating text needs a tokenizer")
		}
		b.source = b.newSource()
		b.fixedCost, b.wrapCost = b.measureTemplate()
		// A tokenizer that adds special tokens makes the prompt longer on the server. A chat template writes them
		// itself.
		if w := o.ISLWindow; (w == nil || !w.UpTo) && b.fixedCost+b.wrapCost == 0 {
			b.specials = max(0, tok.Specials().Added)
			b.leaveRoom(b.specials)
		}
	}
	b.reserveMarks()
	b.sharedTexts()
	return b, b.prepareMedia()
}

// leaveRoom makes texts shorter by the tokens that a tokenizer adds: those of flags by their mean, before it is spread,
// those of a file's distribution by each draw.
func (b *builder) leaveRoom(added int) {
	if n, ok := b.ISL.(recipe.Normal); ok {
		n.Mean = max(0, n.Mean-float64(added))
		b.ISL = n
		return
	}
	b.added = added
}

func (b *builder) newSource() *synthetic.Source {
	switch b.Corpus {
	case "":
		return synthetic.NewSource(b.tok)
	case Code:
		r := b.Seed.Stream("dataset.prompt.code").At(0)
		return synthetic.NewCode(b.tok, &r)
	}
	return synthetic.NewVocabulary(b.tok, b.Corpus == AllTokens)
}

func (b *builder) warnf(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

// sharedTexts makes the texts that several conversations have in common. They are drawn from the
// corpus stream before the conversations.
func (b *builder) sharedTexts() {
	if b.Kind == Synthetic {
		for range b.PrefixPool {
			b.prefixes = append(b.prefixes, b.text(b.first, b.PrefixLength))
			b.first++
		}
	}
	if b.SharedSystemLength > 0 {
		text := b.text(b.first, b.SharedSystemLength)
		b.system = &text
		b.first++
	}
}

// text returns a text of n tokens drawn at an index of the corpus stream.
func (b *builder) text(index uint64, n int) string {
	r := b.streams.corpus.At(index)
	return b.continueText(&r, "", n)
}

// continueText returns a prefix and n tokens more.
func (b *builder) continueText(r *random.Rand, prefix string, n int) string {
	text, exact := b.source.Continue(r, prefix, n)
	if !exact {
		b.inexact.Add(1)
	}
	return text
}

// conversations makes or reads the conversations and completes each of them.
func (b *builder) conversations(ctx context.Context) error {
	if b.Kind == Public {
		if err := b.loadPublic(ctx); err != nil {
			return err
		}
	}
	switch b.Kind {
	case Public: // is there
	case File:
		reading := b.Reading
		reading.Seed = b.Seed
		read := func() (*loader.Result, error) { return loader.LoadWith(ctx, b.Path, b.Format, reading) }
		if len(b.Records) > 0 {
			read = func() (*loader.Result, error) {
				return loader.LoadRecords(ctx, b.Path, b.Records, b.Format, reading)
			}
		}
		loaded, err := read()
		if err != nil {
			return err
		}
		b.dataset = loaded.Dataset
		b.dataset.Notes, b.dataset.BlockSize = loaded.Notes, loaded.BlockSize
		b.warnings = append(b.warnings, loaded.Warnings...)
		if b.tok != nil && loaded.Tokenizer != "" && loaded.Tokenizer != b.tok.Name() {
			b.dataset.Notes = append(b.dataset.Notes, fmt.Sprintf("the recording counted tokens with the tokenizer %s, this run "+
				"counts with %s: prompts have the recorded numbers of its tokens", loaded.Tokenizer, b.tok.Name()))
		}
		if b.bodies = loaded.Format == "raw_payload" || loaded.Format == "openai_batch"; b.bodies {
			b.noteModels()
		}
		if x, ok := b.dataset.Conversations.(*loader.Indexed); ok {
			b.dataset.Conversations = newStored(b, x)
		}
		if err := b.promptWriter(loaded.BlockSize); err != nil {
			return err
		}
	default:
		if b.texts {
			b.warnAboutCorpus()
		}
		b.dataset = &dataset.Dataset{
			Conversations:      make(dataset.Memory, b.Entries),
			Sampling:           dataset.Shuffle,
			DefaultContextMode: dataset.DeltasWithoutResponses,
		}
	}
	if err := b.choosePlayed(); err != nil {
		return err
	}
	all := b.dataset.InMemory()
	return parallel(ctx, len(all), func(i int) (err error) {
		c, k := &all[i], uint64(i)
		if b.Kind == Synthetic {
			if b.played != nil && !b.played[i] {
				c.Broken = dataset.ErrNotPlayed
			}
			if c.Turns, err = b.generate(ctx, k, c.Broken == nil); err != nil {
				return err
			}
		}
		b.setLimits(k, c.Turns)
		b.setWriter(k, c.Turns)
		if b.system != nil {
			c.SystemMessage = b.system
		}
		if b.UserContextLength > 0 {
			text := b.text(b.first+uint64(len(all))+k, b.UserContextLength)
			c.UserContext = &text
		}
		return nil
	})
}

// noteModels reports that a model is added to bodies that name none, if one of the first does.
func (b *builder) noteModels() {
	const first = 100
	for i := range min(b.dataset.Len(), first) {
		for _, turn := range b.dataset.At(i).Turns {
			if _, added := loader.WithModel(turn.RawPayload, ""); added {
				b.dataset.Notes = append(b.dataset.Notes,
					fmt.Sprintf("Bodies of %s that name no model get that of --model", b.Path))
				return
			}
		}
	}
}

// warnAboutCorpus reports when prompts repeat the corpus so often that a server may find one's
// beginning in another.
func (b *builder) warnAboutCorpus() {
	corpus := float64(b.source.CorpusTokens())
	if b.Corpus == OrdinaryTokens || b.Corpus == AllTokens {
		return // neighbouring tokens are no beginning that prompts share by more than chance
	}
	if mean(b.ISL) > corpus {
		b.warnf("prompts of %v tokens repeat the corpus, which has %v", mean(b.ISL), corpus)
	}
	const often = 10
	if windows := float64(b.Entries); windows*mean(b.ISL) > often*corpus {
		b.warnf("about %.1f %% of the %d prompts begin at the same place of the corpus as another one: prefix caches "+
			"may find them",
			100*(1-math.Exp(-(windows-1)/corpus)), b.Entries)
	}
}

// parallel calls f for 0…n-1 on all cores, until the context ends or a call fails.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	workers := runtime.GOMAXPROCS(0)
	stretch := max(1, min(16, n/(8*workers))) // indices taken at a time
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, (n+stretch-1)/stretch) {
		wg.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(int64(stretch))) - stretch
				if from >= n {
					return
				}
				for i := from; i < min(n, from+stretch) && ctx.Err() == nil; i++ {
					if err := f(i); err != nil {
						cancel(err)
					}
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/accuracy/task"
	"aiperf/internal/config"
	"aiperf/internal/config/settings"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// content is what requests say: the conversations, and what counts their tokens.
type content struct {
	*target
	tokenizer  tokenizer.Tokenizer         // of the primary model
	tokenizers []tokenizer.Tokenizer       // of all models
	counters   map[string]endpoint.Counter // by model, where there are several
	// bundles are the files of the tokenizers that are not built in, by name.
	bundles map[string]*load.Bundle
	data    *dataset.Dataset
	// gold are the problems of a benchmark by the ids of their conversations; nil where nothing is graded.
	gold map[string]*task.Problem
	// indexFrom is the size from which a file of conversations stays on disk; 0: the reader's own.
	indexFrom int64
	// repeatsAnnounced: it was said before the load that prompts are sent several times.
	repeatsAnnounced bool
	// inputsError is why inputs.json could not be written.
	inputsError error
	unencoded   sync.Once
}

// build makes the dataset, and makes sure that the endpoint can carry it.
func (c *content) build(ctx context.Context) error {
	if c.data == nil {
		if err := c.buildDataset(ctx); err != nil {
			return err
		}
	}
	if err := c.tokenizersFailed(); err != nil {
		return err
	}
	if err := c.checkStart(); err != nil {
		return err
	}
	return c.fitDataset(ctx)
}

// hideCredentials has the values of headers that the data brings hidden in all that is written and logged.
func (c *content) hideCredentials(list []dataset.Header) {
	var secrets settings.Secrets
	for _, h := range list {
		secrets.Header(h.Name, h.Value)
	}
	if len(secrets.List) > 0 {
		c.redactor.Learn(secrets.List...)
		c.options.Log.Hide(secrets.List...)
	}
}

// latestStart is the longest wait for the first request of a schedule that is taken for intended.
const latestStart = time.Hour

// checkStart refuses a schedule whose first request is a long time away: such times count from another instant than the
// start of the run, unless the user names the instant.
func (c *content) checkStart() error {
	for _, p := range c.cfg.Phases {
		s := p.Schedule
		if s == nil || s.AutoOffset || s.StartMS != nil {
			continue
		}
		first := math.Inf(1)
		for i := range c.data.Len() {
			if at, _ := c.data.Time(i, 0); at != nil {
				first = min(first, *at)
			}
		}
		if wait := first / 1000; wait > latestStart.Seconds() && !math.IsInf(first, 1) {
			return fmt.Errorf("the first request of the schedule would be sent %s after the start: "+
				"--fixed-schedule-auto-offset makes the first recorded time the start, "+
				"--fixed-schedule-start-offset %d another one, and 0 keeps the wait", waitText(wait), int64(first))
		}
	}
	return nil
}

// waitText returns a long wait in the largest unit of which there are at least two.
func waitText(seconds float64) string {
	const day = 24 * 3600
	switch {
	case seconds >= 730*day:
		return fmt.Sprintf("%.0f years", seconds/(365.25*day))
	case seconds >= 2*day:
		return fmt.Sprintf("%.0f days", seconds/day)
	case seconds >= 7200:
		return fmt.Sprintf("%.1f hours", seconds/3600)
	}
	return fmt.Sprintf("%.0f minutes", seconds/60)
}

// encode makes token ids for endpoints whose requests carry them; the tokenizer is loaded by the time it is called.
func (c *content) encode(dst []int, text string) []int { return c.tokenizer.Encode(dst, text) }

// buildDataset makes all conversations, or reads the problems that are graded, within the time for configuration. What
// they are checked for, such as memory, is checked before they are made wherever it is known by then.
func (c *content) buildDataset(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Env.Service.ProfileConfigureTimeout)
	defer cancel()
	options := plan.Dataset(c.cfg, &c.descriptor)
	options.Published.Hub = hub.FromEnv(os.LookupEnv, hub.Datasets)
	options.Reading.IndexFrom = max(options.Reading.IndexFrom, c.indexFrom)
	if t, ok := c.counter().(*templated); ok && c.descriptor.Name == "chat" {
		options.Template = t
	}
	if err := fitsMemory(options.LeastMemory(), trust.MachineMemory()); err != nil && c.cfg.Accuracy == nil {
		return err
	}
	build := func() (*dataset.Dataset, []string, error) { return compose.Build(ctx, options, c.tokenizer) }
	if c.cfg.Accuracy != nil {
		build = func() (*dataset.Dataset, []string, error) {
			data, err := c.problems(ctx)
			return data, nil, err
		}
	}
	data, warnings, err := build()
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the dataset was not ready within %s; raise AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT: %w",
				c.cfg.Env.Service.ProfileConfigureTimeout, err)
		}
		return err
	}
	c.hideCredentials(data.Credentials)
	warnings = append(append(warnings, unsentMedia(data, c.descriptor)...), verbatimWarnings(data, c.cfg)...)
	for _, w := range warnings {
		c.log.Warn(w)
	}
	for _, n := range data.Notes {
		c.log.Info(n)
	}
	c.announceRepeats(data)
	if err := checkCacheBust(data, c.cfg.Dataset.CacheBust); err != nil {
		return err
	}
	if err := c.checkThreadedMessages(data); err != nil {
		return err
	}
	c.log.Info("Dataset ready", "conversations", data.Len(), "turns", data.Turns())
	c.data = data
	return nil
}

// fitsMemory refuses a dataset that this machine cannot hold: without it, the system ends the program.
func fitsMemory(least float64, memory int64) error {
	if memory == 0 || least <= float64(memory) {
		return nil
	}
	const gb = 1e9
	return fmt.Errorf("the generated conversations need at least %.1f GB of memory, and this machine has %.1f GB: "+
		"lower "+
		"--num-dataset-entries, --isl, the number of turns, or --num-prefix-prompts", least/gb, float64(memory)/gb)
}

// fitDataset brings conversations and media into the form that the endpoint takes, before the first request.
func (c *content) fitDataset(ctx context.Context) error {
	if w := sendAlone(c.data, c.descriptor); w != "" {
		c.log.Warn(w)
	}
	if c.descriptor.InlineMedia {
		return inlineImages(ctx, c.data, c.cfg.Env.Dataset.MediaTimeout, c.cfg.Env.Dataset.MediaParallel)
	}
	return nil
}

// checkLanes refuses more lanes than recordings unless a recording may be in several of them.
func (c *content) checkLanes() error {
	for _, p := range c.cfg.PhasesOf(config.ProfilingPhase) {
		if p.Lanes == nil || p.Lanes.Wrap || *p.Concurrency <= c.data.RootCount() {
			continue
		}
		return fmt.Errorf("--concurrency %d asks for more lanes than %s has recordings, which is %d: lower it, or "+
			"give --allow-dataset-wrap to play a recording in several lanes at once",
			*p.Concurrency, c.cfg.Dataset.Path, c.data.RootCount())
	}
	return nil
}

// checkThreadedMessages refuses extra inputs that would replace the messages which replies are put into.
func (c *content) checkThreadedMessages(data *dataset.Dataset) error {
	if _, ok := c.cfg.Endpoint.Extra.Get("messages"); !ok {
		return nil
	}
	if data.Contents().Threaded > 0 {
		return fmt.Errorf("--extra-inputs messages cannot be used with %s: its requests are built up from messages",
			c.cfg.Dataset.Path)
	}
	return nil
}

// cacheBust says to the sessions how their requests are marked, nil if they are not.
func (c *content) cacheBust() *session.CacheBust {
	target := c.cfg.Dataset.CacheBust
	if target == "" {
		return nil
	}
	return &session.CacheBust{Target: target, RunID: c.id, NoSystem: func() {
		c.log.Warn(fmt.Sprintf("--cache-bust %s: there is no system message to mark, so the first message of the "+
			"user is marked", target))
	}}
}

// repeatsMatter reports whether a prompt that is sent again can be cheaper than the first time without anybody having
// asked for it: in conversations of several turns it is meant to be, and marks against caches prevent it.
func (c *content) repeatsMatter(data *dataset.Dataset) bool {
	return c.descriptor.ProducesTokens && c.cfg.Dataset.CacheBust == "" && data.Turns() == data.Len()
}

// announceRepeats warns before the load when prompts will be sent several times, where the number of requests is known.
func (c *content) announceRepeats(data *dataset.Dataset) {
	requests, sessions := plan.MeasuredSessions(c.cfg)
	prompts := int64(data.RootCount())
	if requests <= prompts {
		return
	}
	if !c.repeatsMatter(data) {
		if sessions {
			c.log.Info("More sessions than conversations: conversations will repeat", "sessions", requests,
				"conversations", prompts)
		}
		return
	}
	c.repeatsAnnounced = true
	c.log.Warn(fmt.Sprintf("Each of the %d prompts will be sent about %s times; a prefix cache can answer the "+
		"repeats, which are faster then: %s",
		prompts, strconv.FormatFloat(float64(requests)/float64(prompts), 'f', 1, 64), c.uniquePrompts(requests)))
}

// uniquePrompts says how each of some requests gets a prompt of its own.
func (c *content) uniquePrompts(requests int64) string {
	remedy := "use more data"
	if c.cfg.Dataset.Path == "" {
		remedy = fmt.Sprintf("--num-dataset-entries %d", requests)
	}
	if c.canBust() {
		remedy += " or --cache-bust first_turn_prefix"
	}
	return remedy
}

// canBust reports whether requests of the endpoint can be marked against caches.
func (c *content) canBust() bool {
	return c.descriptor.Name == "chat" || c.descriptor.Name == "responses"
}

// freshCache says how a run does without what a server's prefix cache knows of earlier runs.
func (c *content) freshCache() string {
	remedies := "--reset-kv-cache empties the cache before the run"
	if c.cfg.Dataset.Path == "" {
		remedies += "; another --random-seed makes other prompts"
	}
	if c.canBust() {
		remedies += "; --cache-bust first_turn_prefix marks them"
	}
	return remedies
}

// datasetHash is the hash of inputs.json, which holds every payload; of a dataset file where that is
// left out.
func (c *content) datasetHash() (string, bool) {
	for _, path := range []string{c.cfg.Artifacts.Path(config.InputsJSON), c.cfg.Dataset.Path} {
		if path == "" {
			continue
		}
		if hash, err := fileHash(path); err == nil {
			return hash, true
		}
	}
	return "", false
}

// promptTally counts how often the first prompt of each conversation was sent in the profiling phases, in four bytes a
// conversation, and which of them a warm-up sent.
type promptTally struct {
	mu    sync.Mutex
	times []uint32
	// named counts by the ids of the conversations, where only these are known.
	named map[string]uint32
	// warmed and warmedNames are the conversations of a warm-up.
	warmed              map[int]struct{}
	warmedNames         map[string]struct{}
	sent, distinct, max int64
}

// add counts the first prompt of a conversation.
func (p *promptTally) add(conversation int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times[conversation]++
	p.count(p.times[conversation])
}

// addNamed counts the first prompt of a conversation by its id.
func (p *promptTally) addNamed(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.named == nil {
		p.named = map[string]uint32{}
	}
	p.named[id]++
	p.count(p.named[id])
}

// warm notes that a warm-up sent a conversation.
func (p *promptTally) warm(conversation int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warmed == nil {
		p.warmed = map[int]struct{}{}
	}
	p.warmed[conversation] = struct{}{}
}

// warmNamed notes the same by the conversation's id.
func (p *promptTally) warmNamed(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warmedNames == nil {
		p.warmedNames = map[string]struct{}{}
	}
	p.warmedNames[id] = struct{}{}
}

// sends returns how often the profiling phases sent a conversation, and whether a warm-up did so before.
func (p *promptTally) sends(conversation int, id string) (times uint32, warm bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, byIndex := p.warmed[conversation]
	_, byName := p.warmedNames[id]
	return p.times[conversation] + p.named[id], byIndex || byName
}

// count counts a prompt that has now been sent so many times.
func (p *promptTally) count(times uint32) {
	if times == 1 {
		p.distinct++
	}
	p.sent++
	p.max = max(p.max, int64(times))
}

// summary is the tally as the results have it; nil when nothing was sent.
func (p *promptTally) summary() *summary.Dataset {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == 0 {
		return nil
	}
	return &summary.Dataset{
		Conversations: int64(len(p.times)), DistinctPrompts: p.distinct,
		MeanRepeats: float64(p.sent) / float64(p.distinct), MaxRepeats: p.max,
	}
}

package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/settings"
	"aiperf/internal/run/plan"
	"aiperf/internal/watch/trust"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/hub"
)

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

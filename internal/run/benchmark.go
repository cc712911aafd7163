package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"aiperf/internal/accuracy/task"
	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/public"
	"aiperf/internal/workload/rows"
)

// problems makes the dataset of the benchmark that is asked for, and keeps the gold answers.
func (c *content) problems(ctx context.Context) (*dataset.Dataset, error) {
	a := c.cfg.Accuracy
	b, ok := task.Named(a.Benchmark)
	if !ok {
		return nil, fmt.Errorf("there is no benchmark %q", a.Benchmark)
	}
	set, err := c.options.Problems.load(a, c.descriptor.SystemMessage, func() (*task.Set, error) {
		return task.Build(ctx, task.Options{Benchmark: b, Tasks: a.Tasks, Shots: a.Shots, Reasons: a.Reasons,
			System: a.System, Chat: c.descriptor.SystemMessage, Rows: c.rows(b)})
	})
	if err != nil {
		return nil, fmt.Errorf("--accuracy-benchmark %s: %w", b.Name, err)
	}
	for _, n := range set.Notes {
		c.log.Info(n)
	}
	c.gold = make(map[string]*task.Problem, len(set.Problems))
	list := make([]dataset.Conversation, len(set.Problems))
	for i := range set.Problems {
		p := &set.Problems[i]
		if c.gold[p.ID] != nil {
			return nil, fmt.Errorf("--accuracy-benchmark %s: two problems are called %s", b.Name, p.ID)
		}
		c.gold[p.ID] = p
		list[i] = c.conversation(p, set)
	}
	return &dataset.Dataset{Conversations: dataset.Memory(list), Sampling: dataset.Sequential}, nil
}

// codeBenchmark has a subset for each of its releases.
const codeBenchmark = "lcb_codegeneration"

// rows returns the rows of a benchmark's data. A single file holds the problems alone.
func (c *content) rows(b *task.Benchmark) task.Rows {
	a := c.cfg.Accuracy
	o := public.Options{Path: a.Data, Hub: hub.FromEnv(os.LookupEnv, hub.Datasets),
		Timeout: c.cfg.Env.Dataset.PublicTimeout, CacheDir: c.cfg.Env.Dataset.PublicCacheDir}
	single := false
	if info, err := os.Stat(a.Data); a.Data != "" && err == nil {
		single = !info.IsDir()
	}
	return func(ctx context.Context, subset, split string, each func(int, rows.Row) error) error {
		if single && split != b.Data.Split {
			return task.ErrNoRows
		}
		var files []string
		if b.Name == codeBenchmark {
			subset = c.cfg.Env.Accuracy.LCBRelease
			if files = task.ReleaseFiles(subset); files == nil && a.Data == "" {
				return fmt.Errorf("AIPERF_ACCURACY_LCB_RELEASE_TAG %q is no release; there are release_v1 to release_v6, "+
					"v1 to v6, and ranges such as v4_v5", subset)
			}
		}
		t := public.Table{
			Source:     public.Source{Repo: b.Data.Repo, Subset: subset, Split: split},
			PathOption: "--accuracy-data",
			Download:   a.Download, DownloadOption: "--accuracy-download",
			Files: files, Named: split != b.Data.Split,
		}
		err := public.Each(ctx, o, t, each)
		if errors.Is(err, public.ErrNoPart) && split != b.Data.Split {
			return fmt.Errorf("%w: %w", task.ErrNoRows, err)
		}
		return err
	}
}

// conversation returns what asks a problem.
func (c *content) conversation(p *task.Problem, set *task.Set) dataset.Conversation {
	turn := dataset.Turn{MaxTokens: &set.MaxTokens}
	if most := c.cfg.Accuracy.MaxTokens; most != nil {
		turn.MaxTokens = most
	}
	if _, own := c.cfg.Endpoint.Extra.Get("stop"); len(set.Stop) > 0 && !own && c.descriptor.Name != "responses" {
		stop, _ := json.Marshal(set.Stop) // strings
		turn.Extra = append(turn.Extra, dataset.Field{Name: "stop", Value: stop})
	}
	out := dataset.Conversation{SessionID: p.ID}
	messages := p.Messages
	if messages[0].Role == "system" {
		out.SystemMessage, messages = &messages[0].Text, messages[1:]
	}
	if len(messages) == 1 {
		turn.Texts = []dataset.Media{{Contents: []string{messages[0].Text}}}
	} else {
		for _, m := range messages {
			text, _ := artifact.AppendJSON(nil, artifact.Object{{Key: "role", Value: m.Role}, {Key: "content", Value: m.Text}})
			turn.RawMessages = append(turn.RawMessages, text)
		}
	}
	out.Turns = []dataset.Turn{turn}
	return out
}

// askAll has phases that end with the dataset ask each of its conversations, once the dataset is known.
func (c *content) askAll(context.Context) error {
	if !slices.ContainsFunc(c.cfg.Phases, func(p config.Phase) bool { return p.Whole }) {
		return nil
	}
	n := int64(c.data.RootCount())
	graded := c.cfg.Accuracy != nil
	if graded {
		n *= int64(max(1, c.cfg.Accuracy.Repeats))
	}
	cfg := *c.cfg
	cfg.Phases = slices.Clone(cfg.Phases)
	for i := range cfg.Phases {
		if p := &cfg.Phases[i]; p.Whole {
			if p.Whole = false; graded {
				p.Requests = &n
			} else {
				p.Sessions = &n
			}
		}
	}
	c.cfg = &cfg // all parts of the run see it
	if !graded {
		c.log.Info(fmt.Sprintf("Each of %d recorded sessions is played once", n))
		return nil
	}
	c.log.Info(fmt.Sprintf("Asking %d problems", n))
	return nil
}

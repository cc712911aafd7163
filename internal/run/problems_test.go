package run

import (
	"testing"

	"aiperf/internal/accuracy/task"
	"aiperf/internal/config"
)

func TestProblemsOfASeriesAreBuiltOnce(t *testing.T) {
	t.Parallel()
	built := 0
	build := func() (*task.Set, error) {
		built++
		return &task.Set{MaxTokens: built}, nil
	}
	ask := func(p *Problems, a config.Accuracy, chat bool, want int) {
		t.Helper()
		set, err := p.load(&a, chat, build)
		if err != nil || set.MaxTokens != want {
			t.Errorf("%+v: built %d times, want the set of time %d, %v", a, built, want, err)
		}
	}
	p, shots, same := new(Problems), 3, 3
	ask(p, config.Accuracy{Benchmark: "gsm8k", Shots: &shots}, true, 1)
	ask(p, config.Accuracy{Benchmark: "gsm8k", Shots: &same, Repeats: 4, Grader: "math"}, true, 1)
	ask(p, config.Accuracy{Benchmark: "gsm8k", Shots: &shots}, false, 2)
	ask(p, config.Accuracy{Benchmark: "gsm8k"}, false, 3)
	ask(nil, config.Accuracy{Benchmark: "gsm8k"}, false, 4)
}

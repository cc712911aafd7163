package task_test

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/accuracy/grade"
	"aiperf/internal/accuracy/task"
)

func TestBenchmarksAreComplete(t *testing.T) {
	names := task.Names()
	if len(names) != 11 || !slices.IsSorted(names) {
		t.Errorf("%d benchmarks: %v", len(names), names)
	}
	for _, b := range task.Benchmarks() {
		if _, ok := grade.Named(b.Grader); !ok {
			t.Errorf("%s: there is no grader %q", b.Name, b.Grader)
		}
		if b.About == "" || len(b.Columns) == 0 || b.Data.Repo == "" || b.Data.Split == "" ||
			b.MaxTokens == 0 || b.NShots > b.MostShots {
			t.Errorf("%+v", b)
		}
		mustBuild(t, b.Name, task.Options{}) // it knows how its problems are made
	}
	for name, n := range map[string]int{"mmlu": 57, "mmlu_pro": 14, "bigbench": 27} {
		if b, _ := task.Named(name); len(b.Tasks) != n {
			t.Errorf("%s has %d tasks, want %d", name, len(b.Tasks), n)
		}
	}
}

// What was asked for and is not there is an error, never ignored.
func TestTrap9TasksOfABenchmarkWithoutTasks(t *testing.T) {
	for _, c := range []struct {
		benchmark string
		names     []string
		want      []string
		fails     bool
	}{
		{"mmlu", nil, nil, false},
		{"mmlu", []string{"Anatomy", "virology", "anatomy"}, []string{"anatomy", "virology"}, false},
		{"mmlu", []string{"anatomy", "all"}, nil, false},
		{"mmlu", []string{"cooking"}, nil, true},
		{"mmlu_pro", []string{"computer_science"}, []string{"computer science"}, false},
		{"bigbench", []string{"WEB_OF_LIES"}, []string{"web_of_lies"}, false},
		{"bigbench", []string{"all"}, nil, false},
		{"bigbench", []string{"all", "snarks"}, nil, true},
		{"hellaswag", []string{"Roof shingle removal"}, []string{"Roof shingle removal"}, false},
		{"gsm8k", []string{"anatomy"}, nil, true},
		{"lcb_codegeneration", []string{"easy"}, nil, true},
	} {
		b, _ := task.Named(c.benchmark)
		got, err := b.Choose(c.names)
		if (err != nil) != c.fails || !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %v, %v", c.benchmark, c.names, got, err)
		}
	}
}

func TestFilesOfReleases(t *testing.T) {
	for tag, want := range map[string]string{
		"v4_v5": "test4.jsonl test5.jsonl", "v1": "test.jsonl", "release_v3": "test.jsonl test2.jsonl test3.jsonl", "v6": "test6.jsonl",
		"release_latest": "test.jsonl test2.jsonl test3.jsonl test4.jsonl test5.jsonl test6.jsonl",
		"v5_v4":          "", "v7": "", "release_v0": "", "": "", "v": "", "release": "", "v4_": "",
	} {
		if got := strings.Join(task.ReleaseFiles(tag), " "); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

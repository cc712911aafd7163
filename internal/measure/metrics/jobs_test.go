package metrics

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/measure/record"
)

// jobPart is a request of a job: its number, the number of the request that it waited for (-1 for none), when it began
// and ended after t0, and the planned delay before it, in milliseconds.
type jobPart struct{ number, after, start, end, delay int64 }

// ofJob makes the records of a job of so many requests.
func ofJob(job, requests int64, parts ...jobPart) []*record.Record {
	var list []*record.Record
	for _, p := range parts {
		r := with(success(p.start*ms, (p.end-p.start)*ms, (p.end-p.start)*ms), map[record.Field]int64{
			record.Job: job, record.JobRequests: requests, record.InputTokens: 100, record.OutputTokens: 10})
		r.SessionNum = p.number
		if p.after >= 0 {
			r.Facts[record.After] = p.after
		}
		if p.delay > 0 {
			r.Facts[record.JobDelay] = p.delay * ms
		}
		list = append(list, r)
	}
	return list
}

func failed(r *record.Record) *record.Record {
	r.Err = &record.Error{Code: 500, HasCode: true, Type: "Internal Server Error"}
	r.Facts[record.Failed] = 1
	return r
}

func wantValues(t *testing.T, results []Metric, want map[string]float64) {
	t.Helper()
	for tag, v := range want {
		got, ok := Average(results, tag)
		if !ok || !near(got, v) {
			t.Errorf("%s = %v (has a value: %v), want %v", tag, got, ok, v)
		}
	}
}

// A conversation of three turns, due at 0 and sent at 10 ms: a tool of 50 ms before the second turn, which waits for 5
// ms more, and 20 ms before the third one, which is late by 0.
//
//	0  10      110       160  165     265  285   385
//	|w |  turn  |  tool   | w |  turn   |tool| turn |
func TestJobOfOneConversation(t *testing.T) {
	turns := ofJob(7, 3, jobPart{0, -1, 10, 110, 0}, jobPart{4, 0, 165, 265, 50}, jobPart{9, 4, 285, 385, 20})
	turns[0].Facts[record.IntendedSend] = -10 * ms
	results := engineOf(t, chatConfig(), turns...).Results()
	wantValues(t, results, map[string]float64{
		"job_latency": 385, "job_latency_without_tools": 315, "job_model_time": 300, "job_tool_time": 70,
		"job_waiting_time": 15, "job_requests": 3, "job_sub_agents": 0, "job_input_tokens": 300, "job_output_tokens": 30,
		"job_output_token_throughput_per_user": 30 / 0.315, "job_count": 1, "failed_job_count": 0,
		"unfinished_job_count": 0, "job_window_steady": 0, "job_window_duration": 0.385,
		"jobs_per_hour": 3600 / 0.385, "job_concurrency": 1, "jobs_per_hour_per_user": 3600 / 0.385,
	})
	for _, tag := range []string{"jobs_per_hour_per_gpu", "good_job_count", "job_goodput"} {
		if Find(results, tag) != nil {
			t.Errorf("%s has a value without a number of GPUs, or objectives", tag)
		}
	}
}

// A root whose first turn starts three sub-agents, and whose second turn waits for two of them. The path goes through
// the slower one of these; the third one, in the background, ends before the job does.
//
//	root   0─100                               450─500
//	fast       100─150                          ↑
//	slow       100───────300 tool 100  400─440 ─┘ waits 10
//	background 100────────────────────────470
func TestCriticalPathIsTheLongestBranchThatIsWaitedFor(t *testing.T) {
	tree := ofJob(1, 6, jobPart{0, -1, 0, 100, 0},
		jobPart{1, 0, 100, 150, 0}, jobPart{2, 0, 100, 300, 0}, jobPart{3, 0, 100, 470, 0},
		jobPart{4, 2, 400, 440, 100}, jobPart{5, 4, 450, 500, 0})
	for _, i := range []int{1, 2, 3} {
		tree[i].AgentDepth, tree[i].Facts[record.JobAgents] = 1, 1
	}
	wantValues(t, engineOf(t, chatConfig(), tree...).Results(), map[string]float64{
		"job_latency": 500, "job_model_time": 100 + 200 + 40 + 50, "job_tool_time": 100, "job_waiting_time": 10,
		"job_sub_agents": 3, "job_requests": 6,
	})
	// Where the one in the background ends last, the path is its own.
	tree[3].Facts[record.LastResponse] = 600 * ms
	wantValues(t, engineOf(t, chatConfig(), tree...).Results(), map[string]float64{
		"job_latency": 700, "job_model_time": 700, "job_tool_time": 0, "job_waiting_time": 0,
	})
}

// A planned delay counts only as far as the path waited for it.
func TestToolTimeIsNotLongerThanTheGap(t *testing.T) {
	wantValues(t, engineOf(t, chatConfig(), ofJob(1, 2, jobPart{0, -1, 0, 100, 0}, jobPart{1, 0, 130, 200, 50})...).
		Results(), map[string]float64{"job_latency": 200, "job_model_time": 170, "job_tool_time": 30, "job_waiting_time": 0})
}

// Jobs with a failed or cancelled request are not completed and have no latency; those cut short are neither.
func TestJobsThatFailOrAreCutShort(t *testing.T) {
	whole := ofJob(1, 2, jobPart{0, -1, 0, 100, 0}, jobPart{1, 0, 100, 200, 0})
	broken := ofJob(2, 2, jobPart{2, -1, 0, 100, 0}, jobPart{3, 2, 100, 900, 0})
	failed(broken[0])
	cancelled := ofJob(3, 2, jobPart{4, -1, 0, 100, 0}, jobPart{5, 4, 100, 900, 0})
	failed(cancelled[1]).WasCancelled = true
	cut := ofJob(4, 3, jobPart{6, -1, 0, 100, 0}, jobPart{7, 6, 100, 1000, 0})
	// What began before the phase is part of a job: it counts where jobs are counted in time, but has no latency.
	rest := ofJob(5, -1, jobPart{8, -1, 0, 50, 0})
	cfg := chatConfig()
	cfg.SLOs = []SLO{{"job_latency", 200}}
	var records []*record.Record
	for _, list := range [][]*record.Record{whole, broken, cancelled, cut, rest} {
		records = append(records, list...)
	}
	results := engineOf(t, cfg, records...).Results()
	wantValues(t, results, map[string]float64{
		"job_count": 1, "failed_job_count": 2, "unfinished_job_count": 1, "job_latency": 200,
		"good_job_count": 1, "good_job_fraction": 1. / 3, "job_window_duration": 0.9,
		"jobs_per_hour": 2 * 3600 / 0.9, "job_goodput": 3600 / 0.9,
		"job_concurrency": (200. + 900 + 900 + 900 + 50) / 900,
	})
	if n := found(t, results, "job_latency").Stats.Count; n != 1 {
		t.Errorf("job_latency counts %d jobs, want 1", n)
	}
	if Find(results, "goodput") != nil || Find(results, "good_request_fraction") != nil {
		t.Error("an objective for jobs makes a goodput of requests")
	}
}

// Two users with jobs of 100 ms, one right after the other, for five generations: job number i of a user runs from 100·i
// to 100·i+100, the other user's a millisecond later. The first generation ends at 101, the last jobs begin at 401: in
// these 300 ms the jobs of three generations end. The last generation has no credit.
func steadyJobs() (records []*record.Record) {
	for i := range int64(10) {
		start := i/2*100 + i%2
		records = append(records, ofJob(i, 2, jobPart{2 * i, -1, start, start + 40, 0},
			jobPart{2*i + 1, 2 * i, start + 40, start + 100, 0})...)
	}
	return records
}

func TestJobsPerHourAreThoseOfTheSteadyWindow(t *testing.T) {
	cfg := chatConfig()
	cfg.SLOs = []SLO{{"job_latency", 99.5}, {"job_requests", 2}}
	records := steadyJobs()
	failed(records[9]) // of job 4, which ends at 300
	e := engineOf(t, cfg, records...)
	e.SetRunFacts(RunFacts{GPUs: 4})
	wantValues(t, e.Results(), map[string]float64{
		"job_window_steady": 1, "job_window_duration": 0.3, "job_count": 9, "failed_job_count": 1,
		"jobs_per_hour": 5 * 3600 / 0.3, "job_concurrency": 2, "jobs_per_hour_per_user": 5 * 3600 / 0.3 / 2,
		"jobs_per_hour_per_gpu": 5 * 3600 / 0.3 / 4, "good_job_count": 0, "good_job_fraction": 0, "job_goodput": 0,
	})
}

// Two generations hold none between the first and the last one: the window is the whole time.
func TestFewJobsHaveNoSteadyWindow(t *testing.T) {
	wantValues(t, engineOf(t, chatConfig(), steadyJobs()[:8]...).Results(), map[string]float64{
		"job_window_steady": 0, "job_window_duration": 0.201, "jobs_per_hour": 4 * 3600 / 0.201,
	})
}

// Jobs do not depend on the order of their records, nor on which engine took which of them.
func TestJobsOfTwoEnginesAreThoseOfOne(t *testing.T) {
	set := mustSet(t, chatConfig())
	records := steadyJobs()
	want := fill(set.NewEngine(), records).Results()
	if Find(want, "job_latency") == nil {
		t.Fatal("there are no jobs")
	}
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	left, right := fill(set.NewEngine(), records[:7]), fill(set.NewEngine(), records[7:])
	left.Merge(right)
	if diff := cmp.Diff(want, left.Results(), nans); diff != "" {
		t.Error(diff)
	}
}

// Beyond the limit of rows, jobs are in histograms and sums.
func TestJobsBeyondTheLimitStayCounted(t *testing.T) {
	cfg := chatConfig()
	exact := engineOf(t, cfg, steadyJobs()...).Results()
	cfg.MaxRecords = 4
	bounded := engineOf(t, cfg, steadyJobs()...).Results()
	m := found(t, bounded, "job_latency")
	if m.Method != MethodHistogram || m.Stats.Count != 10 || !near(m.Stats.Avg, 100) {
		t.Errorf("job_latency is %+v", m)
	}
	for _, tag := range []string{"job_count", "job_latency", "job_model_time"} {
		want, _ := Average(exact, tag)
		wantValues(t, bounded, map[string]float64{tag: want})
	}
}

// Requests that belong to no job leave no trace of jobs.
func TestWithoutJobsThereAreNoMetricsOfThem(t *testing.T) {
	for _, m := range engineOf(t, chatConfig(), worked()...).Results() {
		if m.Group == GroupJobs {
			t.Errorf("%s has a value", m.Tag)
		}
	}
}

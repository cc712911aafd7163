package metrics

import (
	"slices"

	"aiperf/internal/measure/record"
)

// jobTable holds what is measured of jobs, see [Engine.addJob].
func jobTable() []Definition {
	rows := slices.Concat(jobTimes(), jobSizes(), jobRates(), jobGoodput())
	for i := range rows {
		d := &rows[i]
		d.Group = GroupJobs
		d.Flags |= NoIndividualRecords | JobsOnly
		if d.Absent == "" {
			d.Absent = "no session has more than one request"
		}
		d.Absent += "; in time slices"
	}
	return rows
}

// jobTimes are the durations of a job.
func jobTimes() []Definition {
	duration := func(order int, tag, header, short, doc, formula string, reads []record.Field,
		value integerFormula) Definition {
		return Definition{
			Tag: tag, Header: header, Short: short, Kind: KindJob, Unit: Nanoseconds, Display: Milliseconds,
			Order: order, Doc: doc, Formula: formula, reads: append(reads, record.JobRequests), integer: ofWholeJob(value),
		}
	}
	part := func(i record.Field) []record.Field { return []record.Field{i} }
	return []Definition{
		duration(4000, "job_latency", "Job Latency", "Job Latency",
			"Time from the begin of a job, when its first request is due or else sent, to the end of its last reply.",
			"last request_end_ns − intended_send_ns of the first request, or its request_start_ns",
			part(record.End), fact(record.End)),
		duration(4010, "job_latency_without_tools", "Job Latency Without Tool Time", "Job w/o Tools",
			"Job latency less the tool and think times on the critical path.", "job_latency − job_tool_time",
			[]record.Field{record.End, record.JobDelay}, less(record.End, record.JobDelay)),
		duration(4020, "job_model_time", "Job Model Time", "Job Model",
			"Part of the critical path in which the model worked.",
			"Σ (request_end_ns − request_start_ns) over the requests of the critical path",
			part(record.JobModel), fact(record.JobModel)),
		duration(4030, "job_tool_time", "Job Tool Time", "Job Tools",
			"Part of the critical path in which a planned delay passed: tools, think times, the gaps of a recording.",
			"Σ min(planned delay, request_start_ns − end of the request before it) over the critical path",
			part(record.JobDelay), fact(record.JobDelay)),
		duration(4040, "job_waiting_time", "Job Waiting Time", "Job Waiting",
			"Rest of the critical path: waits for a slot, for an arrival, or inside this program.",
			"job_latency − job_model_time − job_tool_time",
			[]record.Field{record.End, record.JobModel, record.JobDelay},
			less(record.End, record.JobModel, record.JobDelay)),
	}
}

// jobSizes are the counts of a job, and the rate at which it gets its tokens.
func jobSizes() []Definition {
	counted := func(order int, tag, header, short string, unit Unit, flags Flags, doc, formula string,
		reads []record.Field, value integerFormula) Definition {
		return Definition{
			Tag: tag, Header: header, Short: short, Kind: KindJob, Unit: unit, Display: unit, Order: order, Flags: flags,
			Doc: doc, Formula: formula, reads: append(reads, record.JobRequests), integer: ofWholeJob(value),
		}
	}
	rate := counted(4080, "job_output_token_throughput_per_user", "Job Output Token Throughput Per User",
		"Job Tok/sec/User", TokensPerSecondPerUser, ProducesTokensOnly|LargerIsBetter,
		"Interactivity: output tokens of a job per second in which no tool was waited for.",
		"job_output_tokens / job_latency_without_tools in seconds",
		[]record.Field{record.End, record.JobDelay, record.OutputTokens, record.ReasoningTokens}, nil)
	rate.Absent = "the tokens are not known, or the time is below 20 µs"
	perUser := perSecond(outputLength, less(record.End, record.JobDelay))
	rate.integer, rate.float = nil, func(f *record.Facts) (float64, bool) {
		if f[record.JobRequests] <= 0 {
			return 0, false
		}
		return perUser(f)
	}
	return []Definition{
		counted(4050, "job_requests", "Turns per Job", "Job Turns", Requests, 0,
			"Requests of a job, those of its sub-agents included.", "requests of the job",
			nil, fact(record.JobRequests)),
		counted(4055, "job_sub_agents", "Sub-Agents per Job", "Job Sub-Agents", Count, 0,
			"Sessions that grew out of a job's own and sent a request.", "sessions of the tree − 1",
			[]record.Field{record.JobAgents}, fact(record.JobAgents)),
		counted(4060, "job_input_tokens", "Input Tokens per Job", "Job Input", Tokens, TokenizesInputOnly,
			"Input tokens of all requests of a job; the history counts with each of them.",
			"Σ input_sequence_length over the job", []record.Field{record.InputTokens}, fact(record.InputTokens)),
		counted(4070, "job_output_tokens", "Output Tokens per Job", "Job Output", Tokens, ProducesTokensOnly,
			"Output tokens of all requests of a job, reasoning included.",
			"Σ output_sequence_length over the job",
			[]record.Field{record.OutputTokens, record.ReasoningTokens}, outputLength),
		rate,
	}
}

// jobNumber is a row of a number of all jobs.
func jobNumber(order int, tag, header, short string, unit Unit, flags Flags, doc, formula string,
	value func(*jobFigures) (float64, bool)) Definition {
	return Definition{
		Tag: tag, Header: header, Short: short, Kind: KindDerived, Unit: unit, Display: unit, Order: order, Flags: flags,
		Doc: doc, Formula: formula, derive: func(s *scalars) (float64, bool) {
			if !s.jobs.any {
				return 0, false
			}
			return value(&s.jobs)
		},
	}
}

// jobRates are the numbers of jobs and what becomes of them in an hour.
func jobRates() []Definition {
	number := func(of func(*jobFigures) int64) func(*jobFigures) (float64, bool) {
		return func(f *jobFigures) (float64, bool) { return float64(of(f)), true }
	}
	window := jobNumber(4140, "job_window_duration", "Job Window", "Job Window", Nanoseconds, 0,
		"Time in which jobs per hour are counted: the steady window, or the whole time where there is none.",
		"steady: from the end of as many jobs as began before the first one ended, to the begin of the last one; "+
			"whole: from the first begin to the last end",
		func(f *jobFigures) (float64, bool) { return float64(f.windowNS), f.windowNS > 0 })
	window.Display = Seconds
	perUser := jobNumber(4120, "jobs_per_hour_per_user", "Jobs per Hour and User", "Jobs/h/User", JobsPerHourPerUser,
		LargerIsBetter, "Jobs that a user gets done in an hour. A user is a job under way: a session slot that is in use.",
		"jobs_per_hour / job_concurrency", func(f *jobFigures) (float64, bool) {
			rate, ok := f.perHour(f.inside)
			return rate / f.users, ok && f.users > 0
		})
	perGPU := jobNumber(4130, "jobs_per_hour_per_gpu", "Jobs per Hour and GPU", "Jobs/h/GPU", JobsPerHourPerGPU,
		LargerIsBetter, "Jobs that a GPU gets done in an hour.", "jobs_per_hour / GPUs (--num-gpus, else as many as GPU "+
			"telemetry sees)", func(f *jobFigures) (float64, bool) {
			rate, ok := f.perHour(f.inside)
			return rate / float64(f.gpus), ok && f.gpus > 0
		})
	perGPU.Absent = "no session has more than one request, or the number of GPUs is not known"
	return []Definition{
		jobNumber(4090, "job_count", "Completed Jobs", "Jobs", Jobs, LargerIsBetter,
			"Jobs all of whose requests succeeded.", "Σ 1 over such jobs",
			number(func(f *jobFigures) int64 { return f.completed })),
		jobNumber(4095, "failed_job_count", "Failed Jobs", "Failed Jobs", Jobs, 0,
			"Jobs all of whose requests ended, but not all successfully: one failed, or its client cancelled it.",
			"Σ 1 over such jobs", number(func(f *jobFigures) int64 { return f.failed })),
		jobNumber(4100, "unfinished_job_count", "Unfinished Jobs", "Unfinished Jobs", Jobs, 0,
			"Jobs that the end of the phase cut short after at least one request.", "Σ 1 over such jobs",
			number(func(f *jobFigures) int64 { return f.unfinished })),
		jobNumber(4110, "jobs_per_hour", "Jobs per Hour", "Jobs/h", JobsPerHour, LargerIsBetter,
			"Jobs that completed in the window of jobs, per hour of it; others have no credit.",
			"completed jobs whose end is in the window / job_window_duration in hours",
			func(f *jobFigures) (float64, bool) { return f.perHour(f.inside) }),
		perUser, perGPU,
		jobNumber(4135, "job_concurrency", "Job Concurrency", "Job Concurrency", Jobs, 0,
			"Jobs under way at the same time in the window of jobs, on average over time.",
			"Σ part of the window in which the job was under way / job_window_duration",
			func(f *jobFigures) (float64, bool) { return f.users, f.windowNS > 0 }),
		window,
		jobNumber(4145, "job_window_steady", "Job Window Is Steady", "Steady", Count, 0,
			"Whether the window of jobs is the steady one, which leaves out the begin and the end of the load.",
			"1 if as many jobs ended in the steady window as had begun before the first one ended, else 0",
			func(f *jobFigures) (float64, bool) { return float64(count(f.steady)), f.windowNS > 0 }),
	}
}

// jobGoodput are the jobs that met the objectives.
func jobGoodput() []Definition {
	rows := []Definition{
		jobNumber(4150, "good_job_count", "Good Job Count", "Good Jobs", Jobs, LargerIsBetter,
			"Completed jobs that met every service level objective for jobs.",
			"Σ [every objective for jobs has a value and passes, limits included]",
			func(f *jobFigures) (float64, bool) { return float64(f.good), true }),
		jobNumber(4160, "good_job_fraction", "Good Job Fraction", "Good Job Fraction", Ratio, LargerIsBetter,
			"Share of the jobs that ended, failed ones included, that were good.",
			"good_job_count / (job_count + failed_job_count)",
			func(f *jobFigures) (float64, bool) {
				ended := f.completed + f.failed
				return float64(f.good) / float64(ended), ended > 0
			}),
		jobNumber(4170, "job_goodput", "Job Goodput", "Job Goodput", JobsPerHour, LargerIsBetter,
			"Good jobs per hour of the window of jobs.",
			"good jobs whose end is in the window / job_window_duration in hours",
			func(f *jobFigures) (float64, bool) { return f.perHour(f.goodIn) }),
	}
	for i := range rows {
		rows[i].Flags |= JobGoodputOnly
		rows[i].Absent = "no --goodput with an objective for jobs, or no job ended"
	}
	return rows
}

// ofWholeJob returns the formula for jobs that began in the phase.
func ofWholeJob(value integerFormula) integerFormula {
	if value == nil {
		return nil
	}
	return func(f *record.Facts) (int64, bool) {
		if f[record.JobRequests] <= 0 {
			return 0, false
		}
		return value(f)
	}
}

// less returns the formula of a fact less others, at least 0.
func less(from record.Field, others ...record.Field) integerFormula {
	return func(f *record.Facts) (int64, bool) {
		v := f[from]
		for _, i := range others {
			v -= max(0, f[i])
		}
		return max(0, v), f[from] >= 0
	}
}

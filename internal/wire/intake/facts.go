package intake

import (
	"math"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
)

// timing fills the instants, relative to the start of the request, and the gaps between neighbouring
// content responses.
func (in *Intake) timing(r *record.Record, j *Job, reply *endpoint.Reply) {
	ex, f := &j.Exchange, &r.Facts
	start := ex.StartNS
	f[record.StartWall] = in.options.WallNS(start)
	since := func(field record.Field, at int64) {
		if at != 0 {
			f[field] = at - start
		}
	}
	since(record.CreditIssued, j.IssuedNS)
	since(record.IntendedSend, j.IntendedNS)
	if j.JobRequests != 0 {
		f[record.Job], f[record.JobRequests] = j.Job, j.JobRequests
		if j.After > 0 {
			f[record.After] = j.After - 1
		}
		if j.DelayNS > 0 {
			f[record.JobDelay] = j.DelayNS
		}
		if j.BeginsAgent {
			f[record.JobAgents] = 1
		}
	}
	if j.Scheduled {
		f[record.Scheduled] = j.ScheduledNS
	}
	if j.Identity.TurnIndex == 0 && j.PickedUpNS != 0 {
		f[record.CreditDrop] = start - j.PickedUpNS
	}
	since(record.Ack, ex.AckNS)
	since(record.LastResponse, ex.LastResponseNS)
	since(record.End, ex.EndNS)
	since(record.Cancelled, ex.CancelledNS)
	r.WasCancelled = ex.CancelledNS != 0

	if ex.StampedReads > 0 {
		f[record.ReadLag] = ex.ReadLagNS
	}

	content := reply.ContentNS
	f[record.Contents] = int64(len(content))
	since(record.FirstOutput, reply.FirstOutputNS)
	if n := len(content); n > 0 {
		f[record.FirstContent] = content[0] - start
		f[record.LastContent] = content[n-1] - start
		if n > 1 {
			f[record.SecondContent] = content[1] - start
			r.GapsNS = make([]int64, n-1)
			for i := range r.GapsNS {
				r.GapsNS[i] = content[i+1] - content[i]
			}
		}
	}

	if j.Body == nil {
		return // nothing was sent
	}
	t := &ex.Timing
	f[record.Blocked] = t.Blocked
	f[record.DNSLookup] = t.DNSLookup
	f[record.Connecting] = t.Connecting
	f[record.Sending] = t.Sending
	f[record.Waiting] = t.Waiting
	f[record.Receiving] = t.Receiving
	f[record.TraceDuration] = t.Duration
	f[record.ConnectionReused] = t.Reused
	f[record.BytesSent] = t.BytesSent
	f[record.ChunksSent] = t.ChunksSent
	f[record.BytesReceived] = t.BytesReceived
	f[record.ChunksReceived] = t.ChunksReceived
}

// tokens fills the token counts. A failed request keeps its input count and nothing else.
func (in *Intake) tokens(r *record.Record, j *Job, reply *endpoint.Reply) {
	f := &r.Facts
	failed := r.Err != nil
	if !failed && reply.Usage.Present() {
		for field, n := range reply.Usage.Facts() {
			f[field] = n
		}
		if seconds, ok := reply.Usage.PromptAudioSeconds(); ok {
			f[record.UsagePromptAudioSeconds] = int64(math.Float64bits(seconds))
		}
	}
	if in.options.ServerTokens {
		in.serverTokens(f, reply, failed)
		return
	}
	t := in.options.Tokenizer
	if own, ok := in.options.ByModel[j.Model]; ok {
		t = own
	}
	if t == nil {
		return
	}
	if in.options.CountsInput && j.Body != nil {
		if n, ok := j.Body.InputTokens(t); ok {
			f[record.InputTokens] = n
		}
	}
	if failed || !in.options.CountsOutput {
		return
	}
	if reply.OutputIDs > 0 {
		f[record.OutputTokens] = int64(reply.OutputIDs)
	} else if len(reply.Output) > 0 {
		f[record.OutputTokens] = int64(t.Count(string(reply.Output)))
	}
	if len(reply.Reasoning) > 0 {
		f[record.ReasoningTokens] = int64(t.Count(string(reply.Reasoning)))
	}
}

// made fills what is known of the images, the sound and the video of the reply.
func (in *Intake) made(f *record.Facts, reply *endpoint.Reply) {
	if in.options.MakesImages && reply.Images > 0 {
		f[record.Images] = int64(reply.Images)
	}
	if reply.AudioBytes > 0 {
		f[record.AudioBytes], f[record.FirstAudioBytes] = reply.AudioBytes, reply.FirstAudioBytes
	}
	if reply.AudioSeconds > 0 {
		f[record.AudioMade] = int64(math.Round(reply.AudioSeconds * 1e9))
	}
	if v := reply.InferenceSeconds; v != nil {
		f[record.InferenceSeconds] = int64(math.Float64bits(*v))
	}
	if v := reply.PeakMemoryMB; v != nil {
		f[record.PeakMemoryMB] = int64(math.Float64bits(*v))
	}
}

// serverTokens takes the counts from usage. The completion count holds the reasoning tokens, but with
// the vendors that count them apart.
func (in *Intake) serverTokens(f *record.Facts, reply *endpoint.Reply, failed bool) {
	u := &reply.Usage
	if in.options.CountsInput {
		prompt, ok := u.Value(record.UsagePrompt)
		if made, _ := u.Value(record.UsageCompletion); !ok && made == 0 && !in.options.CountsOutput {
			prompt, ok = u.Value(record.UsageTotal) // of an API that writes nothing
		}
		if ok {
			f[record.InputTokens] = prompt
		}
	}
	if failed || !in.options.CountsOutput {
		return
	}
	reasoning, hasReasoning := u.Value(record.UsageReasoning)
	if hasReasoning {
		f[record.ReasoningTokens] = reasoning
	}
	completion, ok := u.Value(record.UsageCompletion)
	if !ok {
		return
	}
	if hasReasoning && !u.ReasoningApart() {
		if completion -= reasoning; completion < 0 {
			in.warn(reasoningExceedsCompletion)
			completion = 0
		}
	}
	f[record.OutputTokens] = completion
	if in.options.ChunkUsage && reply.FirstChunkTokens > 0 {
		f[record.FirstChunkTokens] = reply.FirstChunkTokens
	}
}

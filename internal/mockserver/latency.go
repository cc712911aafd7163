package mockserver

import (
	"math"
	"time"

	"aiperf/internal/base/random"
	"aiperf/internal/mockserver/api"
)

// latency is the model of how long work takes.
type latency struct {
	ttft, itl                         time.Duration
	ttftPerInput, itlPerInput         time.Duration
	ttftPerSquare, itlPerRequest      time.Duration // of the requests in flight, and for each of them
	itlPerOutput                      time.Duration
	ttftSigma, itlSigma               float64 // of the logarithm; 0 = no jitter
	ttftJitterStream, itlJitterStream random.Stream
}

func newLatency(o *Options, seed random.Seed) latency {
	if o.Fast {
		return latency{}
	}
	return latency{
		ttft: o.TTFT, itl: o.ITL,
		ttftPerInput: o.TTFTPerInputToken, itlPerInput: o.ITLPerInputToken,
		ttftPerSquare: o.TTFTPerSquare, itlPerRequest: o.ITLPerRequest, itlPerOutput: o.ITLPerOutputToken,
		ttftSigma: logSigma(o.TTFTJitterCV), itlSigma: logSigma(o.ITLJitterCV),
		ttftJitterStream: seed.Stream("mockserver.ttft"), itlJitterStream: seed.Stream("mockserver.itl"),
	}
}

// logSigma returns the standard deviation of the logarithm of a lognormal variable of mean 1 and the
// given coefficient of variation.
func logSigma(cv float64) float64 { return math.Sqrt(math.Log1p(cv * cv)) }

func jitter(r *random.Rand, sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	return math.Exp(sigma*r.Normal() - sigma*sigma/2)
}

// schedule yields the instants at which the tokens of one reply are due.
type schedule struct {
	first int64 // of token 0
	gap   int64
	sigma float64
	rng   random.Rand
	k     int
	drift float64 // of the first k gaps, with jitter
	job   *job    // set where the scheduler decides instead
}

// size is what the latencies of a reply depend on: its tokens (of the prompt those that no cache has), and the requests in
// flight, its own included.
type size struct{ prompt, output, inFlight int }

// schedule returns the schedule of a reply from an instant on; speed is what the device does of what it can, sequence
// makes equal requests differ.
func (l *latency) schedule(start int64, of size, speed float64, sequence uint64) schedule {
	first := l.ttft + time.Duration(of.prompt)*l.ttftPerInput +
		time.Duration(of.inFlight)*time.Duration(of.inFlight)*l.ttftPerSquare
	if l.ttftSigma != 0 {
		rng := l.ttftJitterStream.At(sequence)
		first = time.Duration(float64(first) * jitter(&rng, l.ttftSigma))
	}
	if speed != 1 {
		first = time.Duration(float64(first) / speed)
	}
	s := schedule{
		first: start + int64(first),
		gap: int64(l.itl + time.Duration(of.prompt)*l.itlPerInput + time.Duration(of.output)*l.itlPerOutput +
			time.Duration(of.inFlight)*l.itlPerRequest),
		sigma: l.itlSigma,
	}
	if speed != 1 {
		s.gap = int64(float64(s.gap) / speed)
	}
	if s.sigma != 0 {
		s.rng = l.itlJitterStream.At(sequence)
	}
	return s
}

// fixed returns the schedule of a reply that takes as long as its API's work.
func (l *latency) fixed(start int64, work time.Duration) schedule {
	return schedule{first: start + int64(work)}
}

// at returns the instant after k gaps; k never decreases from call to call.
func (s *schedule) at(k int) int64 {
	if s.sigma == 0 {
		return s.first + int64(k)*s.gap
	}
	for ; s.k < k; s.k++ {
		s.drift += float64(s.gap) * jitter(&s.rng, s.sigma)
	}
	return s.first + int64(s.drift)
}

// floods reports whether tokens follow each other without any gap.
func (s *schedule) floods() bool { return s.gap == 0 && s.job == nil }

// work returns how long the reply of an API without tokens takes; negative for the others.
func (o *Options) work(r *api.Reply) time.Duration {
	work := time.Duration(-1)
	switch r.API {
	case api.Embeddings, api.InferEmbeddings, api.Pooling, api.Classify:
		work = o.EmbeddingBase + time.Duration(r.Request.Inputs)*o.EmbeddingPerInput
	case api.Cohere, api.TEI, api.NIMRanking, api.Voyage, api.Score, api.InferRankings:
		work = o.RankingBase + time.Duration(r.Request.Inputs)*o.RankingPerPassage
	case api.ImageInfer, api.ImageInferClient:
		work = o.ImageInferBase + time.Duration(r.Request.Inputs)*o.ImageInferPer
	case api.Images, api.ImageEdits, api.InferImages:
		work = o.ImageLatency
	case api.Videos:
		work = 0 // the job takes its time, not its submission
	}
	if o.Fast && work > 0 {
		work = 0
	}
	return work
}

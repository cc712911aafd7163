package answer

import (
	"math"

	"aiperf/internal/measure/metrics"
)

// Price is what the output costs at an operating point.
type Price struct {
	// PerGPUHour is the price of one GPU for an hour, in whatever currency it was given.
	PerGPUHour float64
	GPUs       int
	// PerMillion is the price of a million output tokens, PerUnit the number of output tokens for one unit of the
	// currency.
	PerMillion, PerUnit float64
}

// NewPrice returns the price at a throughput of output tokens per second; nil if any of the values is not positive.
func NewPrice(perGPUHour float64, gpus int, tokensPerSecond float64) *Price {
	perHour := perGPUHour * float64(gpus)
	if !(perHour > 0) || !(tokensPerSecond > 0) || math.IsInf(perHour, 0) || math.IsInf(tokensPerSecond, 0) {
		return nil
	}
	p := &Price{PerGPUHour: perGPUHour, GPUs: gpus}
	p.PerMillion, p.PerUnit = metrics.CostPerMillion(perHour, tokensPerSecond),
		metrics.TokensPerCurrencyUnit(perHour, tokensPerSecond)
	return p
}

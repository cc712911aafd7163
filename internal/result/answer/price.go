package answer

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
)

// Price is what the output costs at an operating point.
type Price struct {
	// PerHour is the price of all GPUs for an hour, in whatever currency it was given.
	PerHour float64
	// PerMillion is the price of a million output tokens, PerUnit the number of output tokens for one unit of the
	// currency.
	PerMillion, PerUnit float64
}

// NewPrice returns the price at a throughput of output tokens per second; nil if a value is not positive.
func NewPrice(perHour, tokensPerSecond float64) *Price {
	if !(perHour > 0) || !(tokensPerSecond > 0) || !artifact.Finite(perHour) || !artifact.Finite(tokensPerSecond) {
		return nil
	}
	return &Price{PerHour: perHour, PerMillion: metrics.CostPerMillion(perHour, tokensPerSecond),
		PerUnit: metrics.TokensPerCurrencyUnit(perHour, tokensPerSecond)}
}

// PriceAt returns the price at a load, by the figures that the runs have with --price-per-gpu-hour; nil if the cells
// of that load have none.
func (s *Sweep) PriceAt(parameter int, load float64) *Price {
	var cells []*Cell
	for i := range s.Cells {
		if v, ok := s.Cells[i].Number(parameter); ok && v == load {
			cells = append(cells, &s.Cells[i])
		}
	}
	cost, ok := pooled(cells, "cost_per_million_output_tokens_avg")
	rate, known := pooled(cells, "output_token_throughput_avg")
	if !ok || !known {
		return nil
	}
	const secondsPerHour = 3600
	return NewPrice(cost.Mean/1e6*rate.Mean*secondsPerHour, rate.Mean)
}

// String says what the output costs, and at which price of the GPUs.
func (p *Price) String() string {
	return fmt.Sprintf("%s per million output tokens, %s output tokens per currency unit (all GPUs: %s per hour)",
		artifact.Short(p.PerMillion), artifact.Short(p.PerUnit), artifact.Short(p.PerHour))
}

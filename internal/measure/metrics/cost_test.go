package metrics

import "testing"

// The worked example has 48 output tokens and 3 requests in 0.73 s. Four GPUs at 2.5 an hour cost 10 an hour.
func TestCostOfTheWorkedExample(t *testing.T) {
	cfg := chatConfig()
	cfg.PricePerGPUHour = 2.5
	e := engineOf(t, cfg, worked()...)
	e.SetRunFacts(RunFacts{GPUs: 4})
	results := e.Results()
	scalar(t, results, "cost_per_million_output_tokens", 10*0.73/3600/48*1e6)
	scalar(t, results, "output_tokens_per_currency_unit", 48/0.73*3600/10)
	scalar(t, results, "cost_per_thousand_requests", 10*0.73/3600/3*1e3)
}

func TestCostNeedsPriceAndGPUs(t *testing.T) {
	priced := chatConfig()
	priced.PricePerGPUHour = 2.5
	for name, c := range map[string]struct {
		cfg  Config
		gpus int
	}{"no price": {chatConfig(), 4}, "no number of GPUs": {priced, 0}} {
		e := engineOf(t, c.cfg, worked()...)
		e.SetRunFacts(RunFacts{GPUs: c.gpus})
		for _, r := range e.Results() {
			switch r.Tag {
			case "cost_per_million_output_tokens", "output_tokens_per_currency_unit", "cost_per_thousand_requests":
				t.Errorf("%s: %s is %v", name, r.Tag, r.Stats.Avg)
			}
		}
	}
}

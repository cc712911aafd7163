package metrics

// secondsPerHour turns rates into what an hour yields.
const secondsPerHour = 3600

// CostPerMillion returns the cost of a million pieces of what is made at a rate per second, at a price per hour.
func CostPerMillion(perHour, perSecond float64) float64 {
	return perHour / secondsPerHour / perSecond * 1e6
}

// TokensPerCurrencyUnit returns how many tokens of a rate per second one unit of the currency buys at a price per hour.
func TokensPerCurrencyUnit(perHour, perSecond float64) float64 {
	return perSecond * secondsPerHour / perHour
}

// costTable holds what the output costs at the price of the GPUs.
func costTable() []Definition {
	const absent = "no price (--price-per-gpu-hour) or no number of GPUs; in time slices"
	row := func(tag, header, short string, u Unit, order int, flags Flags, doc, formula, of string,
		cost func(perHour, perSecond float64) float64) Definition {
		return Definition{
			Tag: tag, Header: header, Short: short, Kind: KindDerived, Unit: u, Display: u, Order: order,
			Group: GroupDefault, Flags: PricedOnly | flags, Doc: doc, Formula: formula, Absent: absent,
			Requires: []string{of},
			derive: func(s *scalars) (float64, bool) {
				rate, ok := s.get(of)
				if !ok || rate <= 0 || s.pricePerHour <= 0 {
					return 0, false
				}
				return cost(s.pricePerHour, rate), true
			},
		}
	}
	return []Definition{
		row("cost_per_million_output_tokens", "Cost per Million Output Tokens", "Cost/1M Tok",
			CurrencyPerMillionTokens, 920, ProducesTokensOnly,
			"What a million output tokens cost, in the currency of the price.",
			"price per GPU-hour × GPUs ÷ 3600 ÷ output_token_throughput × 1e6", "output_token_throughput",
			CostPerMillion),
		row("output_tokens_per_currency_unit", "Output Tokens per Currency Unit", "Tok/Currency",
			TokensPerCurrency, 921, ProducesTokensOnly|LargerIsBetter,
			"How many output tokens one unit of the currency buys.",
			"output_token_throughput × 3600 ÷ (price per GPU-hour × GPUs)", "output_token_throughput",
			TokensPerCurrencyUnit),
		row("cost_per_thousand_requests", "Cost per Thousand Requests", "Cost/1k Req",
			CurrencyPerThousandRequests, 922, 0,
			"What a thousand successful requests cost, in the currency of the price.",
			"price per GPU-hour × GPUs ÷ 3600 ÷ request_throughput × 1e3", "request_throughput",
			func(perHour, perSecond float64) float64 { return CostPerMillion(perHour, perSecond) / 1e3 }),
	}
}

package trust

import (
	"fmt"
	"strconv"
	"time"
)

// Capacity is what a machine was measured to carry.
type Capacity struct {
	Machine  Machine
	Measured time.Time
	// Streams of Pace tokens per second each, at the same time, are the most that the client observed truthfully;
	// 0 = not measured.
	Streams int
	Pace    float64
	// UnaryRate is the most requests per second with short whole replies.
	UnaryRate float64
}

// tokens returns the most tokens per second in streams.
func (c *Capacity) tokens() float64 { return float64(c.Streams) * c.Pace }

// Demand is what a run asks for; 0 = not known.
type Demand struct {
	// Phase names the part of the run.
	Phase string
	// Streams are requests at the same time whose replies are streamed.
	Streams int
	// Rate is the requests per second of the plan.
	Rate float64
	// OutputTokens are those that a request asks for, where replies are streamed.
	OutputTokens float64
}

// Exceeded returns where a run asks for more than was measured, one sentence each.
func (c *Capacity) Exceeded(d Demand) []string {
	var out []string
	add := func(asked, measured string) {
		out = append(out, fmt.Sprintf("the %s phase asks for %s; this machine was measured on %s to carry %s: "+
			"beyond that the results may show the limits of the client. Lower the load or share it among several "+
			"machines; to measure this machine again: aiperf selftest", d.Phase, asked, c.Measured.Format(time.DateOnly),
			measured))
	}
	streams := fmt.Sprintf("%s streams of %s tokens/s each", count(float64(c.Streams)), count(c.Pace))
	if c.Streams > 0 && d.Streams > c.Streams {
		add(fmt.Sprintf("%s concurrent streams", count(float64(d.Streams))), streams)
	}
	if c.UnaryRate > 0 && d.Rate > c.UnaryRate {
		add(fmt.Sprintf("%s requests/s", count(d.Rate)),
			fmt.Sprintf("%s requests/s with short replies", count(c.UnaryRate)))
	}
	if tokens := d.Rate * d.OutputTokens; c.Streams > 0 && tokens > c.tokens() {
		add(fmt.Sprintf("%s requests/s with %s tokens each, %s tokens/s", count(d.Rate), count(d.OutputTokens),
			count(tokens)),
			fmt.Sprintf("%s, %s tokens/s", streams, count(c.tokens())))
	}
	return out
}

// count writes a number with separators between thousands, without decimals from 100 on.
func count(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

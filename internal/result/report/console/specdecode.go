package console

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// specDecodeTable appends what servers said of speculative decoding, and the pooled histogram below.
func (p *page) specDecodeTable(r *summary.Result) {
	if p.groupTable(r, metrics.GroupSpecDecode, product+": Spec Decode") {
		if line := acceptanceLine(r.Acceptance); line != "" {
			p.remark(line, plain)
		}
	}
}

// openBucket is the first number of accepted tokens that has no bucket of its own in the line.
const openBucket = 8

// acceptanceLine is the histogram in whole percent of steps, halves to the even one.
func acceptanceLine(list []metrics.AcceptedSteps) string {
	var shares [openBucket + 1]int64
	total, last := int64(0), -1
	for _, b := range list {
		i := int(min(b.Accepted, openBucket))
		shares[i] += b.Steps
		total += b.Steps
		last = max(last, i)
	}
	if total == 0 {
		return ""
	}
	var parts []string
	for i, n := range shares[:last+1] {
		name := strconv.Itoa(i)
		if i == openBucket {
			name = ">=" + name
		}
		percent := math.RoundToEven(100 * float64(n) / float64(total))
		parts = append(parts, name+": "+strconv.FormatFloat(percent, 'f', 0, 64)+"%")
	}
	return "Accepted drafts per step (% of steps):  " + strings.Join(parts, "   ")
}

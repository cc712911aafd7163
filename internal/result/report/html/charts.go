package html

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/summary"
)

// The groups of charts, each a section of the page.
const (
	groupRequests = "requests"
	groupServers  = "servers"
	groupGPUs     = "gpus"
	groupClient   = "client"
)

// add adds a chart without the series that have no value; one without any series is left out.
func (d *data) add(c chart) {
	if c = c.visible(); len(c.Series) > 0 {
		d.Charts = append(d.Charts, c)
	}
}

// visible is the chart without the series that have no value. Where one is missing there are no bands.
func (c chart) visible() chart {
	all := len(c.Series)
	c.Series = slices.DeleteFunc(c.Series, func(s series) bool { return !s.Values.any() })
	if len(c.Series) < all {
		c.Bands = nil
	}
	return c
}

// rateWindow is the least time over which rates of requests are averaged.
const rateWindow = time.Second

// requests adds the charts of the requests.
func (d *data) requests(r *summary.Result, p *timeline.Points, g timeline.Grid) {
	inFlight := chart{ID: "in-flight", Group: groupRequests, Title: "Requests in flight", Unit: "requests",
		Note: "average for each point of the axis", Series: []series{{"in flight", "area", p.InFlight}}}
	d.add(inFlight)
	// Single requests make a comb of the rates of short bins.
	window := g.Window(rateWindow)
	rates := chart{ID: "rates", Group: groupRequests, Title: "Requests sent and completed", Unit: "requests/s",
		Series: []series{{"completed", "line", window.Mean(p.Done)}, {"sent", "line", window.Mean(p.Sent)}}}
	if window.Bins > 1 {
		rates.Note = "running mean over " + trimmed(window.Seconds, 2) + " s"
	}
	if r.Counts.Errors > 0 {
		rates.Series = append(rates.Series, series{"failed", "bad", window.Mean(p.Failed)})
	}
	if target := targets(r, g); target.any() {
		rates.Series = append(rates.Series, series{"target rate", "dash", target})
	}
	d.add(rates)
	if _, ok := r.Find("output_token_throughput"); ok {
		d.add(chart{ID: "tokens", Group: groupRequests, Title: "Output tokens", Unit: "tokens/s",
			Note:   "each reply's tokens spread evenly from its first token to its end",
			Series: []series{{"output tokens", "area", p.Output}}})
	}
	for band, tag := range map[int]string{timeline.FirstToken: "time_to_first_token",
		timeline.BetweenTokens: "inter_token_latency", timeline.Latency: "request_latency"} {
		m, ok := r.Find(tag)
		b := &p.Bands[band]
		if !ok || !b.Any {
			continue
		}
		d.add(chart{ID: "latency-" + strconv.Itoa(band) + "-" + tag, Group: groupRequests, Title: m.Header, Unit: "ms",
			Note:   "of the requests sent at that time",
			Series: []series{{"p50", "p50", b.P50}, {"p90", "p90", b.P90}, {"p99", "p99", b.P99}},
			Bands:  [][2]int{{2, 0}}})
	}
	slices.SortStableFunc(d.Charts, func(a, b chart) int { return strings.Compare(chartRank(&a), chartRank(&b)) })
}

// targets returns the planned rate; where there are several profiling phases, that of each while it runs.
func targets(r *summary.Result, g timeline.Grid) numbers {
	target := make(numbers, g.Count)
	for i := range target {
		target[i] = math.NaN()
	}
	if len(r.Parts) == 0 {
		for i := range target {
			if r.Counts.TargetRate > 0 {
				target[i] = r.Counts.TargetRate
			}
		}
		return target
	}
	for p := range r.Parts {
		part := &r.Parts[p]
		for i, second := range g.Seconds() {
			at := g.OriginNS + int64(second*1e9)
			if rate := part.Phase.Counts.TargetRate; rate > 0 && at >= part.StartNS && at <= part.EndNS {
				target[i] = rate
			}
		}
	}
	return target
}

// chartRank sorts the latencies, which have no order, after the others.
func chartRank(c *chart) string {
	if strings.HasPrefix(c.ID, "latency-") {
		return c.ID
	}
	return ""
}

// client adds the charts of this program.
func (d *data) client(r *summary.Result, p *timeline.Points, run *Run, g timeline.Grid) {
	lag := "admission to sending"
	if r.Counts.TargetRate > 0 {
		lag = "planned arrival to sending"
	}
	lags := chart{ID: "client-lags", Group: groupClient, Title: "Delays of the client", Unit: "ms",
		Note: "maximum of each point; the client's own share in latencies",
		Series: []series{
			{"send lag (" + lag + ")", "line", p.Bands[timeline.SendLag].Max},
			{"read lag (kernel to program)", "line", p.Bands[timeline.ReadLag].Max},
		}}
	cpu, late, pause, rss := timeline.Curve{}, timeline.Curve{}, timeline.Curve{}, timeline.Curve{}
	for _, l := range run.Looks {
		for _, c := range []struct {
			c *timeline.Curve
			v float64
		}{{&cpu, 100 * l.CPUShare}, {&late, float64(l.LateNS) / 1e6}, {&pause, float64(l.PauseNS) / 1e6},
			{&rss, float64(l.RSS) / (1 << 20)}} {
			c.c.TimeNS, c.c.Values = append(c.c.TimeNS, l.AtNS), append(c.c.Values, c.v)
		}
	}
	if len(run.Looks) > 0 {
		lags.Series = append(lags.Series, series{"timer delay", "thin", late.On(g)},
			series{"garbage collector pauses", "thin", pause.On(g)})
	}
	d.add(lags)
	if len(run.Looks) == 0 {
		return
	}
	d.add(chart{ID: "client-cpu", Group: groupClient, Title: "Processor use of the client", Unit: "%",
		Note:   "of the cores that it may use",
		Series: []series{{"CPU", "area", cpu.On(g)}}})
	if slices.ContainsFunc(rss.Values, func(v float64) bool { return v > 0 }) {
		d.add(chart{ID: "client-memory", Group: groupClient, Title: "Memory of the client", Unit: "MiB",
			Series: []series{{"resident", "line", rss.On(g)}}})
	}
}

// panel is a chart of curves whose names are known.
type panel struct {
	id, title, unit string
	names           *regexp.Regexp
	scale           float64
}

// serverPanels returns the panels of servers, the most informative first. The patterns are compiled for a page only,
// not at every start of the program.
var serverPanels = sync.OnceValue(func() []panel {
	return []panel{
		{"server-queue", "Requests at the servers", "requests", regexp.MustCompile(
			`^(vllm:num_requests_(running|waiting)|sglang:num_(running|queue)_reqs|` +
				`trtllm[_:]num_requests_(running|waiting)|dynamo_frontend_(active|inflight|queued)_requests|` +
				`nv_inference_pending_request_count)$`), 1},
		{"server-cache", "KV cache in use", "%", regexp.MustCompile(
			`^(vllm:(kv|gpu)_cache_usage_perc|sglang:token_usage|trtllm[_:]kv_cache_utilization|` +
				`dynamo_component_(kvstats_)?gpu_cache_usage_percent)$`), 100},
		{"server-tokens", "Tokens at the servers", "tokens/s", regexp.MustCompile(
			`^(vllm:(prompt|generation)_tokens|sglang:(prompt|generation)_tokens|` +
				`trtllm[_:](prompt|generation)_tokens|dynamo_frontend_output_tokens)$`), 1},
	}
})

var gpuPanels = sync.OnceValue(func() []panel {
	return []panel{
		{"gpu-utilization", "GPU utilization", "%",
			regexp.MustCompile(`^(NVIDIA )?(GPU Utilization|AMD GFX Activity)$`), 1},
		{"gpu-power", "GPU power", "W", regexp.MustCompile(`^(NVIDIA )?(GPU )?(Power Usage|AMD Power)$`), 1},
		{"gpu-memory", "GPU memory in use", "GB", regexp.MustCompile(`^(NVIDIA )?(GPU Memory Used|AMD Memory Used)$`),
			1},
	}
})

const (
	// mostLines bounds the lines of a panel: more are not distinguishable. mostChoices bounds the lines to choose from.
	mostLines, mostChoices = 8, 160
)

// servers adds the charts of the servers. The final scrape comes after the last request: it counts in the last bin of a
// complete run, and is the only one of a run shorter than the scrape interval.
func (d *data) servers(curves []timeline.Curve, whole bool, g timeline.Grid) {
	if whole {
		curves = slices.Clone(curves)
		for i := range curves {
			curves[i] = curves[i].EndingOn(g)
		}
	}
	d.panels(groupServers, "Server metric", serverPanels(), curves, g)
}

func (d *data) gpus(curves []timeline.Curve, g timeline.Grid) {
	d.panels(groupGPUs, "GPU figure", gpuPanels(), curves, g)
}

// panels adds the charts of a group, and a choice of all that is not in them.
func (d *data) panels(group, title string, panels []panel, curves []timeline.Curve, g timeline.Grid) {
	names := lineNames(curves)
	shown := map[int]bool{}
	for _, p := range panels {
		c := chart{ID: p.id, Group: group, Title: p.title, Unit: p.unit}
		var own []timeline.Curve
		for i := range curves {
			if len(own) < mostLines && p.names.MatchString(curves[i].Name) {
				own = append(own, curves[i])
				shown[i] = true
			}
		}
		names := lineNames(own)
		if group == groupGPUs {
			names = deviceNames(own)
		}
		for i, name := range names {
			values := numbers(own[i].On(g))
			for k := range values {
				values[k] *= p.scale
			}
			c.Series = append(c.Series, series{name, "line", values})
		}
		d.add(c)
	}
	list := choice{ID: group + "-choice", Title: title}
	for i := range curves {
		c := &curves[i]
		values := numbers(c.On(g))
		if shown[i] || !values.any() || constant(c) {
			continue
		}
		if len(list.Lines) == mostChoices {
			list.Hidden++
			continue
		}
		list.Lines = append(list.Lines,
			chart{ID: group + "-" + strconv.Itoa(i), Title: names[i], Unit: c.Unit,
				Series: []series{{lineNames(curves[i : i+1])[0], "line", values}}}) // the rest of the name is the title
	}
	if len(list.Lines) > 0 {
		d.Choices = append(d.Choices, list)
	}
}

// deviceNames returns the names of the lines of a panel of GPUs: the figure that all are of stands in its title.
func deviceNames(curves []timeline.Curve) []string {
	own := slices.Clone(curves)
	for i := range own {
		if own[i].Name != own[0].Name || own[i].Labels == "" {
			return lineNames(curves)
		}
	}
	for i := range own {
		own[i].Name, own[i].What, own[i].Labels = strings.ReplaceAll(own[i].Labels, " | ", " · "), "", ""
	}
	return lineNames(own)
}

// lineNames returns the names of curves in a legend, with the labels and sources in which the curves differ.
func lineNames(curves []timeline.Curve) []string {
	names := make([]string, len(curves))
	differ := func(of func(*timeline.Curve) string) {
		by := map[string]string{}
		several := map[string]bool{}
		for i := range curves {
			value, known := by[names[i]]
			several[names[i]] = several[names[i]] || known && value != of(&curves[i])
			by[names[i]] = of(&curves[i])
		}
		for i, name := range slices.Clone(names) {
			if several[name] {
				names[i] += of(&curves[i])
			}
		}
	}
	for i := range curves {
		c := &curves[i]
		names[i] = c.Name + map[string]string{timeline.Rate: " per second", timeline.Mean: ", mean"}[c.What]
	}
	differ(func(c *timeline.Curve) string { return " {" + shorten(c.Labels, 120) + "}" })
	differ(func(c *timeline.Curve) string { return " @ " + c.Source })
	return names
}

// constant reports whether all values of a curve are equal.
func constant(c *timeline.Curve) bool {
	first := math.NaN()
	for _, v := range c.Values {
		if math.IsNaN(v) {
			continue
		}
		if math.IsNaN(first) {
			first = v
		}
		if v != first {
			return false
		}
	}
	return true
}

// shorten cuts a text after so many characters.
func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// describe returns a description of a chart in words, for readers who cannot see it.
func (c *chart) describe() string {
	parts := make([]string, 0, len(c.Series))
	for _, s := range c.Series {
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		parts = append(parts, s.Label+" between "+short(low)+" and "+short(high)+" "+c.Unit)
	}
	return c.Title + " over time: " + strings.Join(parts, "; ") + "."
}

func (d *distribution) describe() string {
	text := "Distribution of " + d.Title + " over " + integer(d.Count) + " requests"
	for _, m := range d.Marks {
		text += ", " + m.Label + " " + short(float64(m.Value)) + " " + d.Unit
	}
	return text + "."
}

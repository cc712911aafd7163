package html

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/webpage"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

// view is what the template shows.
type view struct {
	webpage.Frame
	// Name is how the run is called, Load what it was asked for; the title has both.
	Name, Load                        string
	Models, Kind, Target, BenchmarkID string
	// Contents are the sections below the first screen.
	Contents []part
	// Sure says how far the figures can be relied on, Limits what limited the run, Findings what was seen of the
	// client.
	Sure, Limits, Status []status
	// First is the first finding where it is not the first of Limits.
	First      []status
	Findings   []string
	Cards      []card
	Confidence string
	Accuracy   *accuracyView
	Times      *timesView
	Twin       *twinView
	// Jobs is nil where no session has more than one request.
	Jobs          *jobsView
	Distributions []figure
	Constant      []string
	// Requests, Servers, GPUs and Client are the charts of the sections.
	Requests, Servers, GPUs, Client section
	ServerFigures                   []servermetrics.Highlight
	ServerTotals                    string
	Devices                         []device
	Errors                          []failure
	MoreErrors, MoreFailed          string
	Hints                           []row
	Ranks, Rare                     []string
	Explanations                    []webpage.About
	Groups, Warmup                  []metricGroup
	Acceptance                      []row
	Slices                          *sliceTable
	Health                          []row
	Command                         string
	Configuration                   string
	Endpoints                       []string
	Phases                          []phase
	Provenance, RunFacts            []row
	Recomputed                      []row
}

// What the pages here share with those of other rooms.
type (
	row        = webpage.Fact
	status     = webpage.Status
	card       = webpage.Card
	cardLine   = webpage.CardLine
	figure     = webpage.Figure
	choiceView = webpage.Choice
)

// section holds the charts of a group and the choices of further lines.
type section struct {
	Charts  []figure
	Choices []choiceView
}

func (s *section) any() bool { return len(s.Charts)+len(s.Choices) > 0 }

type phase struct{ Name, Start, Sending, End, Sent, Completed, Errors, Cancelled string }

func newView(r *summary.Result, run *Run, d *data) (*view, error) {
	v := &view{
		Kind: r.EndpointTitle, BenchmarkID: r.BenchmarkID, Command: r.RunInfo.CLICommand,
		Confidence: fmt.Sprintf("%.0f %%", 100*metrics.BoundsConfidence),
	}
	v.Version = r.AIPerfVersion
	config, err := artifact.AppendIndented(nil, append(artifact.Object{}, r.InputConfig...))
	if err != nil {
		return nil, err
	}
	v.Configuration = string(config)
	v.identify(r)
	v.status(r, run)
	v.Cards = cards(r)
	v.Accuracy, v.Times = newAccuracyView(r.Accuracy, run.Answers), newTimesView(r)
	v.Twin = newTwinView(r)
	v.Jobs = newJobsView(r)
	v.Constant = d.Constant
	for i := range d.Distributions {
		of := &d.Distributions[i]
		v.Distributions = append(v.Distributions, figure{ID: of.ID, Title: of.Title, Unit: of.Unit, Note: beyond(of),
			Description: of.describe()})
	}
	for group, into := range map[string]*section{groupRequests: &v.Requests, groupServers: &v.Servers,
		groupGPUs: &v.GPUs, groupClient: &v.Client} {
		for i := range d.Charts {
			if c := &d.Charts[i]; c.Group == group {
				into.Charts = append(into.Charts, figure{ID: c.ID, Title: c.Title, Unit: c.Unit, Note: c.Note,
					Description: c.describe()})
			}
		}
		for i := range d.Choices {
			if c := &d.Choices[i]; strings.HasPrefix(c.ID, group+"-") {
				choice := choiceView{ID: c.ID, Title: c.Title, Hidden: c.Hidden}
				for k := range c.Lines {
					name := c.Lines[k].Title
					if unit := c.Lines[k].Unit; unit != "" {
						name += " (" + unit + ")"
					}
					choice.Options = append(choice.Options, name)
				}
				into.Choices = append(into.Choices, choice)
			}
		}
	}
	v.ServerFigures = run.ServerFigures
	if r.Reconciliation != nil {
		v.ServerTotals = r.Reconciliation.Summary()
	}
	v.Devices = devices(r.Telemetry)
	v.errors(r, run)
	v.Ranks, v.Rare = ranks(r.Metrics)
	v.Groups = metricGroups(r.Metrics, v.Ranks, v.Rare)
	v.Acceptance = acceptanceRows(r.Acceptance)
	warmup := slices.Clone(r.Warmup) // whose bounds are in no file
	for i := range warmup {
		warmup[i].Bounds = nil
	}
	v.Warmup = metricGroups(warmup, v.Ranks, v.Rare)
	v.explained()
	v.Slices = newSliceTable(r)
	v.Health = healthRows(r.ClientHealth)
	v.Provenance, v.Recomputed = rows(r.Provenance), rows(r.Recomputed)
	v.phases(run.Phases, r)
	v.Contents = v.contents()
	return v, nil
}

// part is a section of the page, with the id of its heading.
type part struct{ ID, Title string }

// contents are the sections that the page has.
func (v *view) contents() (list []part) {
	for _, s := range []struct {
		id, title string
		has       bool
	}{
		{"h-accuracy", "Accuracy", v.Accuracy != nil},
		{"h-jobs", "Jobs", v.Jobs != nil},
		{"h-split", "Where the time went", v.Times != nil},
		{"h-twin", "Recorded and replayed", v.Twin != nil},
		{"h-distributions", "Distributions", len(v.Distributions)+len(v.Constant) > 0},
		{"h-time", "Over time", len(v.Requests.Charts) > 0},
		{"h-servers", "Servers", v.Servers.any() || len(v.ServerFigures) > 0 || v.ServerTotals != ""},
		{"h-gpus", "GPUs", v.GPUs.any() || len(v.Devices) > 0},
		{"h-client", "Client", len(v.Client.Charts)+len(v.Health)+len(v.Findings) > 0},
		{"h-errors", "Errors", len(v.Errors) > 0},
		{"h-slices", "Time slices", v.Slices != nil},
		{"h-metrics", "All metrics", len(v.Groups) > 0},
		{"h-run", "Setup", true},
	} {
		if s.has {
			list = append(list, part{s.id, s.title})
		}
	}
	return list
}

// Has reports whether the page has a section, by the id of its heading.
func (v *view) Has(id string) bool {
	return slices.ContainsFunc(v.Contents, func(p part) bool { return p.ID == id })
}

// beyond returns a note on the values that a linear axis does not show.
func beyond(d *distribution) string {
	if d.Lin.Beyond == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s requests are beyond the linear axis; the logarithmic axis shows them",
		integer(d.Lin.Beyond), integer(d.Count))
}

// identify sets the description of the run.
func (v *view) identify(r *summary.Result) {
	if list, ok := normal(r.InputConfig).(artifact.Object); ok {
		v.Models = models(list)
		endpoint, _ := list.Get("endpoint")
		if o, ok := endpoint.(artifact.Object); ok {
			urls, _ := o.Get("urls")
			if urls, ok := urls.([]any); ok {
				for _, url := range urls {
					v.Endpoints = append(v.Endpoints, text(url))
				}
			}
		}
	}
	v.Name, v.Load = named(r, v.Models)
	v.Title = v.Name
	if v.Load != "" {
		v.Title += " · " + v.Load
	}
	v.Target = strings.Join(v.Endpoints, ", ")
	fact := func(name, value string) {
		if value != "" {
			v.Facts = append(v.Facts, row{Name: name, Value: value})
		}
	}
	if v.Name != v.Models {
		fact("Model", v.Models)
	}
	fact("Endpoint", v.Target)
	fact("ISL / OSL", lengths(r))
	if o, ok := normal(r.Provenance).(artifact.Object); ok {
		tokenizer, _ := o.Get("tokenizer")
		if t, ok := tokenizer.(artifact.Object); ok {
			name, _ := t.Get("name")
			fact("Tokenizer", text(name))
		}
	}
	if r.StartNS != 0 {
		fact("Started", time.Unix(0, r.StartNS).UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if m, ok := r.Find("benchmark_duration"); ok {
		fact("Duration", short(m.Stats.Avg)+" "+m.Unit)
	}
	c := &r.Counts
	fact("Requests", integer(c.Completed()))
	if m, ok := r.Find("effective_concurrency"); ok {
		fact("Concurrency", "avg "+short(m.Stats.Avg)+", max "+short(m.Stats.Max))
	}
	if c.TargetRate > 0 {
		fact("Rate", fmt.Sprintf("%s of %s requests/s", short(c.DeliveredRate), short(c.TargetRate)))
	}
	fact("AIPerf", r.AIPerfVersion)
	v.RunFacts = append(v.RunFacts, row{Name: "benchmark_id", Value: r.BenchmarkID})
	if seed := r.RunInfo.RandomSeed; seed != nil {
		v.RunFacts = append(v.RunFacts, row{Name: "random_seed", Value: fmt.Sprint(*seed)})
	}
	for _, n := range []struct {
		name string
		n    int64
	}{{"requests_sent", c.Sent}, {"requests_completed", c.Completed()}, {"requests_cancelled", c.CutOff},
		{"request_errors", c.Errors}} {
		v.RunFacts = append(v.RunFacts, row{Name: n.name, Value: integer(n.n)})
	}
	if c.TargetRate > 0 {
		v.RunFacts = append(v.RunFacts, row{Name: "skipped_arrivals", Value: integer(c.SkippedArrivals)},
			row{Name: "dropped_by_catchup", Value: integer(c.DroppedByCatchup)})
	}
}

// trialLabel finds the number of a repeat in the label of a run.
var trialLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|_)(?:run|trial)_0*(\d+)(?:_|$)`) })

// numbered are folders that the program names by a number alone.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(run|trial)_\d+$`) })

// named returns how a run is called and its load. The name is that of the folder, unless it is a number or has the model
// and the load, which the page shows anyway. A cell is called by the folder of its sweep, and its load is what it varies.
func named(r *summary.Result, models string) (name, load string) {
	name, load = r.RunInfo.RunLabel, asked(r).Load
	trial := trialLabel().FindStringSubmatch(name)
	if trial != nil {
		name = strings.Trim(strings.Replace(name, trial[0], "", 1), "_")
	}
	if v := r.RunInfo.VariationLabel; v != "" && v != "base" && name != "" {
		name, load = "", strings.ReplaceAll(name, "_", " ")
	}
	if trial != nil {
		load = strings.TrimPrefix(load+", run "+trial[1], ", ")
	}
	o, _ := normal(r.InputConfig).(artifact.Object)
	artifacts, _ := o.Get("artifacts")
	folders, _ := artifacts.(artifact.Object)
	dir, _ := folders.Get("dir")
	return cmp.Or(name, folderOf(filepath.ToSlash(text(dir)), r.RunInfo.RunLabel, models), models, "Benchmark"), load
}

// folderOf returns the last folder of a path that says something of a run; "" for none. The folder that the program
// chooses begins with the model, in which other characters separate.
func folderOf(dir, label, models string) string {
	first, _, _ := strings.Cut(models, ", ")
	plain := strings.NewReplacer("/", "-", "_", "-", ":", "-").Replace
	for ; dir != "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
		switch base := path.Base(dir); {
		case label != "" && strings.Contains(label, base), slices.Contains([]string{"profile_runs", "report"}, base), numbered().MatchString(base):
		case base == "artifacts", base == "..", first != "" && strings.HasPrefix(plain(base), plain(first)):
			return ""
		default:
			return base
		}
	}
	return ""
}

// asked returns what the configuration asked for.
func asked(r *summary.Result) summary.Configured {
	text, err := artifact.AppendJSON(nil, r.InputConfig)
	if err != nil {
		return summary.Configured{}
	}
	return summary.ParseConfigured(text)
}

// lengths are the mean lengths of prompts and replies, in tokens.
func lengths(r *summary.Result) string {
	var parts []string
	for _, tag := range []string{"input_sequence_length", "output_sequence_length"} {
		m, ok := r.Find(tag)
		if !ok {
			parts = append(parts, "–")
			continue
		}
		parts = append(parts, short(m.Stats.Avg))
	}
	if parts[0] == "–" && parts[1] == "–" {
		return ""
	}
	return strings.Join(parts, " / ") + " tokens"
}

// models returns the names of the models in either form of the configuration.
func models(config artifact.Object) string {
	value, _ := config.Get("models")
	if o, ok := value.(artifact.Object); ok {
		value, _ = o.Get("items")
	}
	list, _ := value.([]any)
	var names []string
	for _, item := range list {
		if o, ok := item.(artifact.Object); ok {
			item, _ = o.Get("name")
		}
		names = append(names, text(item))
	}
	return strings.Join(names, ", ")
}

func (v *view) phases(phases []summary.PhaseState, r *summary.Result) {
	origin := int64(0)
	for i := range phases {
		if phases[i].Kind != "warmup" {
			origin = phases[i].StartNS
			break
		}
	}
	at := func(ns int64) string {
		if ns == 0 || origin == 0 {
			return ""
		}
		return trimmed(float64(ns-origin)/1e9, 3) + " s"
	}
	for i := range phases {
		p := &phases[i]
		v.Phases = append(v.Phases, phase{p.Name, at(p.StartNS), at(p.SentEndNS), at(p.RequestsEndNS),
			integer(p.Sent), integer(p.Completed), integer(p.Errors), integer(p.Cancelled)})
	}
}

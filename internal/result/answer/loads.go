package answer

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/judge"
)

// Loads is what the cells of a sweep say together that differ in one parameter only.
type Loads struct {
	// Parameter is the index of what differs.
	Parameter int
	// Fixed has the values of the other parameters, such as "isl 128"; "" where there are none.
	Fixed string
	// Allowed, Knee and Recommended are indices of cells, as in [judge.SweepAnswer].
	judge.SweepAnswer
}

// Headline is the first finding; false if there is none.
func (l *Loads) Headline() (judge.Finding, bool) {
	if len(l.Findings) == 0 {
		return judge.Finding{}, false
	}
	return l.Findings[0], true
}

// efforts are the parameters of which a larger value asks more of a server.
var efforts = []string{"concurrency", "request_rate", "rate", "users", "num_users", "prefill_concurrency"}

// Loads returns what the cells say together, one for each combination of the other parameters; none for a search, which
// has an answer of its own, and where no parameter is a number.
func (s *Sweep) Loads() []Loads {
	at := s.load()
	if at < 0 || s.Search != nil || s.Capacity != nil {
		return nil
	}
	var out []Loads
	for _, group := range s.groups(at) {
		in := s.loadsOf(at)
		for _, c := range group.cells {
			in.Cells = append(in.Cells, s.judged(c, at))
		}
		of := Loads{Parameter: at, Fixed: group.name, SweepAnswer: judge.Sweep(&in)}
		for _, index := range []*int{&of.Allowed, &of.Knee, &of.Recommended} {
			if *index >= 0 {
				*index = group.at[*index]
			}
		}
		out = append(out, of)
	}
	return out
}

// shape says from the curves of a search over one load what the server ran out of; false where they do not.
func (s *Sweep) shape() (judge.Finding, bool) {
	if len(s.Parameters) != 1 || !s.effort(0) {
		return judge.Finding{}, false
	}
	in := s.loadsOf(0)
	for i := range s.Cells {
		if _, isNumber := s.Cells[i].Number(0); isNumber {
			in.Cells = append(in.Cells, s.judged(&s.Cells[i], 0))
		}
	}
	of := judge.Sweep(&in)
	return of.Shape()
}

// loadsOf are the facts of the values of a parameter, without cells.
func (s *Sweep) loadsOf(at int) judge.Loads {
	in := judge.Loads{Name: s.Parameters[at].Name, Effort: s.effort(at), Objectives: s.objectives()}
	switch in.Name[strings.LastIndexByte(in.Name, '.')+1:] {
	case "users", "num_users":
		in.Name, in.Counted = "users", true
	}
	return in
}

func (s *Sweep) effort(parameter int) bool {
	name := s.Parameters[parameter].Name
	return slices.Contains(efforts, name[strings.LastIndexByte(name, '.')+1:])
}

// load returns the parameter that is varied: what asks more of the server, else the only one; -1 for none that is a
// number in all cells.
func (s *Sweep) load() int {
	best := -1
	for i := range s.Parameters {
		number := len(s.Cells) > 0 && !slices.ContainsFunc(s.Cells, func(c Cell) bool {
			_, ok := c.Number(i)
			return !ok
		})
		if number && (s.effort(i) || best < 0 && len(s.Parameters) == 1) {
			if best < 0 || !s.effort(best) {
				best = i
			}
		}
	}
	return best
}

// group are the cells with the same values of all parameters but one; at are their indices, -1 for one that is not
// among the cells.
type group struct {
	name  string
	cells []*Cell
	at    []int
}

func (s *Sweep) groups(load int) (list []group) {
	add := func(c *Cell, at int) {
		var parts []string
		for i, p := range s.Parameters {
			if i != load && i < len(c.Values) && c.Values[i] != nil {
				parts = append(parts, p.Name+" "+Label(c.Values[i]))
			}
		}
		name := strings.Join(parts, ", ")
		i := slices.IndexFunc(list, func(g group) bool { return g.name == name })
		if i < 0 {
			i = len(list)
			list = append(list, group{name: name})
		}
		list[i].cells, list[i].at = append(list[i].cells, c), append(list[i].at, at)
	}
	for i := range s.Cells {
		add(&s.Cells[i], i)
	}
	for i := range s.missing {
		if _, ok := s.missing[i].Number(load); ok {
			add(&s.missing[i], -1)
		}
	}
	return list
}

// judged are the facts of a cell.
func (s *Sweep) judged(c *Cell, load int) judge.Load {
	value, _ := c.Number(load)
	of := func(tag string) float64 {
		if f, ok := c.Figure(tag + "_avg"); ok {
			return f.Mean
		}
		return math.NaN()
	}
	var jobs *judge.GoodJobs
	if share := of("good_job_fraction"); !math.IsNaN(share) {
		jobs = &judge.GoodJobs{PerHour: of("job_goodput"), Share: share}
	}
	return judge.Load{Value: value, Jobs: jobs, Throughput: of("request_throughput"), Goodput: of("goodput"),
		Good: of("good_request_fraction"), TTFT: of("time_to_first_token"), ITL: of("inter_token_latency"),
		Latency: of("request_latency"), Missed: c.Verdict == Infeasible,
		ClientLimited: c.ClientLimited > 0 || c.Verdict == ClientLimited, Failed: c.Verdict == Failed}
}

// objectives are those of the requests and the limits of the cells, in words.
func (s *Sweep) objectives() []string {
	list := slices.Clone(s.Objectives)
	for _, l := range s.Limits {
		list = append(list, LimitText(l))
	}
	if len(list) == 0 && s.Having("good_request_fraction_avg")+s.Having("good_job_fraction_avg") > 0 {
		list = append(list, "the objectives of --goodput")
	}
	return list
}

// Objective writes a service level objective for people: "TTFT ≤ 300 ms".
func Objective(tag string, limit float64) string {
	m, sign := NewMetric(tag, "", ""), "≤"
	if d, ok := metrics.Lookup(tag); ok && d.Flags.Has(metrics.LargerIsBetter) {
		sign = "≥"
	}
	return strings.TrimSpace(m.Short + " " + sign + " " + artifact.Trimmed(limit, 6) + " " + m.Unit)
}

// Marks returns the letters that cells have on pages and charts: K for a knee, R for a recommended load.
func Marks(list []Loads) map[int][]string {
	out := map[int][]string{}
	for i := range list {
		if k := list[i].Knee; k >= 0 {
			out[k] = append(out[k], "K")
		}
		if r := list[i].Recommended; r >= 0 {
			out[r] = append(out[r], "R")
		}
	}
	return out
}

// LoadsDocument is what the cells of a sweep say together that differ in one parameter. The values are those of the
// parameter, null for none.
type LoadsDocument struct {
	Parameter string `json:"parameter"`
	// Fixed has the values of the other parameters in words.
	Fixed       string          `json:"fixed,omitempty"`
	Objectives  []string        `json:"objectives"`
	Allowed     *float64        `json:"allowed"`
	Knee        *float64        `json:"knee"`
	Recommended *float64        `json:"recommended"`
	Findings    []judge.Finding `json:"findings"`
}

// LoadsDocuments returns the answers of a sweep as they are written.
func (s *Sweep) LoadsDocuments() []LoadsDocument {
	var out []LoadsDocument
	for _, l := range s.Loads() {
		value := func(i int) *float64 {
			if i < 0 {
				return nil
			}
			v, _ := s.Cells[i].Number(l.Parameter)
			return &v
		}
		out = append(out, LoadsDocument{Parameter: s.Parameters[l.Parameter].Name, Fixed: l.Fixed,
			Objectives: s.objectives(), Allowed: value(l.Allowed), Knee: value(l.Knee),
			Recommended: value(l.Recommended), Findings: l.Findings})
	}
	return out
}

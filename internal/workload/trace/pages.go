package trace

import (
	"bytes"
	"container/list"
	"embed"
	"fmt"
	"maps"
	"os"
	"slices"

	"aiperf/internal/base/webpage"
)

// page is a file that a person reads.
type page struct {
	name  string
	write func(path string) error
}

// table is a table of a page.
type table struct {
	Title, Note string
	Head        []string
	Rows        [][]string
}

func pages(name string, c *SessionConfig, sessions []session, q *Quality, a *Analysis) []page {
	title := "Coding sessions: " + name
	html := func(file string, tables ...table) page {
		return page{file, func(path string) error { return writePage(path, title, tables) }}
	}
	compared := comparison(q)
	return []page{
		html("report.html", compared, counts("Ends of sessions", q.Ends), lengths(q, a)),
		html("cache_explorer.html", layers(c, sessions), counts("Sessions by group", q.Groups)),
		html("simulation.html", cacheTable(c, sessions)),
		{"comparison.txt", func(path string) error {
			var text bytes.Buffer
			printTable(&text, compared.Title, append([][]string{compared.Head}, compared.Rows...))
			return os.WriteFile(path, text.Bytes(), 0o644)
		}},
	}
}

func comparison(q *Quality) table {
	t := table{Title: "Target and observed",
		Head: []string{"Quantity", "Target mean", "Mean", "Target median", "Median", "Min", "Max"}}
	for _, x := range q.Compared {
		row := []string{x.Name, grouped(float64(x.TargetMean)), "N/A", grouped(float64(x.TargetMedian)), "N/A", "N/A",
			"N/A"}
		if s := x.Observed; s != nil {
			row[2], row[4], row[5], row[6] = grouped(float64(s.Mean)), grouped(float64(s.Median)),
				grouped(float64(s.Min)), grouped(float64(s.Max))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = "Bounds cut the distributions, so that observed values may differ from targets."
	return t
}

func counts(title string, of map[string]int) table {
	t := table{Title: title, Head: []string{"Which", "Sessions"}}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		t.Rows = append(t.Rows, []string{name, fmt.Sprint(of[name])})
	}
	slices.SortStableFunc(t.Rows, func(a, b []string) int { return len(b[1]) - len(a[1]) })
	return t
}

func lengths(q *Quality, a *Analysis) table {
	t := table{Title: "The trace", Head: []string{"", "Mean", "Median", "Min", "Max"}}
	for _, x := range []struct {
		name string
		s    *Stats
	}{
		{"Turns of a session", q.Turns}, {"Tokens of a request's context", q.Context},
		{"Tokens of a row's input", a.ISL}, {"Tokens of an answer", a.OSL},
		{"Hit rate of a row's blocks", a.HitRates},
	} {
		if x.s != nil {
			t.Rows = append(t.Rows, []string{x.name, grouped(float64(x.s.Mean)), grouped(float64(x.s.Median)),
				grouped(float64(x.s.Min)), grouped(float64(x.s.Max))})
		}
	}
	return t
}

// layers returns what the contexts consist of, by the number of the turn.
func layers(c *SessionConfig, sessions []session) table {
	t := table{
		Title: "What contexts consist of", Note: "Mean tokens by turn; the history is what earlier turns added.",
		Head: []string{"Turn", "Sessions", "All share", "Group shares", "Session's own", "History and new"},
	}
	const most = 40
	for turn := range most {
		n, own, rest := 0, 0, 0
		for _, s := range sessions {
			if turn < len(s.rows) && !s.rows[0].Restart {
				n++
				own += s.layer2
				rest += s.rows[turn].context - s.rows[0].context
			}
		}
		if n == 0 {
			break
		}
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(turn + 1), fmt.Sprint(n), grouped(float64(c.Cache.Layer1Tokens)),
			grouped(float64(c.Cache.Layer15Tokens)),
			grouped(float64(own) / float64(n)), grouped(float64(rest) / float64(n)),
		})
	}
	return t
}

// The prefix cache is simulated for the first sessions, all begun at the same time.
const simulatedSessions = 200

// cacheTable counts which share of the blocks prefix caches of several sizes hold when a request comes.
func cacheTable(c *SessionConfig, sessions []session) table {
	t := table{
		Title: "Prefix caches of several sizes",
		Note: fmt.Sprintf("The first %d sessions at the same time; the cache drops what was used longest ago.",
			min(simulatedSessions, len(sessions))),
		Head: []string{"Blocks", "Tokens", "Hit rate"},
	}
	type request struct {
		atMS float64
		ids  []int64
	}
	var all []request
	for _, s := range sessions[:min(simulatedSessions, len(sessions))] {
		at, ids := 0.0, []int64(nil)
		for _, row := range s.rows {
			at += row.delayMS
			ids = append(ids, row.IDs...)
			all = append(all, request{at, ids[:len(ids):len(ids)]})
		}
	}
	slices.SortStableFunc(all, func(a, b request) int {
		switch {
		case a.atMS < b.atMS:
			return -1
		case a.atMS > b.atMS:
			return 1
		}
		return 0
	})
	for _, size := range []int{1 << 10, 1 << 13, 1 << 16} {
		cache := NewPrefixCache(size)
		hits, total := 0, 0
		for _, r := range all {
			hits += cache.Use(r.ids)
			total += len(r.ids)
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(size), grouped(float64(size * c.BlockSize)),
			fmt.Sprintf("%.1f %%", 100*float64(hits)/float64(max(1, total)))})
	}
	return t
}

// PrefixCache simulates a cache of so many blocks, from which the one that was used longest ago is dropped first.
type PrefixCache struct {
	size   int
	order  list.List
	places map[int64]*list.Element
}

// NewPrefixCache returns an empty cache of a size in blocks.
func NewPrefixCache(size int) *PrefixCache {
	return &PrefixCache{size: size, places: map[int64]*list.Element{}}
}

// Use asks for a prompt and returns how many of its leading blocks were there.
func (c *PrefixCache) Use(ids []int64) (hits int) {
	for _, id := range ids {
		if c.places[id] == nil {
			break
		}
		hits++
	}
	for i := len(ids) - 1; i >= 0; i-- { // so that beginnings stay longest
		if place := c.places[ids[i]]; place != nil {
			c.order.MoveToFront(place)
			continue
		}
		c.places[ids[i]] = c.order.PushFront(ids[i])
		if c.order.Len() > c.size {
			oldest := c.order.Back()
			delete(c.places, c.order.Remove(oldest).(int64))
		}
	}
	return hits
}

//go:embed page.html page.css
var pageFiles embed.FS

func writePage(path, title string, tables []table) error {
	frame, err := webpage.Plain(title, webpage.Text(pageFiles, "page.css"), "", nil)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := webpage.ExecuteWhole(&text, pageFiles, "page.html", nil, struct {
		webpage.Frame
		Tables []table
	}{frame, tables}); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

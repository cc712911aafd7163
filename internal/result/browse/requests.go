package browse

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/webpage"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/library"
)

// metricView is a metric that requests can be sorted by.
type metricView struct {
	Tag    string `json:"tag"`
	Header string `json:"header"`
	Unit   string `json:"unit"`
}

// requestsPage is the page of the requests of a run.
func (s *Server) requestsPage(w http.ResponseWriter, r *http.Request, sh *shelf, it *item) {
	if !it.folder.HasRecords {
		s.fail(w, r, http.StatusNotFound, "There are no records of requests",
			"The run was made with --export-level summary, or its per-request file was removed.")
		return
	}
	s.indexes.of(it, config.RecordsJSONL) // it is being made while the page loads
	v := struct {
		webpage.Frame
		Name string
		Raw  bool
	}{Name: it.name, Raw: hasRaw(it)}
	v.Title, v.Class, v.Skip = "Requests", "wide", "requests"
	v.Nav = navigation(sh, it, "requests")
	var list []metricView
	for _, tag := range library.Tags {
		m := metricView{Tag: tag, Header: tag}
		if d, ok := metrics.Lookup(tag); ok {
			m.Header, m.Unit = d.Header, string(d.Display)
		}
		list = append(list, m)
	}
	s.show(w, r, "requests", controls, &v.Frame, map[string]any{"id": it.id, "metrics": list, "raw": v.Raw}, &v)
}

func hasRaw(it *item) bool {
	info, err := os.Stat(it.folder.Files.Path(config.RawJSONL))
	return err == nil && info.Mode().IsRegular()
}

// requestRow is a request in a list.
type requestRow struct {
	Number       int                `json:"n"`
	ID           string             `json:"id,omitempty"`
	Session      string             `json:"session,omitempty"`
	Conversation string             `json:"conversation,omitempty"`
	Turn         int                `json:"turn"`
	Phase        string             `json:"phase,omitempty"`
	Start        float64            `json:"start,omitempty"` // ms
	Error        string             `json:"error,omitempty"`
	Values       map[string]float64 `json:"v"`
}

// kindRow is a kind of failure.
type kindRow struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Count   int64  `json:"count"`
}

const (
	// pageSize is the number of requests in an answer, unless it is asked for fewer.
	pageSize = 100
	// shownKinds bounds the kinds of failures in an answer.
	shownKinds = 20
	// answerSoon is how long an answer waits for an index that is being made.
	answerSoon = 2 * time.Second
)

// pending answers that an index is being made.
func pending(w http.ResponseWriter, m *indexed) {
	answerJSON(w, map[string]any{"pending": true, "share": math.Float64frombits(m.share.Load())})
}

// findRequests answers a query for requests.
func (s *Server) findRequests(w http.ResponseWriter, r *http.Request, _ *shelf, it *item) {
	m := s.indexes.of(it, config.RecordsJSONL)
	if !m.done.wait(r.Context(), answerSoon) {
		pending(w, m)
		return
	}
	if m.err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, "The requests cannot be read", m.err.Error())
		return
	}
	begin := time.Now()
	get := r.URL.Query()
	whole := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(get.Get(name)); err == nil && n >= 0 {
			return n
		}
		return otherwise
	}
	query := library.Query{Text: get.Get("q"), Error: get.Get("error"), Failed: get.Get("failed") != "",
		Sort: get.Get("sort"), Down: get.Get("down") != "", From: whole("from", 0),
		Limit: min(whole("limit", pageSize), pageSize)}
	var found *library.QueryAnswer
	err := addRanges(&query, get)
	if err == nil {
		found, err = m.x.Find(query)
	}
	if err != nil {
		s.fail(w, r, http.StatusBadRequest, "This cannot be searched", err.Error())
		return
	}
	out := struct {
		Total   int          `json:"total"`
		All     int          `json:"all"`
		Rows    []requestRow `json:"rows"`
		Tags    []string     `json:"tags"`
		Kinds   []kindRow    `json:"kinds"`
		Damaged int          `json:"damaged,omitempty"`
		First   int          `json:"firstDamaged,omitempty"`
		Began   float64      `json:"began,omitempty"` // ms: when the first request was sent
		TookMS  float64      `json:"took"`
	}{Total: found.Total, All: m.x.Len(), Rows: []requestRow{}, Damaged: m.x.Damaged, First: m.x.FirstDamaged,
		Began: float64(m.x.FirstNS()) / 1e6}
	for _, tag := range library.Tags {
		if m.x.Has(tag) {
			out.Tags = append(out.Tags, tag)
		}
	}
	for _, match := range found.Matches {
		out.Rows = append(out.Rows, rowOfRequest(&match, out.Tags))
	}
	for _, k := range m.x.Kinds[:min(len(m.x.Kinds), shownKinds)] {
		out.Kinds = append(out.Kinds, kindRow(k))
	}
	out.TookMS = float64(time.Since(begin).Microseconds()) / 1e3
	answerJSON(w, out)
}

// between separates the ends of a range in an address; an end that is missing is open.
const between = ".."

// addRanges takes the ranges of an address into a query: those of metrics, as request_latency=120..180, and those of
// times, as sent=2026-11-30T06:44:29.1Z..2026-11-30T06:44:29.3Z.
func addRanges(q *library.Query, get url.Values) error {
	for _, tag := range library.Tags {
		for _, text := range get[tag] {
			r := library.Range{Tag: tag, Low: math.Inf(-1), High: math.Inf(1)}
			if err := readRange(text, func(end string) (v float64, err error) {
				return strconv.ParseFloat(end, 64)
			}, &r.Low, &r.High); err != nil {
				return fmt.Errorf("%s is between numbers, such as %[1]s=10..20, not %.80q", tag, text)
			}
			q.Ranges = append(q.Ranges, r)
		}
	}
	for _, kind := range library.TimeKinds {
		for _, text := range get[string(kind)] {
			r := library.TimeRange{Kind: kind, FromNS: math.MinInt64, ToNS: math.MaxInt64}
			if err := readRange(text, func(end string) (int64, error) {
				t, err := time.Parse(time.RFC3339Nano, end)
				return t.UnixNano(), err
			}, &r.FromNS, &r.ToNS); err != nil {
				return fmt.Errorf("%s is between times, such as %[1]s=2026-01-31T12:00:00Z..2026-01-31T12:00:01.5Z, "+
					"not %.80q", kind, text)
			}
			q.Times = append(q.Times, r)
		}
	}
	return nil
}

// readRange reads the ends of a range that are given.
func readRange[T any](text string, parse func(string) (T, error), low, high *T) error {
	from, to, ok := strings.Cut(text, between)
	if !ok {
		return errors.New("there is no " + between)
	}
	for _, end := range []struct {
		text string
		at   *T
	}{{from, low}, {to, high}} {
		if end.text == "" {
			continue
		}
		v, err := parse(end.text)
		if err != nil {
			return err
		}
		*end.at = v
	}
	return nil
}

func rowOfRequest(m *library.Match, tags []string) requestRow {
	row := requestRow{Number: m.Place + 1, ID: m.RequestID, Session: m.CorrelationID, Conversation: m.ConversationID,
		Turn: m.TurnIndex, Phase: m.Phase, Start: float64(m.StartNS) / 1e6, Error: m.Failure(),
		Values: map[string]float64{}}
	for _, tag := range tags {
		if v := m.Number(tag); v != nil {
			row.Values[tag] = *v
		}
	}
	return row
}

// timelineBins is how many points a line over time has at most.
const timelineBins = 200

// timeline answers with what the requests of a run did over time.
func (s *Server) timeline(w http.ResponseWriter, r *http.Request, _ *shelf, it *item) {
	if !it.folder.HasRecords {
		answerJSON(w, map[string]any{})
		return
	}
	m := s.indexes.of(it, config.RecordsJSONL)
	if !m.done.wait(r.Context(), answerSoon) {
		pending(w, m)
		return
	}
	if m.err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, "The requests cannot be read", m.err.Error())
		return
	}
	t := m.x.Timeline(timelineBins)
	if t == nil {
		answerJSON(w, map[string]any{})
		return
	}
	answerJSON(w, map[string]any{"width": t.WidthSeconds, "lines": map[string][]*float64{
		"request_throughput": known(t.Done), "request_errors": known(t.Failed),
		"output_token_throughput": known(t.Tokens),
		"in_flight":               known(t.InFlight), "time_to_first_token": known(t.FirstToken), "request_latency": known(t.Latency),
	}})
}

// known replaces what is not known by null.
func known(list []float64) []*float64 {
	out := make([]*float64, len(list))
	for i := range list {
		if !math.IsNaN(list[i]) {
			out[i] = &list[i]
		}
	}
	return out
}
